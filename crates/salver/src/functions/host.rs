//! Opens files of functions, and names the program that hosts each language.

use std::path::Path;
use std::sync::Arc;

use salver_config::Checked;
pub(crate) use salver_functions::discover;
pub(crate) use salver_functions::host::run_r;
use salver_functions::{FunctionFile, Program};
use salver_model::functions::Language;
use salver_model::ports::Functions;
use salver_model::spec::FunctionSpec;
use salver_model::{Error, Result};
use tokio::task::JoinSet;

/// Name of the hidden command that runs this program as the host of R.
pub(crate) const R_HOST: &str = "r-host";
/// Variable with the R installation for that process, as used by R's own programs.
const R_HOME: &str = "R_HOME";

/// Opens the files of `checked`, and starts the tasks that keep them loaded in `keepers`. One that cannot be opened is
/// logged and left out; the others are served.
pub(crate) fn open(checked: &Checked, keepers: &mut JoinSet<()>) -> Vec<Arc<dyn Functions>> {
    let mut opened: Vec<Arc<dyn Functions>> = Vec::new();
    for spec in &checked.functions {
        match program(spec).and_then(|(spec, program)| FunctionFile::open(spec, program)) {
            Ok(file) => {
                keepers.spawn(Arc::clone(&file).keep());
                opened.push(file);
            }
            Err(error) => tracing::error!(name = %spec.name, error = %error.chain(), "functions are left out"),
        }
    }
    opened
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
