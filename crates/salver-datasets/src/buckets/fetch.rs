//! Fetches parts of objects, each only of the very object that was listed, and repeats what fails for a reason that
//! may pass.

use std::future::Future;
use std::ops::Range;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use object_store::path::Path;
use object_store::{GetOptions, GetRange};
use salver_model::Result;
use salver_model::limits::{OBJECT_ATTEMPTS_MAX, OBJECT_REQUEST_S_MAX, OBJECT_SILENCE_S_MAX};
use tokio::time::timeout;

use super::address::Address;
use super::client::Client;
use super::fault;
use super::listing::ListedObject;

/// Bytes that one request asks for at most.
pub(super) const PART_BYTES: u64 = 4 * 1024 * 1024;
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

/// Returns the bytes of a part of an object.
///
/// # Errors
/// [`fault::is_change`] if the object is not the one that was listed; else what the last attempt failed with.
pub(super) async fn part(client: &Client, object: &ListedObject, range: Range<u64>) -> Result<Bytes> {
    let address = &object.address;
    let path = Path::parse(&address.key).map_err(|cause| fault::explained(address, cause.into()))?;
    let longest = Duration::from_secs(OBJECT_REQUEST_S_MAX);
    let got = persistently(address, longest, || attempt(client, object, &path, range.clone())).await;
    got?.ok_or_else(|| fault::changed(address))
}

/// Makes one attempt; `None` if the object is another.
async fn attempt(
    client: &Client,
    object: &ListedObject,
    path: &Path,
    range: Range<u64>,
) -> object_store::Result<Option<Bytes>> {
    let options = GetOptions {
        // The quotes are part of the header.
        if_match: object.e_tag.as_ref().map(|tag| format!("\"{tag}\"")),
        if_unmodified_since: object.e_tag.is_none().then_some(object.modified),
        range: Some(GetRange::Bounded(range.clone())),
        ..GetOptions::default()
    };
    let asked = timeout(SILENCE, client.objects.get_opts(path, options)).await;
    let answer = match asked.unwrap_or_else(|_| Err(silent(SILENCE))) {
        Ok(answer) => answer,
        Err(object_store::Error::Precondition { .. } | object_store::Error::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    // Not every store heeds the condition.
    if !object.is_same(&answer.meta) || answer.range != range {
        return Ok(None);
    }
    let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
    let mut bytes = BytesMut::with_capacity(length);
    let mut body = answer.into_stream();
    while let Some(chunk) = timeout(SILENCE, body.next()).await.map_err(|_| silent(SILENCE))? {
        bytes.extend_from_slice(&chunk?);
        if bytes.len() > length {
            break;
        }
    }
    if bytes.len() != length {
        let source = format!("the body has {} bytes and not {length}", bytes.len()).into();
        return Err(object_store::Error::Generic { store: "object store", source });
    }
    Ok(Some(bytes.freeze()))
}

fn silent(time: Duration) -> object_store::Error {
    let seconds = time.as_secs();
    object_store::Error::Generic { store: "object store", source: format!("it is silent for {seconds} s").into() }
}
