//! Fetches one batch, and believes nothing that does not add up.

use salver_model::limits::BATCH_BYTES_MAX;
use salver_model::{Code, Error};
use serde_json::Value;
use ureq::Body;
use ureq::http::Response;

use super::batch::{Batch, Layout};
use super::session::Session;
use crate::client::{Client, Trouble};
use crate::failure::Failure;

/// Most bytes of a batch of one row; what is larger is no answer of a Salver server.
const ROW_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// The same of any other: a server keeps [`BATCH_BYTES_MAX`], of which writing makes up to seven times as much.
const ROWS_BYTES_MAX: u64 = 16 * BATCH_BYTES_MAX as u64;

/// Which rows are fetched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The stream.
    pub(super) stream: usize,
    /// The first row.
    pub(super) offset: u64,
    /// How many at most; the server bounds their bytes.
    pub(super) rows_max: u64,
}

/// Fetches rows, until it succeeds.
pub(super) fn batch(client: &Client, session: &Session, layout: Layout, place: Place) -> Result<Batch, Failure> {
    let Place { stream, offset, rows_max } = place;
    let format = layout.fetched();
    // The names of columns stand once in a file.
    let header = if stream == 0 && offset == 0 { "" } else { "&header=false" };
    let query = format!("offset={offset}&rows={rows_max}&format={}{header}", format.suffix());
    let path = format!("{}/{stream}?{query}", session.path());
    client.persist(|| {
        let asked = client.get(&path).header("accept-encoding", "identity").call();
        let mut response = asked.map_err(|cause| client.unreachable(cause))?;
        let is_row = number(&response, "salver-rows") == Some(1);
        let bytes_max = if is_row { ROW_BYTES_MAX } else { ROWS_BYTES_MAX };
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

/// The batch, if it is what its head says.
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
