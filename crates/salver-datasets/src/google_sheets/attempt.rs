//! Attempts of a request: why one failed, and whether it is made again.

use std::time::Duration;

use salver_model::Error;
use salver_model::limits::{GOOGLE_SHEETS_WAIT_S_MAX, OBJECT_ATTEMPTS_MAX};

/// Wait before a request is repeated for the first time; it doubles with each time.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// Longest wait that Google may ask for.
const LONGEST_WAIT: Duration = Duration::from_secs(GOOGLE_SHEETS_WAIT_S_MAX);

/// Why an attempt failed.
pub(super) enum Failure {
    /// For a reason that may pass, after the time that Google asks for, if it does.
    Passing(Error, Option<Duration>),
    /// The credentials are not valid, or not any more.
    Refused(Error),
    /// For any other reason.
    Lasting(Error),
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        let (Failure::Passing(error, _) | Failure::Refused(error) | Failure::Lasting(error)) = failure;
        error
    }
}

/// Makes a request, again if it fails for a reason that may pass. Blocks.
///
/// # Errors
/// What the last attempt failed with.
pub(super) fn persistently<T>(mut request: impl FnMut() -> Result<T, Failure>) -> Result<T, Failure> {
    let (mut wait, mut attempt) = (FIRST_WAIT, 1);
    loop {
        let (error, asked) = match request() {
            Err(Failure::Passing(error, asked)) => (error, asked),
            other => return other,
        };
        let next = asked.unwrap_or(wait);
        if attempt >= OBJECT_ATTEMPTS_MAX || next > LONGEST_WAIT {
            return Err(Failure::Passing(error, asked));
        }
        tracing::debug!(attempt, error = error.message, "a request to Google is made again");
        std::thread::sleep(next);
        wait = (wait * 2).min(LONGEST_WAIT);
        attempt += 1;
    }
}
