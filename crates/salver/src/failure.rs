//! How a command ends when it does not end well.

use std::io;
use std::process::ExitCode;

use salver_config::Mistake;
use salver_model::Error;

/// Why a command stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It was called in a way that makes no sense.
    Usage(Error),
    /// The settings are wrong.
    Mistakes(Vec<Mistake>),
    /// It failed.
    Error(Error),
    /// It failed, and has said so.
    Told,
    /// Whoever read the output left, as `head` does.
    Closed,
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Closed => ExitCode::SUCCESS,
            Self::Usage(_) => ExitCode::from(2),
            Self::Mistakes(_) | Self::Error(_) | Self::Told => ExitCode::FAILURE,
        }
    }

    /// The failure of writing to `what`.
    pub(crate) fn writing(what: &str, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Error(Error::internal(format!("can't write to {what}: {error}"))),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}
