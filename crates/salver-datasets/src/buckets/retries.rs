//! Repeats requests that fail for a reason that may pass.

use std::future::Future;
use std::time::Duration;

use salver_model::Result;
use salver_model::limits::{OBJECT_ATTEMPTS_MAX, OBJECT_SILENCE_S_MAX};
use tokio::time::timeout;

use super::address::Address;
use super::fault;

/// Wait before a request is repeated for the first time; it doubles with each time.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// Longest such wait.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// Longest time without a byte.
pub(super) const SILENCE: Duration = Duration::from_secs(OBJECT_SILENCE_S_MAX);

/// Makes a request that takes `longest` at most, again if it fails for a reason that may pass.
///
/// # Errors
/// What the last attempt failed with, explained.
pub(super) async fn persistently<T, F>(
    address: &Address,
    longest: Duration,
    mut request: impl FnMut() -> F,
) -> Result<T>
where
    F: Future<Output = object_store::Result<T>>,
{
    let mut wait = FIRST_WAIT;
    for attempt in 1.. {
        let answer = timeout(longest, request());
        let error = match answer.await.unwrap_or_else(|_| Err(silent(longest))) {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        if attempt >= OBJECT_ATTEMPTS_MAX || !fault::may_pass(&error) {
            return Err(fault::explained(address, error));
        }
        tracing::debug!(%address, attempt, %error, "a request to an object store is made again");
        tokio::time::sleep(wait).await;
        wait = (wait * 2).min(LONGEST_WAIT);
    }
    Err(fault::explained(address, silent(longest)))
}

/// Returns the error of a store that says nothing for a time.
pub(super) fn silent(time: Duration) -> object_store::Error {
    let seconds = time.as_secs();
    object_store::Error::Generic { store: "object store", source: format!("it is silent for {seconds} s").into() }
}
