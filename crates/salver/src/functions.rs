//! The files of functions of the configuration: opened at once, loaded beside everything else.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use salver_config::Checked;
use salver_functions::{FunctionFile, Program};
use salver_model::functions::Language;
use salver_model::ports::Functions;
use salver_model::secrecy::masked;
use salver_model::spec::FunctionSpec;
use salver_model::{Error, Result};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// The hidden command that makes this program the process that runs R.
pub(crate) const R_HOST: &str = "r-host";
/// What names the installation of R to that process, as R's own programs do.
const R_HOME: &str = "R_HOME";
/// How often it is looked whether all files are loaded.
const LOOK: Duration = Duration::from_millis(20);

/// Opens the files of `checked`, and starts in `keepers` what keeps them loaded. One that can't be opened is left out,
/// with a word in the log; the others are served.
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

/// How the host of a file's language is started: that of R is this program itself.
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

/// The home of the installation that `interpreter` belongs to, as it says itself.
fn home_of(interpreter: &Path) -> Option<String> {
    let said = std::process::Command::new(interpreter).arg("RHOME").output().ok()?;
    Some(String::from_utf8(said.stdout).ok()?.trim().to_owned()).filter(|home| !home.is_empty())
}

/// Waits until every file is loaded, or can't be, but not longer than `patience`.
pub(crate) async fn settled(files: &[Arc<dyn Functions>], patience: Duration) {
    let deadline = Instant::now() + patience;
    let loads = |file: &Arc<dyn Functions>| file.interface().is_err() && file.fault().is_none();
    while files.iter().any(loads) && Instant::now() < deadline {
        sleep(LOOK).await;
    }
}

/// A file in one line: what it offers and where `url`, its own, tells all of it, or why it offers nothing.
pub(crate) fn state(file: &Arc<dyn Functions>, url: &str) -> String {
    let spec = file.spec();
    match file.interface() {
        Ok(interface) if interface.application => format!("application at {}/, {url}", spec.path),
        Ok(interface) => match interface.endpoints.len() {
            1 => format!("1 function, {url}"),
            count => format!("{count} functions, {url}"),
        },
        Err(error) => {
            let hint = error.hint.as_deref().map(|hint| format!("\n      hint: {hint}")).unwrap_or_default();
            masked(&format!("FAILED: {}{hint}", error.message)).into_owned()
        }
    }
}
