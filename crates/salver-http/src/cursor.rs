//! Cursors, in ArangoDB's shape: `/api/export?collection=` for all rows of an entry, `/api/cursor` for those of a
//! query, both also below `/_api` and `/_db/{any}/_api`, where that system's clients look for them.
//!
//! `route` has the paths and `body` reads what was sent. `export` and `query` open a cursor, `step` goes on with one or
//! ends it. `answer` puts batches into the shape, and `problem` errors. What a cursor is stands in `cursor_state`.

mod answer;
mod body;
mod catalog;
mod export;
mod problem;
mod query;
mod route;
mod step;

use std::net::IpAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use salver_model::{Caller, Error};

use self::route::Target;
use crate::app::App;
use crate::body::Body;
use crate::cursor_state::{Failure, Kind};
use crate::receive;
use crate::receive::Incoming;

/// The request as these doors see it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    app: &'a Arc<App>,
    /// Who asks.
    caller: &'a Caller,
    method: &'a Method,
    target: Target<'a>,
    /// The database that the path names.
    database: Option<&'a str>,
    /// Where the client is.
    address: IpAddr,
    /// The query string, as it came; empty for none.
    query: &'a str,
    headers: &'a HeaderMap,
}

/// The request as these doors see it, when it is theirs. `path` is below the base path.
pub(crate) fn call<'a>(
    app: &'a Arc<App>,
    caller: &'a Caller,
    head: &'a Parts,
    path: &'a str,
    address: IpAddr,
) -> Option<Call<'a>> {
    let (method, query) = (&head.method, head.uri.query().unwrap_or(""));
    let target = Target::of(method, path, query)?;
    let (database, _) = route::database(path);
    Some(Call { app, caller, method, target, database, address, query, headers: &head.headers })
}

/// Answers any request of these doors.
pub(crate) async fn answer(call: &Call<'_>, body: Incoming) -> Response<Body> {
    match dispatch(call, body).await {
        Ok(response) => response,
        Err(failure) => problem::respond(call.app, &failure),
    }
}

/// The answer to a request whose life was cut off by a fault, or that is not let in.
pub(crate) fn refuse(call: &Call<'_>, error: &Error) -> Response<Body> {
    problem::respond(call.app, &Failure::of(error))
}

async fn dispatch(call: &Call<'_>, body: Incoming) -> Result<Response<Body>, Failure> {
    if call.method == Method::OPTIONS {
        return Ok(options(call.target));
    }
    match call.target {
        Target::Collections(path) => return catalog::collections(call, path).await,
        Target::Databases(path) => return catalog::databases(call, path),
        Target::Server(about) => return catalog::server(call, about),
        Target::Nothing(door) => return Err(absent(door)),
        _ => {}
    }
    let body = match *call.method {
        Method::POST | Method::PUT => receive::whole(call.app, call.headers, body).await?,
        _ => Bytes::new(),
    };
    match (call.target, call.method) {
        (Target::Login, _) => catalog::log_in(call, &body).await,
        (Target::Export(""), &Method::POST) => export::open(call, &body).await,
        (Target::Export(_), &Method::POST) => Err(Failure::bad("expecting POST /_api/export")),
        (Target::Export(""), &Method::PUT) => Err(Failure::bad("expecting PUT /_api/export/<cursor-id>")),
        (Target::Export(""), &Method::DELETE) => Err(Failure::bad("expecting DELETE /_api/export/<cursor-id>")),
        (Target::Cursor(""), &Method::POST) => query::open(call, &body).await,
        (Target::Cursor(""), &Method::PUT) => Err(Failure::bad("expecting PUT /_api/cursor/<cursor-id>")),
        (Target::Cursor(""), &Method::DELETE) => Err(Failure::bad("expecting DELETE /_api/cursor/<cursor-id>")),
        (Target::Export(id), &Method::PUT) => step::next(call, Kind::Export, id).await,
        (Target::Cursor(id), &Method::POST | &Method::PUT) => step::next(call, Kind::Query, id).await,
        (Target::Export(id), &Method::DELETE) => step::end(call, Kind::Export, id),
        (Target::Cursor(id), &Method::DELETE) => step::end(call, Kind::Query, id),
        _ => Err(Failure::method_not_supported()),
    }
}

/// What is said of a door of ArangoDB that is not here.
fn absent(door: &str) -> Failure {
    match door {
        "document" | "import" | "simple" | "transaction" | "index" => Failure::not_implemented(format!(
            "/_api/{door} is not here: documents are read by a cursor, and rows written at /api/records"
        )),
        "gharial" | "edges" | "traversal" | "graph" => {
            Failure::not_implemented(format!("/_api/{door} is not here: there are no graphs"))
        }
        "query" | "explain" | "view" | "analyzer" | "aqlfunction" | "user" | "foxx" | "tasks" | "job"
        | "replication" => Failure::not_implemented(format!("/_api/{door} is not here")),
        _ => Failure::nowhere(),
    }
}

/// Whether a path is where callers prove who they are, and can't have done so before. `path` is below the base path.
pub(crate) fn is_login(path: &str) -> bool {
    route::database(path).1 == "/_open/auth"
}

/// What may be asked here.
fn options(target: Target<'_>) -> Response<Body> {
    let methods = HeaderValue::from_static(match target {
        Target::Collections(_) | Target::Databases(_) | Target::Server(_) | Target::Nothing(_) => "GET, HEAD, OPTIONS",
        Target::Login | Target::Export("") | Target::Cursor("") => "POST, OPTIONS",
        Target::Export(_) => "PUT, DELETE, OPTIONS",
        Target::Cursor(_) => "POST, PUT, DELETE, OPTIONS",
    });
    let mut response = Response::new(Body::Full(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::ALLOW, methods.clone());
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("accept, content-type"));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}
