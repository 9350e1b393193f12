//! Fetches parts of objects, each only of the very object that was listed.

use std::ops::Range;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use object_store::path::Path;
use object_store::{GetOptions, GetRange};
use salver_model::Result;
use salver_model::limits::OBJECT_REQUEST_S_MAX;
use tokio::time::timeout;

use super::client::Client;
use super::fault;
use super::listed_object::ListedObject;
use super::retries::{SILENCE, persistently, silent};

/// Bytes that one request asks for at most.
pub(super) const PART_BYTES: u64 = 4 * 1024 * 1024;

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
