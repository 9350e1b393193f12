//! The doors of streams: events in, and out again.
//!
//! `route` has the paths. Salver's own doors: `append` takes events (`now` does so at once when it can), `tail` follows
//! a stream, `events` reads pages, `groups` remembers who has read what, `describe` tells how streams stand. Doors in
//! other systems' shapes: `confluent`, `tinybird`, and `founding` at a route of the stream's own. They parse, ask the
//! stream's port, and write; errors are told by `problem`, each in its door's language.

mod append;
mod base64;
mod call;
mod confluent;
mod describe;
mod event_json;
mod events;
mod founding;
mod groups;
mod matches;
mod moment;
mod now;
mod position;
mod problem;
mod raw;
mod respond;
mod route;
mod tail;
mod tinybird;

use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode, header};
use salver_model::{Caller, Error, Result};

pub(crate) use self::call::Call;
pub(crate) use self::now::{Begun, Plan, Taken};
use self::route::Target;
use crate::app::App;
use crate::body::Body;
use crate::receive::Incoming;

/// What a page of another origin may send to these doors.
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static(
    "accept, content-type, content-encoding, last-event-id, salver-key, salver-id, salver-partition, salver-time",
);

/// The request as these doors see it, when it is theirs. `path` is below the base path.
pub(crate) fn call<'a>(app: &'a Arc<App>, caller: &'a Caller, head: &'a Parts, path: &'a str) -> Option<Call<'a>> {
    let (method, query) = (&head.method, head.uri.query().unwrap_or(""));
    route::belongs(app, method, path).then_some(Call { app, caller, method, path, query, headers: &head.headers })
}

/// Whether a request for `path`, below the base path, is theirs.
pub(crate) fn belongs(app: &App, method: &Method, path: &str) -> bool {
    route::belongs(app, method, path)
}

/// Answers any request of these doors. `first` is what was already taken from `body`.
pub(crate) async fn answer(call: &Call<'_>, body: Incoming, first: Option<Bytes>) -> Response<Body> {
    let gate = &call.app.gate;
    // Tokens and the like are asked of scripts of pages by the records doors; here, whether the page may ask at all.
    let pass = if gate.minds_origins() { gate.admit(&Method::GET, call.headers).map(Some) } else { Ok(None) };
    let pass = match pass {
        Ok(pass) => pass,
        Err(error) => return problem::respond(call, &error),
    };
    let mut response = dispatch(call, body, first).await.unwrap_or_else(|error| problem::respond(call, &error));
    if let Some(pass) = pass {
        gate.release(pass, response.headers_mut());
    }
    response
}

/// The answer to a request whose life was cut off by a fault, or that is not let in.
pub(crate) fn refuse(call: &Call<'_>, error: &Error) -> Response<Body> {
    problem::respond(call, error)
}

async fn dispatch(call: &Call<'_>, body: Incoming, first: Option<Bytes>) -> Result<Response<Body>> {
    let target = Target::of(call).ok_or_else(|| call.nowhere())?;
    if *call.method == Method::OPTIONS {
        return Ok(options(call, &target));
    }
    if !target.allows(call.method) {
        let mut response = problem::respond(call, &call.not_for_method(target.methods()));
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(target.methods()));
        return Ok(response);
    }
    let writes = !matches!(*call.method, Method::GET | Method::HEAD);
    match target {
        Target::All => describe::list(call),
        Target::Stream(name) if writes => append::answer(call, &name, body, first).await,
        Target::Stream(name) => describe::show(call, &name).await,
        Target::Tail(name) => tail::answer(call, &name).await,
        Target::Events(name) => events::answer(call, &name).await,
        Target::Groups(name) => groups::list(call, &name),
        Target::Group(name, group) => groups::show(call, &name, &group),
        Target::GroupEvents(name, group) => groups::events(call, &name, &group).await,
        Target::GroupCommit(name, group) => groups::commit(call, &name, &group, body).await,
        Target::Route(name) => founding::answer(call, &name, body).await,
        Target::Tinybird => tinybird::answer(call, body, first).await,
        Target::ConfluentV2(segments) => Ok(confluent::answer_v2(call, &segments, body).await),
        Target::ConfluentV3(segments) => Ok(confluent::answer_v3(call, &segments, body).await),
    }
}

/// What may be asked here.
fn options(call: &Call<'_>, target: &Target) -> Response<Body> {
    if let Some(response) = call.app.gate.preflight(call.headers) {
        return response;
    }
    let mut response = respond::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    let methods = HeaderValue::try_from(format!("{}, OPTIONS", target.methods()));
    if let Ok(methods) = methods {
        headers.insert(header::ALLOW, methods.clone());
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}
