//! What the environment says: where R is, how much memory workers may have. And the environment R wants to be run in.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set, to R's home, once this process has the environment R wants.
const READY_VARIABLE: &str = "SALVER_R_HOME";
/// The settings that choose the program `R`.
const INTERPRETER_VARIABLE: &str = "SALVER_INTERPRETER";

/// The memory a worker may use over what it has when it is made, in bytes.
const MEMORY_VARIABLE: &str = "SALVER_MEMORY_BYTES_MAX";

/// The memory a worker may use over what it has when it is made, in bytes; `None` for any.
pub(super) fn memory_bytes_max() -> Option<u64> {
    env::var(MEMORY_VARIABLE).ok()?.parse().ok()
}

/// R's home, with the environment set up.
///
/// Only the script `R` knows all of it: paths of libraries, of documents, where Java is. The linker reads some of it
/// when a process starts. So the first time this program starts itself again, as what `R CMD` runs.
///
/// R's temporary files go to the private directory, which goes away with the server, unless it is said where they go.
///
/// # Errors
/// Why there is no R.
pub(super) fn home(private: Option<&Path>) -> Result<PathBuf, String> {
    if let (Some(ready), Some(home)) = (env::var_os(READY_VARIABLE), env::var_os("R_HOME"))
        && ready == home
    {
        return Ok(home.into());
    }
    let interpreter = interpreter();
    let answer = Command::new(&interpreter)
        .arg("RHOME")
        .env_remove("R_HOME")
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| no_r(&interpreter, &error))?;
    let home = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    if !answer.status.success() || home.is_empty() {
        return Err(format!("`{} RHOME` does not say where R is", interpreter.to_string_lossy()));
    }
    let own = env::current_exe().map_err(|error| format!("this program does not find itself: {error}"))?;
    let mut again = Command::new(&interpreter);
    again.arg("CMD").arg(own).args(env::args_os().skip(1));
    again.env_remove("R_HOME").env(READY_VARIABLE, &home);
    if let (Some(private), None) = (private, env::var_os("TMPDIR")) {
        again.env("TMPDIR", private);
    }
    if let Some(name) = plain_locale() {
        // Files and texts are UTF-8 here, as everywhere in this program.
        again.env(name, "C.UTF-8");
    }
    Err(no_r(&interpreter, &again.exec()))
}

/// Which variable to set when the locale knows only ASCII, in which R would write other characters as `<U+00E9>`.
fn plain_locale() -> Option<&'static str> {
    const CHOICES: [&str; 3] = ["LC_ALL", "LC_CTYPE", "LANG"];
    let chosen =
        CHOICES.into_iter().find_map(|name| Some((name, env::var_os(name).filter(|value| !value.is_empty())?)));
    match chosen {
        None => Some("LC_CTYPE"),
        Some((name, value)) => {
            (value == "C" || value == "POSIX").then_some(if name == "LANG" { "LC_CTYPE" } else { name })
        }
    }
}

/// The program `R`: as set, of the home that is set, or what the search path has.
fn interpreter() -> OsString {
    let set = env::var_os(INTERPRETER_VARIABLE).filter(|set| !set.is_empty());
    let of_home = || {
        let program = PathBuf::from(env::var_os("R_HOME")?).join("bin/R");
        program.exists().then(|| program.into_os_string())
    };
    set.or_else(of_home).unwrap_or_else(|| "R".into())
}

/// That `R` can't be started.
fn no_r(interpreter: &OsString, error: &io::Error) -> String {
    format!("R is not there: `{}` can't be started: {error}", interpreter.to_string_lossy())
}
