//! Cursors with ArangoDB's HTTP interface: `/api/export?collection=` for all rows of an entry and `/api/cursor` for the
//! rows of a query. Both are also served below `/_api` and `/_db/{any}/_api`, the paths that ArangoDB's clients use.
//!
//! `body` parses request bodies, `export` and `query` open a cursor, and `step` returns its next batch or deletes it.
//! `answer` formats batches. The cursor itself is in `cursor_state`.

mod answer;
mod body;
mod catalog;
mod export;
mod id;
mod query;
mod step;

use bytes::Bytes;
use http::{Method, Response, StatusCode, header};

use crate::body::Body;
use crate::cursor_state::CursorKind;
use crate::dialect::{Refusal, arangodb};
use crate::receive;
use crate::receive::Incoming;
use crate::request_context::RequestContext;
use crate::routes::RoutePath;
use crate::routes::arangodb::{ArangodbRequest, ArangodbTarget};

/// Handles a request of ArangoDB's interface.
pub(crate) async fn answer(
    context: &RequestContext<'_>,
    target: &ArangodbTarget<'_>,
    body: Incoming,
) -> Result<Response<Body>, Refusal> {
    let body = match *context.method {
        Method::POST | Method::PUT => receive::read_body(context.app, context.headers, body).await?,
        _ => Bytes::new(),
    };
    match target.asked {
        ArangodbRequest::OpenExport => export::open(context, &body).await,
        ArangodbRequest::NextOfExport(id) => step::next(context, CursorKind::Export, id, None).await,
        ArangodbRequest::EndExport(id) => step::end(context, CursorKind::Export, id),
        ArangodbRequest::OpenCursor => query::open(context, &body).await,
        ArangodbRequest::NextOfCursor(id, batch) => step::next(context, CursorKind::Query, id, batch).await,
        ArangodbRequest::EndCursor(id) => step::end(context, CursorKind::Query, id),
        ArangodbRequest::Collections => catalog::collections(context).await,
        ArangodbRequest::Collection(name, question) => catalog::collection(context, name, question).await,
        ArangodbRequest::Databases(question) => catalog::databases(target.database, question),
        ArangodbRequest::Login => catalog::log_in(context, &body).await,
        ArangodbRequest::Server(about) => catalog::server(context, about),
        ArangodbRequest::Absent(door) => Err(absent(door)),
    }
}

/// Returns the refusal of a method that a path does not support. Its number and message are those of ArangoDB, which
/// has other statuses for some of them.
pub(crate) fn other_method(method: &Method, place: &RoutePath) -> Refusal {
    let refusal = match (place.path, method) {
        (path @ ("/_api/cursor" | "/_api/export"), &Method::PUT | &Method::DELETE) => {
            arangodb::bad(format!("expecting {method} {path}/<cursor-id>"))
        }
        ("/_api/cursor/{id}/{batch}", &Method::DELETE) => arangodb::bad("expecting DELETE /_api/cursor/<cursor-id>"),
        ("/_api/export/{id}", &Method::POST) => arangodb::bad("expecting POST /_api/export"),
        _ if place.methods.starts_with("GET") => {
            arangodb::read_only("nothing of it can be changed here: rows are written at /api/records")
        }
        _ => arangodb::method_not_supported(),
    };
    refusal.with_status(StatusCode::METHOD_NOT_ALLOWED).with_header(header::ALLOW, place.methods.as_str())
}

/// Returns the refusal of an endpoint of ArangoDB that is not supported.
fn absent(door: &str) -> Refusal {
    match door {
        "document" | "import" | "simple" | "transaction" | "index" => arangodb::not_implemented(format!(
            "/_api/{door} is not here: documents are read by a cursor, and rows written at /api/records"
        )),
        "gharial" | "edges" | "traversal" | "graph" => {
            arangodb::not_implemented(format!("/_api/{door} is not here: there are no graphs"))
        }
        "query" | "explain" | "view" | "analyzer" | "aqlfunction" | "user" | "foxx" | "tasks" | "job"
        | "replication" => arangodb::not_implemented(format!("/_api/{door} is not here")),
        _ => arangodb::nowhere(),
    }
}
