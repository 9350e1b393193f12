//! Formats batches as ArangoDB does.

use http::{HeaderValue, Response, StatusCode, header};
use salver_formats::Coding;
use salver_model::Result;

use super::id::Id;
use crate::body::Body;
use crate::cursor_state::{CursorBatch, CursorKind, Facts};
use crate::dialect::arangodb::JSON;
use crate::exit;
use crate::request_context::RequestContext;
use crate::respond;

/// The version of ArangoDB's interface that is reported to clients.
pub(super) const INTERFACE: &str = "3.12.0";

/// Returns the response with a batch. `id` is the cursor's id, for as long as the cursor is open.
pub(super) async fn batch(
    context: &RequestContext<'_>,
    status: StatusCode,
    facts: &Facts,
    given: CursorBatch,
    id: Option<Id>,
) -> Result<Response<Body>> {
    let CursorBatch { mut body, has_more, number, totals } = given;
    body.extend_from_slice(if has_more { b",\"hasMore\":true" } else { b",\"hasMore\":false" });
    if let Some(id) = id {
        body.extend_from_slice(format!(",\"id\":\"{id}\"").as_bytes());
    }
    if has_more && facts.kind == CursorKind::Query {
        body.extend_from_slice(format!(",\"nextBatchId\":\"{}\"", number + 1).as_bytes());
    }
    if let Some(count) = facts.count {
        body.extend_from_slice(format!(",\"count\":{count}").as_bytes());
    }
    if facts.kind == CursorKind::Query {
        body.extend_from_slice(b",\"cached\":false");
        if !facts.is_stream || !has_more {
            let (rows, seconds, peak) = (totals.rows, totals.took.as_secs_f64(), totals.peak_bytes);
            // The number of scanned rows is unknown; the number of returned rows is a lower bound.
            let stats = format!(
                ",\"extra\":{{\"warnings\":[],\"stats\":{{\"writesExecuted\":0,\"writesIgnored\":0,\
                 \"documentLookups\":0,\"seeks\":0,\"scannedFull\":{rows},\"scannedIndex\":0,\"cursorsCreated\":0,\
                 \"cursorsRearmed\":0,\"cacheHits\":0,\"cacheMisses\":0,\"filtered\":0,\"httpRequests\":0,\
                 \"executionTime\":{seconds},\"peakMemoryUsage\":{peak},\"intermediateCommits\":0"
            );
            body.extend_from_slice(stats.as_bytes());
            if let Some(full) = facts.full_count {
                body.extend_from_slice(format!(",\"fullCount\":{full}").as_bytes());
            }
            body.extend_from_slice(b"}}");
        }
    }
    body.extend_from_slice(format!(",\"error\":false,\"code\":{}}}", status.as_u16()).as_bytes());
    send(context, status, body).await
}

/// Returns the response for a deleted cursor.
pub(super) fn removed(id: Id) -> Response<Body> {
    let body = format!("{{\"id\":\"{id}\",\"error\":false,\"code\":202}}");
    exit::unstored(StatusCode::ACCEPTED, JSON, Body::Full(body.into()))
}

/// Returns a response with a body in the encoding that the client accepts.
async fn send(context: &RequestContext<'_>, status: StatusCode, body: Vec<u8>) -> Result<Response<Body>> {
    let (body, coding) = respond::compressed(context.coding(), body).await?;
    let mut response = exit::unstored(status, JSON, Body::Full(body.into()));
    if coding != Coding::Identity {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.token()));
    }
    Ok(response)
}
