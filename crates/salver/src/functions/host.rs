//! Opens a file of functions, and names the program that hosts each language.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use salver_functions::discover;
pub(crate) use salver_functions::host::run_r;
use salver_functions::{FunctionFile, Program, check_account};
use salver_model::functions::Language;
use salver_model::ports::Functions;
use salver_model::spec::FunctionSpec;
use salver_model::{Code, Error, Result};
use tokio::task::JoinHandle;

/// Name of the hidden command that runs this program as the host of R.
pub(crate) const R_HOST: &str = "r-host";
/// The interpreter of Python, where the settings name none.
const PYTHON: &str = "python3";
/// Variable with the R installation for that process, as used by R's own programs.
const R_HOME: &str = "R_HOME";

/// Opens the file of `spec`, and starts the task that keeps it loaded.
///
/// # Errors
/// Returns `Internal` when it cannot be opened.
pub(super) fn open_file(spec: &FunctionSpec) -> Result<(Arc<dyn Functions>, JoinHandle<()>)> {
    let (spec, program) = program(spec)?;
    let file = FunctionFile::open(spec, program)?;
    let keeping = tokio::spawn(Arc::clone(&file).keep());
    let file: Arc<dyn Functions> = file;
    Ok((file, keeping))
}

/// Checks that what runs the file of `spec` is there, without running it: its interpreter, and the user.
///
/// # Errors
/// `EntryUnavailable`.
pub(crate) fn check(spec: &FunctionSpec) -> Result<()> {
    check_account(spec)?;
    let interpreter = match (&spec.interpreter, spec.language) {
        (Some(interpreter), _) => interpreter.as_path(),
        (None, Language::Python) => Path::new(PYTHON),
        // Where R is, is found out when it is started.
        (None, Language::R) => return Ok(()),
    };
    if is_program(interpreter) {
        return Ok(());
    }
    let message = format!("`{}` can't be run: there is no program `{}`", spec.name, interpreter.display());
    Err(Error::new(Code::EntryUnavailable, message).with_hint("install it, or correct `interpreter`"))
}

/// Returns whether there is such a program, which without a directory is looked for where the system has them.
fn is_program(name: &Path) -> bool {
    let is_one = |path: PathBuf| {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
    };
    if name.components().count() > 1 {
        return is_one(name.to_owned());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| is_one(directory.join(name)))
}

/// Returns the host of a file's language; for R it is this program itself.
fn program(spec: &FunctionSpec) -> Result<(FunctionSpec, Program)> {
    let mut spec = spec.clone();
    let program = match spec.language {
        Language::Python => Program::python(spec.interpreter.as_deref().unwrap_or(Path::new(PYTHON))),
        Language::R => {
            let own = std::env::current_exe()
                .map_err(|cause| Error::internal("the program does not know where it is").with_source(cause))?;
            if let Some(home) = spec.interpreter.as_deref().and_then(home_of) {
                spec.environment.push((R_HOME.to_owned(), home));
            }
            Program::new(own, vec![R_HOST.into()])
        }
    };
    Ok((spec, program))
}

/// Returns the home of the installation that `interpreter` belongs to, as it reports it.
fn home_of(interpreter: &Path) -> Option<String> {
    let said = std::process::Command::new(interpreter).arg("RHOME").output().ok()?;
    Some(String::from_utf8(said.stdout).ok()?.trim().to_owned()).filter(|home| !home.is_empty())
}
