//! Fetches one batch, and verifies it.

use salver_model::limits::{FETCHED_ROW_BYTES_MAX, FETCHED_ROWS_BYTES_MAX};
use salver_model::{Code, Error};
use serde_json::Value;
use ureq::Body;
use ureq::http::Response;

use super::batch::{Batch, Layout};
use super::session::Session;
use crate::client::{Client, Trouble};
use crate::failure::Failure;

/// Range of rows to fetch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Stream.
    pub(super) stream: usize,
    /// Offset of the first row.
    pub(super) offset: u64,
    /// Maximum number of rows; the server limits their bytes.
    pub(super) rows_max: u64,
}

/// Fetches rows, with retries.
pub(super) fn batch(client: &Client, session: &Session, layout: Layout, place: Place) -> Result<Batch, Failure> {
    let Place { stream, offset, rows_max } = place;
    let format = layout.fetched();
    // Only the first batch of the file has column names.
    let header = if stream == 0 && offset == 0 { "" } else { "&header=false" };
    let query = format!("offset={offset}&rows={rows_max}&format={}{header}", format.suffix());
    let path = format!("{}/{stream}?{query}", session.path());
    client.persist(|| {
        let asked = client.get(&path).header("accept-encoding", "identity").call();
        let mut response = asked.map_err(|cause| client.unreachable(cause))?;
        let is_row = number(&response, "salver-rows") == Some(1);
        let bytes_max = if is_row { FETCHED_ROW_BYTES_MAX } else { FETCHED_ROWS_BYTES_MAX };
        let read = response.body_mut().with_config().limit(bytes_max).read_to_vec();
        let bytes = read.map_err(|cause| client.unreachable(cause))?;
        if !response.status().is_success() {
            let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            return Err(client.refused(&response, &answer));
        }
        proved(&response, bytes, layout, offset)
            .map_err(|why| Trouble::Passing(None, damaged(session, stream, offset, why)))
    })
}

/// Returns the batch, if it matches its headers.
fn proved(response: &Response<Body>, bytes: Vec<u8>, layout: Layout, offset: u64) -> Result<Batch, &'static str> {
    let sum = response.headers().get("salver-crc32").and_then(|value| value.to_str().ok());
    let sum = sum.and_then(|text| u32::from_str_radix(text, 16).ok()).ok_or("it has no checksum")?;
    if crc32fast::hash(&bytes) != sum {
        return Err("its checksum is another");
    }
    if number(response, "salver-offset") != Some(offset) {
        return Err("it is of another offset");
    }
    let rows = number(response, "salver-rows").ok_or("it does not tell how many rows it has")?;
    let next = number(response, "salver-next");
    if next.is_some_and(|next| next != offset + rows || rows == 0) {
        return Err("its rows and the next offset do not fit");
    }
    if layout == Layout::Text(salver_formats::Format::NdJson) && lines(&bytes) != rows {
        return Err("it has another number of lines than rows");
    }
    Ok(Batch { rows, bytes, next })
}

fn number(response: &Response<Body>, name: &str) -> Option<u64> {
    response.headers().get(name)?.to_str().ok()?.parse().ok()
}

fn lines(bytes: &[u8]) -> u64 {
    bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum()
}

fn damaged(session: &Session, stream: usize, offset: u64, why: &str) -> Error {
    let entry = &session.entry;
    Error::new(Code::Source, format!("the rows of `{entry}` from row {offset} of stream {stream} came damaged: {why}"))
        .with_hint("is something between here and the server that changes answers?")
}
