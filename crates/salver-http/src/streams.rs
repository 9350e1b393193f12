//! The handlers of streams: appending and reading events.
//!
//! Salver's own API: `append` takes events (`immediate` is its fast path), `tail` follows a stream, `events` reads
//! pages, `groups` stores the offsets of consumer groups, and `describe` reports the state of streams. Interfaces of
//! other systems: `confluent`, `tinybird`, and `plain_ingest` at a route of the stream's own. Handlers parse requests,
//! ask the waist for the stream's appender or consumer, and write responses.

mod append;
pub(crate) mod confluent;
mod describe;
mod event_filter;
mod event_json;
mod events;
mod groups;
mod immediate;
mod moment;
mod parameters;
mod plain_ingest;
mod position;
mod raw;
mod tail;
mod tinybird;

use bytes::Bytes;
use http::Response;
use salver_model::{Code, Error, Result};

pub(crate) use self::immediate::{AppendPlan, AppendState, Taken};
use crate::body::Body;
use crate::dialect::Refusal;
use crate::receive::Incoming;
use crate::request_context::RequestContext;
use crate::routes::streams::StreamsTarget;

/// Handles a request for streams. `first` is the part of `body` that was read already.
pub(crate) async fn answer(
    context: &RequestContext<'_>,
    target: StreamsTarget<'_>,
    body: Incoming,
    first: Option<Bytes>,
) -> Result<Response<Body>, Refusal> {
    let answered = match target {
        StreamsTarget::All => describe::list(context),
        StreamsTarget::Append(name) => return append::answer(context, &name, body, first).await,
        StreamsTarget::Describe(name) => describe::show(context, &name).await,
        StreamsTarget::Tail(name) => tail::answer(context, &name).await,
        StreamsTarget::Events(name) => events::answer(context, &name).await,
        StreamsTarget::Groups(name) => groups::list(context, &name),
        StreamsTarget::Group(name, group) => groups::show(context, &name, &group),
        StreamsTarget::GroupEvents(name, group) => groups::events(context, &name, &group).await,
        StreamsTarget::GroupCommit(name, group) => groups::commit(context, &name, &group, body).await,
        StreamsTarget::Tinybird => tinybird::answer(context, body, first).await,
    };
    Ok(answered?)
}

/// Handles events posted to the route of the stream called `name`.
pub(crate) async fn answer_route(
    context: &RequestContext<'_>,
    name: &str,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    plain_ingest::answer(context, name, body).await
}

/// The error for an unknown path.
pub(crate) fn nothing_at(path: &str) -> Error {
    let shown: String = path.chars().take(200).collect();
    Error::new(Code::NotFound, format!("there is nothing at {shown}")).with_hint("`/api/streams` lists the streams")
}
