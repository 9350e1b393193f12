//! The handlers of streams: appending and reading events.
//!
//! Salver's own API: `append` takes events (`now` is its fast path), `tail` follows a stream, `events` reads pages,
//! `groups` stores the offsets of consumer groups, and `describe` reports the state of streams. Interfaces of other
//! systems: `confluent`, `tinybird`, and `founding` at a route of the stream's own. Handlers parse requests, call the
//! stream's port and write responses.

mod append;
pub(crate) mod confluent;
mod describe;
mod event_json;
mod events;
mod founding;
mod groups;
mod matches;
mod moment;
mod now;
mod parameters;
mod position;
mod raw;
mod respond;
mod tail;
mod tinybird;

use bytes::Bytes;
use http::Response;
use salver_model::{Code, Error, Result};

pub(crate) use self::now::{Begun, Plan, Taken};
use crate::body::Body;
use crate::dialect::Refusal;
use crate::exchange::Exchange;
use crate::receive::Incoming;
use crate::routes::streams::Target;

/// Handles a request for streams. `first` is the part of `body` that was read already.
pub(crate) async fn answer(
    exchange: &Exchange<'_>,
    target: Target<'_>,
    body: Incoming,
    first: Option<Bytes>,
) -> Result<Response<Body>, Refusal> {
    let answered = match target {
        Target::All => describe::list(exchange),
        Target::Append(name) => return append::answer(exchange, &name, body, first).await,
        Target::Describe(name) => describe::show(exchange, &name).await,
        Target::Tail(name) => tail::answer(exchange, &name).await,
        Target::Events(name) => events::answer(exchange, &name).await,
        Target::Groups(name) => groups::list(exchange, &name),
        Target::Group(name, group) => groups::show(exchange, &name, &group),
        Target::GroupEvents(name, group) => groups::events(exchange, &name, &group).await,
        Target::GroupCommit(name, group) => groups::commit(exchange, &name, &group, body).await,
        Target::Tinybird => tinybird::answer(exchange, body, first).await,
    };
    Ok(answered?)
}

/// Handles events posted to the route of the stream called `name`.
pub(crate) async fn answer_route(
    exchange: &Exchange<'_>,
    name: &str,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    founding::answer(exchange, name, body).await
}

/// The error for an unknown path.
pub(crate) fn nothing_at(path: &str) -> Error {
    let shown: String = path.chars().take(200).collect();
    Error::new(Code::NotFound, format!("there is nothing at {shown}")).with_hint("`/api/streams` lists the streams")
}
