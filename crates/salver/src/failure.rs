//! Failures of commands.

use std::io;
use std::process::ExitCode;

use salver_config::Mistake;
use salver_model::Error;

/// Reason why a command stopped.
#[derive(Debug)]
pub(crate) enum CommandFailure {
    /// Wrong usage.
    Usage(Error),
    /// Mistakes in the settings.
    Mistakes(Vec<Mistake>),
    /// Error.
    Error(Error),
    /// Error that is already reported.
    Told,
    /// The reader of the output closed it, as `head` does.
    Closed,
}

impl CommandFailure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Closed => ExitCode::SUCCESS,
            Self::Usage(_) => ExitCode::from(2),
            Self::Mistakes(_) | Self::Error(_) | Self::Told => ExitCode::FAILURE,
        }
    }

    /// Returns the failure of writing to `what`.
    pub(crate) fn writing(what: &str, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Error(Error::internal(format!("can't write to {what}: {error}"))),
        }
    }
}

impl From<Error> for CommandFailure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}
