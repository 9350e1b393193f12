//! `POST /api/streams/{name}`: events of any number, taken while they arrive, in bounded memory.
//!
//! The body is one JSON object, an array of them, or one after the other, as NDJSON or any other white space has it;
//! gzip or zstd unpacks on the way. What does not belong into the stream lies in its quarantine, and the events beside
//! it are taken.
//!
//! | parameter | header | what |
//! |---|---|---|
//! | `ack=memory`, `disk`, `broker` | | what the answer waits for; else what the stream says |
//! | `results=true` | | the answer tells of each event, in order |
//! | `key=` | `Salver-Key` | the key of all events that come |
//! | `id=` | `Salver-Id` | the id of the one event; of several they are `ID-0`, `ID-1`, ... |
//! | `partition=` | `Salver-Partition` | the partition they are for |
//! | `time=` | `Salver-Time` | their time, RFC 3339 or milliseconds since 1970 |
//! | | `Salver-Header-NAME` | goes with each event, as its header `NAME` in lower case |
//!
//! A body that comes whole in one piece is taken whole or not at all. Of a longer one, what was taken stays taken when
//! the rest fails or never comes: the answer, where there is somebody to hear it, counts it.

pub(super) mod ask;
pub(super) mod intake;
mod piece;
pub(super) mod tally;
mod unpack;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use salver_model::limits::QUARANTINED_MAX;
use salver_model::ports::EventStream;
use salver_model::streams::{Ack, Envelope, Framing, Receipt};
use salver_model::{Code, Error, Result};

use self::intake::Intake;
use self::tally::Tally;
use super::{problem, respond};
use crate::body::Body;
use crate::exchange::Exchange;
use crate::receive::Incoming;

/// Answers an append. `first` is what was already taken from `body`.
pub(super) async fn answer(
    exchange: &Exchange<'_>,
    name: &str,
    body: Incoming,
    first: Option<Bytes>,
) -> Result<Response<Body>> {
    let stream = exchange.stream(name)?;
    read_media_type(exchange)?;
    let envelope = ask::read(exchange, stream.spec())?;
    ask::prove_partition(stream, &envelope).await?;
    let ack = envelope.ack;
    let mut tally = Tally::new(envelope.each);
    let intake = Intake::new(exchange, body, first)?;
    let taken = take(stream, envelope, intake, &mut tally).await;
    Ok(conclude(stream, ack, tally, taken).await)
}

/// Waits for what `ack` promises, and answers.
pub(super) async fn conclude(
    stream: &Arc<dyn EventStream>,
    ack: Ack,
    mut tally: Tally,
    taken: Result<()>,
) -> Response<Body> {
    if ack != Ack::Memory
        && !tally.is_empty()
        && let Err(error) = stream.settle(&tally.awaited(), ack).await
    {
        // One that Kafka refuses says nothing of the others.
        if error.code == Code::InvalidEvent
            && tally.tells_each()
            && let Ok(places) = stream.place(&tally.awaited()).await
        {
            tally.refuse(places);
        }
        return problem::with(&error, &tally.members());
    }
    finished(ack, &tally, taken)
}

/// The answer, when there is nothing more to wait for.
pub(super) fn finished(ack: Ack, tally: &Tally, taken: Result<()>) -> Response<Body> {
    match taken {
        Err(error) if tally.is_empty() => problem::own(&error),
        Err(error) => problem::with(&error, &tally.members()),
        Ok(()) if tally.is_refused() => problem::with(&tally.refusal(), &tally.members()),
        Ok(()) => respond::appended(status(ack), tally.written()),
    }
}

/// 202 says that the event may still be lost.
fn status(ack: Ack) -> StatusCode {
    if ack == Ack::Memory { StatusCode::ACCEPTED } else { StatusCode::OK }
}

/// Takes the events of a body, piece by piece.
///
/// # Errors
/// What the stream refuses with, and what is wrong with the body; `tally` has what was taken before.
pub(super) async fn take(
    stream: &Arc<dyn EventStream>,
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
            // A few bytes that are packed may stand for millions of them.
            let message = format!("more than {QUARANTINED_MAX} events of the body are none of the stream's");
            return Err(Error::new(Code::InvalidEvent, message)
                .with_hint("the rest was not read; what was sent lies in the stream's quarantine"));
        }
        rest = text.slice(consumed..);
        envelope.before = tally.count();
        envelope.each = tally.has_room();
    }
}

/// One append. A long body waits for room; a client that has nothing in the stream yet is told to come again.
async fn append(
    stream: &Arc<dyn EventStream>,
    (text, is_last): (&Bytes, bool),
    framing: &mut Framing,
    envelope: &Envelope,
    patience: Duration,
    tally: &Tally,
) -> Result<Receipt> {
    loop {
        // A refused append must be tried again from where it began.
        let mut tried = *framing;
        match stream.append_text(text, &mut tried, is_last, envelope) {
            Ok(receipt) => {
                *framing = tried;
                return Ok(receipt);
            }
            Err(error) if error.code == Code::Backlogged && !tally.is_empty() => {
                if tokio::time::timeout(patience, stream.room()).await.is_err() {
                    return Err(error);
                }
            }
            Err(error) => return Err(error),
        }
    }
}

/// Refuses what can't be events. Clients name JSON in many ways, and some name nothing.
fn read_media_type(exchange: &Exchange<'_>) -> Result<()> {
    let Some(given) = exchange.media_type() else { return Ok(()) };
    let is_json = given.starts_with("application/") && given.contains("json");
    // `application/x-www-form-urlencoded` is what curl says when it is told nothing.
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
