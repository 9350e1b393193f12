//! Opens a file of functions, and names the program that hosts each language.

use std::path::Path;
use std::sync::Arc;

pub(crate) use salver_functions::discover;
pub(crate) use salver_functions::host::run_r;
use salver_functions::{FunctionFile, Program};
use salver_model::functions::Language;
use salver_model::ports::Functions;
use salver_model::spec::FunctionSpec;
use salver_model::{Error, Result};
use tokio::task::JoinHandle;

/// Name of the hidden command that runs this program as the host of R.
pub(crate) const R_HOST: &str = "r-host";
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

/// Returns the host of a file's language; for R it is this program itself.
fn program(spec: &FunctionSpec) -> Result<(FunctionSpec, Program)> {
    let mut spec = spec.clone();
    let program = match spec.language {
        Language::Python => Program::python(spec.interpreter.as_deref().unwrap_or(Path::new("python3"))),
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
