//! Disk failures, as errors for clients.

use std::io;
use std::path::Path;

use salver_model::{Code, Error};

/// Returns the error for a file of the log that cannot be read, or is damaged.
pub(super) fn unreadable(path: &Path, error: io::Error) -> Error {
    Error::new(Code::Source, format!("the log file `{}` can't be read: {error}", path.display())).with_source(error)
}

/// Returns the error for lost events.
pub(super) fn damaged(path: &Path, at: u64, from: u64, to: u64) -> Error {
    Error::new(
        Code::Source,
        format!("events {from} to {} of the log are damaged: `{}` at byte {at}", to.saturating_sub(1), path.display()),
    )
    .with_hint(format!("go on at offset {to}"))
}

/// Returns the error for a missing file of events.
pub(super) fn missing(dir: &Path, from: u64, to: u64) -> Error {
    let last = to.saturating_sub(1);
    Error::new(Code::Source, format!("events {from} to {last} of the log are missing in `{}`", dir.display()))
        .with_hint(format!("go on at offset {to}"))
}

/// Returns the error for a log that cannot be opened.
pub(super) fn unopened(path: &Path, error: io::Error) -> Error {
    Error::new(Code::StreamUnavailable, format!("the log can't be opened: `{}`: {error}", path.display()))
        .with_source(error)
}

/// What can be done about a log that has reached its disk limit.
const FULL: &str = "its oldest files are deleted within two seconds after their events were handed on: try again; if \
                    it stays, see whether the broker is there, or allow more bytes";

/// Reason why writing fails, cloneable for many waiters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    message: String,
    hint: &'static str,
}

impl Fault {
    /// Converts a system error of the log in `dir`.
    pub(super) fn of(dir: &Path, error: &io::Error) -> Self {
        let (why, hint) = match error.kind() {
            io::ErrorKind::StorageFull => (
                "the disk is full".to_owned(),
                "free some space there; what was taken so far is in memory and is written as soon as there is room",
            ),
            io::ErrorKind::QuotaExceeded => (
                "the disk quota is used up".to_owned(),
                "raise the quota; what was taken so far is in memory and is written as soon as there is room",
            ),
            io::ErrorKind::ReadOnlyFilesystem => (
                "the file system is read-only".to_owned(),
                "mount it for writing; what was taken so far is in memory and is written then",
            ),
            _ => (
                error.to_string(),
                "look after the disk; what was taken so far is in memory, and writing it is tried again and again",
            ),
        };
        Self { message: format!("the log in `{}` can't be written: {why}", dir.display()), hint }
    }

    /// Returns the fault of a closed log.
    pub(super) fn closed(dir: &Path) -> Self {
        let message = format!("the log in `{}` is closed", dir.display());
        Self { message, hint: "the server is going down; try again when it is back" }
    }

    /// Returns the fault of a log that has reached its disk limit.
    pub(super) fn full(dir: &Path, bytes_max: u64) -> Self {
        let message = format!("the log in `{}` has reached its {bytes_max} bytes", dir.display());
        Self { message, hint: FULL }
    }

    /// Converts the fault to an error.
    pub(super) fn error(&self) -> Error {
        Error::new(Code::StreamUnavailable, self.message.clone()).with_hint(self.hint)
    }
}
