//! `POST /api/streams/{name}`: appends any number of events while they arrive, in bounded memory.
//!
//! The body is one JSON object, an array of objects, or a sequence of objects separated by white space, as in NDJSON;
//! gzip and zstd are decompressed incrementally. Events that do not fit the stream go to its quarantine, and the others
//! are appended.
//!
//! | parameter | header | meaning |
//! |---|---|---|
//! | `ack=memory`, `disk`, `broker` | | durability to wait for; defaults to the stream's setting |
//! | `results=true` | | the response has the outcome of each event, in order |
//! | `key=` | `Salver-Key` | the key of all events in the body |
//! | `id=` | `Salver-Id` | the id of a single event; several get the ids `ID-0`, `ID-1`, ... |
//! | `partition=` | `Salver-Partition` | the partition of the events |
//! | `time=` | `Salver-Time` | the time of the events, in RFC 3339 or milliseconds since 1970 |
//! | | `Salver-Header-NAME` | header `NAME` of each event, in lower case |
//!
//! A body that arrives in one piece is appended as a whole or not at all. Of a longer body, events that were appended
//! stay appended when the rest fails or never arrives; the response, if the client is still connected, counts them.

pub(super) mod append_params;
pub(super) mod body_reader;
pub(super) mod event_outcomes;

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use salver_model::limits::QUARANTINED_MAX;
use salver_model::streams::{Ack, Envelope, Framing, Receipt};
use salver_model::{Code, Error, Result};
use salver_service::Appender;

use self::body_reader::Intake;
use self::event_outcomes::Tally;
use crate::body::Body;
use crate::dialect::Refusal;
use crate::exit;
use crate::receive::Incoming;
use crate::request_context::RequestContext;

/// Handles an append. `first` is the part of `body` that was read already.
pub(super) async fn answer(
    context: &RequestContext<'_>,
    name: &str,
    body: Incoming,
    first: Option<Bytes>,
) -> Result<Response<Body>, Refusal> {
    let stream = context.app.service.appender(context.caller, name)?;
    read_media_type(context)?;
    let envelope = append_params::read(context, stream.spec())?;
    append_params::prove_partition(stream, &envelope).await?;
    let ack = envelope.ack;
    let mut tally = Tally::new(envelope.each);
    let intake = Intake::new(context, body, first)?;
    let taken = take(stream, envelope, intake, &mut tally).await;
    conclude(stream, ack, tally, taken).await
}

/// Waits for the durability of `ack`, and responds.
pub(super) async fn conclude(
    stream: &Appender,
    ack: Ack,
    mut tally: Tally,
    taken: Result<()>,
) -> Result<Response<Body>, Refusal> {
    if ack != Ack::Memory && !tally.is_empty() {
        match stream.settle(&tally.awaited(), ack).await {
            Ok(rejected) => tally.refuse(rejected),
            Err(error) => return Err(Refusal::from(error).with_members(tally.members())),
        }
    }
    finished(ack, &tally, taken)
}

/// Returns the response, without waiting.
pub(super) fn finished(ack: Ack, tally: &Tally, taken: Result<()>) -> Result<Response<Body>, Refusal> {
    match taken {
        Err(error) if tally.is_empty() => Err(error.into()),
        Err(error) => Err(Refusal::from(error).with_members(tally.members())),
        Ok(()) if tally.is_refused() => Err(Refusal::from(tally.refusal()).with_members(tally.members())),
        Ok(()) => Ok(exit::posted_json(status(ack), tally.written())),
    }
}

/// Returns the status; 202 means that the events may still be lost.
fn status(ack: Ack) -> StatusCode {
    if ack == Ack::Memory { StatusCode::ACCEPTED } else { StatusCode::OK }
}

/// Appends the events of a body, piece by piece.
///
/// # Errors
/// Errors of the stream and of the body; `tally` counts the events appended before.
pub(super) async fn take(
    stream: &Appender,
    mut envelope: Envelope,
    mut intake: Intake,
    tally: &mut Tally,
) -> Result<()> {
    let mut framing = Framing::default();
    let mut rest = Bytes::new();
    loop {
        let (text, is_last) = intake.piece(rest).await?;
        if is_last && text.is_empty() && framing == Framing::Start {
            return Err(nothing());
        }
        let receipt = append(stream, (&text, is_last), &mut framing, &envelope, intake.patience(), tally).await?;
        let consumed = receipt.consumed.min(text.len());
        tally.add(receipt);
        if is_last {
            return if framing == Framing::Start && tally.is_empty() { Err(nothing()) } else { Ok(()) };
        }
        if tally.quarantined() > QUARANTINED_MAX {
            // A small compressed body can contain millions of them.
            let message = format!("more than {QUARANTINED_MAX} events of the body are none of the stream's");
            return Err(Error::new(Code::InvalidEvent, message)
                .with_hint("the rest was not read; what was sent lies in the stream's quarantine"));
        }
        rest = text.slice(consumed..);
        envelope.before = tally.count();
        envelope.each = tally.has_room();
    }
}

/// Appends one piece. A body of which a part was appended waits for room; otherwise the client gets an error and may
/// retry.
async fn append(
    stream: &Appender,
    (text, is_last): (&Bytes, bool),
    framing: &mut Framing,
    envelope: &Envelope,
    patience: Duration,
    tally: &Tally,
) -> Result<Receipt> {
    loop {
        // A refused append must be retried from the same framing state.
        let mut tried = *framing;
        match stream.append_text(text, &mut tried, is_last, envelope) {
            Ok(receipt) => {
                *framing = tried;
                return Ok(receipt);
            }
            Err(error) if error.code == Code::Backlogged && !tally.is_empty() => {
                if !stream.room(patience).await {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// Refuses media types that can't be events. JSON has many media types, and some clients send none.
fn read_media_type(context: &RequestContext<'_>) -> Result<()> {
    let Some(given) = context.media_type() else { return Ok(()) };
    let is_json = given.starts_with("application/") && given.contains("json");
    // `application/x-www-form-urlencoded` is the default of curl.
    let is_unsaid =
        matches!(given.as_str(), "" | "text/plain" | "application/octet-stream" | "application/x-www-form-urlencoded");
    if is_json || is_unsaid || given == "text/json" {
        return Ok(());
    }
    Err(Error::new(Code::UnsupportedMediaType, format!("events don't come as `{given}`"))
        .with_hint("send `application/json` or `application/x-ndjson`"))
}

fn nothing() -> Error {
    Error::new(Code::InvalidBody, "the body has no event")
        .with_hint("send one JSON object, an array of them, or one on each line")
}
