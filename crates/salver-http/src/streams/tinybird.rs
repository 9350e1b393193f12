//! `POST /v0/events?name=`: Tinybird's Events API. NDJSON, or with `format=json` one object or an array; events that do
//! not fit the stream are counted, not refused.
//!
//! Without `wait=true` the response is 202 and, as in Tinybird, is sent before the events are on disk.

use bytes::Bytes;
use http::{Response, StatusCode};
use salver_model::streams::{Ack, Envelope};
use salver_model::{Code, Error, Result};
use serde_json::json;

use super::append::body_reader::Intake;
use super::append::event_outcomes::Tally;
use super::append::{append_params, take};
use super::parameters::value;
use crate::body::Body;
use crate::exit;
use crate::receive::Incoming;
use crate::request_context::{RequestContext, parameters};

/// Handles an append.
pub(super) async fn answer(
    context: &RequestContext<'_>,
    body: Incoming,
    first: Option<Bytes>,
) -> Result<Response<Body>> {
    // Tinybird has further parameters, and ignores unknown ones.
    let parameters = parameters(context.query)?;
    let name = value(&parameters, "name").filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| {
        Error::new(Code::InvalidRequest, "the parameter `name` is missing").with_hint("write `/v0/events?name=STREAM`")
    })?;
    if let Some(format) = value(&parameters, "format").filter(|format| !matches!(*format, "ndjson" | "json" | "")) {
        return Err(Error::new(Code::InvalidRequest, format!("`format` is `ndjson` or `json`, not `{format}`")));
    }
    let waits = value(&parameters, "wait") == Some("true");
    let stream = context.app.service.appender(context.caller, name)?;
    let ack = if waits { stream.spec().ack.max(Ack::Disk) } else { Ack::Memory };
    let envelope = Envelope { ack, ..append_params::envelope(context.headers, stream.spec())? };
    append_params::prove_partition(stream, &envelope).await?;
    let mut tally = Tally::new(false);
    take(stream, envelope, Intake::new(context, body, first)?, &mut tally).await?;
    if waits {
        let rejected = stream.settle(&tally.awaited(), ack).await?;
        tally.refuse(rejected);
    }
    let sums = tally.sum();
    let body = json!({
        "successful_rows": sums.taken + sums.duplicates - tally.refused(),
        "quarantined_rows": sums.quarantined + tally.refused(),
    });
    let status = if waits { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok(exit::posted_json(status, body.to_string().into_bytes()))
}
