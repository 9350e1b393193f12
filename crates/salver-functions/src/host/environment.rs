//! Environment variables: the location of R, the memory limit of workers, and the environment that R needs.

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set to R's home once this process has the environment R needs.
const READY_VARIABLE: &str = "SALVER_R_HOME";
/// Variable with the configured `R` program.
const INTERPRETER_VARIABLE: &str = "SALVER_INTERPRETER";

/// Variable with the memory a worker may use beyond its initial size, in bytes.
const MEMORY_VARIABLE: &str = "SALVER_MEMORY_BYTES_MAX";

/// Variable with the directory for the host's own files.
const PRIVATE_VARIABLE: &str = "SALVER_PRIVATE_DIRECTORY";

/// Returns the directory for the host's own files, if it is not that of the socket.
pub(super) fn private_directory() -> Option<PathBuf> {
    env::var_os(PRIVATE_VARIABLE).map(PathBuf::from)
}

/// Returns the memory a worker may use beyond its initial size, in bytes; `None` for no limit.
pub(super) fn memory_bytes_max() -> Option<u64> {
    env::var(MEMORY_VARIABLE).ok()?.parse().ok()
}

/// Returns R's home, with the environment set up.
///
/// Only the script `R` knows all of it: paths of libraries, of documents, of Java. The dynamic linker reads some of it
/// at process start. The first time, this program therefore re-executes itself through `R CMD`.
///
/// R's temporary files go to the private directory, which is removed with the server, unless another one is configured.
///
/// # Errors
/// Returns the reason why R is not available.
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
        // Files and texts are UTF-8, as everywhere in this program.
        again.env(name, "C.UTF-8");
    }
    Err(no_r(&interpreter, &again.exec()))
}

/// Returns the variable to set when the locale is plain ASCII, in which R would write other characters as `<U+00E9>`.
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

/// Returns the program `R`: the configured one, that of the configured home, or the one in the search path.
fn interpreter() -> OsString {
    let set = env::var_os(INTERPRETER_VARIABLE).filter(|set| !set.is_empty());
    let of_home = || {
        let program = PathBuf::from(env::var_os("R_HOME")?).join("bin/R");
        program.exists().then(|| program.into_os_string())
    };
    set.or_else(of_home).unwrap_or_else(|| "R".into())
}

/// Returns the error that `R` cannot be started.
fn no_r(interpreter: &OsString, error: &io::Error) -> String {
    format!("R is not there: `{}` can't be started: {error}", interpreter.to_string_lossy())
}
