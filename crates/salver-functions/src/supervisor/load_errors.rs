//! Errors of loading a file, with suggested remedies.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use salver_model::functions::Language;
use salver_model::spec::FunctionSpec;
use salver_model::{Code, Error};

use crate::program::Program;

/// Status of programs that start another one, when they don't find it.
const NOT_FOUND: i32 = 127;
/// Status of such programs when they can't start it.
const NOT_STARTED: i32 = 126;

/// A bound of open files that is lower keeps most runtimes from starting, which do not all say why.
const FEW_FILES: u64 = 16;

/// Reason why a file is not loaded.
#[derive(Debug)]
pub(super) enum Unloaded {
    /// Message of the process.
    Said(String),
    /// Message of the process: what the file says of who may call it would not hold.
    Refused(String),
    /// Message of the process: the language's runtime is missing.
    Unequipped(String),
    /// The process ended, or violated the protocol.
    Ended(io::Error),
}

impl Unloaded {
    /// Converts to the error for requests of the file. `tail` is the last output of the process.
    ///
    /// What the code itself said (a traceback, paths, the address of a database) is the cause, which only the log has:
    /// callers learn the fact.
    ///
    /// A process that was started by other programs tells by its status that the last one was not found.
    pub(super) fn into_error(
        self,
        spec: &FunctionSpec,
        is_wrapped: bool,
        status: io::Result<ExitStatus>,
        tail: &str,
    ) -> Error {
        let (name, file) = (&spec.name, spec.file.display());
        let hint = format!("the server's log has the error; correct {file}, which is loaded again when it changes");
        match self {
            Self::Said(why) => {
                let hint = too_few_files(spec, &why).unwrap_or(hint);
                unavailable(format!("`{name}` can't be loaded: there is an error in its code"))
                    .with_hint(hint)
                    .with_source(why.trim().to_owned())
            }
            Self::Refused(why) => unavailable(format!("`{name}` is not served: what it asks for would not hold"))
                .with_hint(hint)
                .with_source(why.trim().to_owned()),
            Self::Unequipped(why) => {
                let hint = too_few_files(spec, &why).unwrap_or_else(|| install(spec));
                unavailable(format!("`{name}` can't be run: {}", why.trim())).with_hint(hint)
            }
            Self::Ended(why) => {
                let code = status.as_ref().ok().and_then(ExitStatus::code);
                let hint = match (too_few_files(spec, tail), code) {
                    (Some(hint), _) => hint,
                    (None, Some(NOT_FOUND)) if is_wrapped => install(spec),
                    (None, Some(NOT_STARTED)) if is_wrapped => not_permitted(spec),
                    _ => hint,
                };
                let how = status.ok().filter(|_| why.kind() == io::ErrorKind::UnexpectedEof).map(how);
                let how = how.unwrap_or_else(|| why.to_string());
                unavailable(format!("the process of `{name}` ended while it loaded the file ({how})"))
                    .with_hint(hint)
                    .with_source(if tail.is_empty() { why.to_string() } else { tail.to_owned() })
            }
        }
    }
}

/// Returns the error when a process cannot be started.
pub(super) fn unstarted(spec: &FunctionSpec, program: &Program, error: io::Error) -> Error {
    let (name, program) = (&spec.name, program.executable.display());
    let message = format!("`{name}` can't be run: the program `{program}` can't be started");
    let hint = match (too_few_files(spec, &error.to_string()), error.kind()) {
        (Some(hint), _) => hint,
        (None, io::ErrorKind::NotFound) => install(spec),
        (None, io::ErrorKind::PermissionDenied) => not_permitted(spec),
        (None, _) => "see the cause in the server's log".to_owned(),
    };
    unavailable(message).with_hint(hint).with_source(error)
}

/// Returns the instructions to install the language's runtime. Loading is retried from time to time.
fn install(spec: &FunctionSpec) -> String {
    let package = match spec.language {
        Language::R => "r-base-core",
        Language::Python => "python3",
    };
    format!("install it (Debian: `apt install {package}`), or set `interpreter` to where it is")
}

/// Returns what to do where a process says that it may have no more files, as its own settings bound them.
fn too_few_files(spec: &FunctionSpec, said: &str) -> Option<String> {
    let bound = spec.sandbox.open_files_max?;
    // The loader of programs gives the number alone.
    let is_about_files = ["Too many open files", "too many open files", "Error 24", "Errno 24"];
    let is_meant = bound < FEW_FILES || is_about_files.iter().any(|word| said.contains(word));
    is_meant.then(|| format!("`open_files_max = {bound}` may be too few: raise it; the runtime itself needs some"))
}

/// Returns what to do where the program may not be run.
fn not_permitted(spec: &FunctionSpec) -> String {
    match &spec.sandbox.run_as {
        Some(user) => format!("`{user}` must be able to run it, and to enter the directories it is in"),
        None => "the server must be able to run it, and to enter the directories it is in".to_owned(),
    }
}

fn unavailable(message: String) -> Error {
    Error::new(Code::EntryUnavailable, message)
}

/// Describes the exit status of a process.
fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use salver_model::Name;
    use salver_model::functions::Language;
    use salver_model::spec::FunctionSpec;

    use super::too_few_files;

    #[test]
    fn a_bound_of_files_is_named_where_it_is_too_low() {
        let hint = |open_files_max: Option<u64>, said: &str| {
            let name = Name::new("own").unwrap();
            let mut spec = FunctionSpec::new(name, PathBuf::from("own.py"), Language::Python);
            spec.sandbox.open_files_max = open_files_max;
            too_few_files(&spec, said)
        };
        let full = "OSError: [Errno 24] Too many open files: 'own.py'";
        assert!(hint(Some(64), full).unwrap().contains("`open_files_max = 64`"));
        assert!(hint(Some(4), "exit status 127").unwrap().contains("`open_files_max = 4`"));
        assert_eq!((hint(None, full), hint(Some(64), "exit status 127")), (None, None));
    }
}
