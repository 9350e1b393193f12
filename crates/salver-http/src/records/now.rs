//! What takes microseconds is answered by the thread that read the request: a record by its key, a short list.

use bytes::Bytes;
use http::{Response, StatusCode, header};
use salver_formats::Coding;
use salver_model::Code;
use salver_model::records::{DocumentBody, RecordQuery};

use super::databases::fingerprint;
use super::query::{self, Purpose};
use super::{head, problem, read, tag};
use crate::body::Body;
use crate::exchange::Exchange;
use crate::exit;
use crate::respond;
use crate::routes::records::Target;

/// Answers a request for rows; `None` means "use the general way", which gives the same.
pub(crate) fn answer_now(exchange: &Exchange<'_>, target: &Target<'_>) -> Option<Response<Body>> {
    let app = exchange.app;
    if app.gate.minds_pages() || exchange.headers.contains_key(header::IF_NONE_MATCH) {
        return None;
    }
    let (table, key) = match target {
        Target::Table(table) => (table, None),
        Target::Row(table, key) if !key.contains([',', '%']) => (table, Some(*key)),
        _ => return None,
    };
    let (database, table) = app.service.database_with(table).ok()?;
    // A database of the caller's own must be found first; functions take more than microseconds.
    if database.spec().of_caller.is_some() || database.spec().customization.is_some() {
        return None;
    }
    let text = exchange.query;
    let record_query = if text.is_empty() {
        RecordQuery { table: table.to_owned(), strict: database.spec().strict, ..RecordQuery::default() }
    } else {
        // What joins, or is answered otherwise than as JSON, and what is wrong, is for the general way.
        let purpose = if key.is_some() { Purpose::Read } else { Purpose::List };
        let ask = query::read(text, table, purpose, database.spec()).ok()?;
        if !ask.query.joins.is_empty() || query::wants_xml(text) {
            return None;
        }
        ask.query
    };
    // A record alone is known by its row, everything else by the version of the database.
    let rows_only = key.is_some();
    let answer = if rows_only {
        None
    } else {
        let schema = database.schema();
        // The general way finds out which conditions look into views, and leaves the tag out then.
        let kind = schema.table(table)?.kind;
        if read::looks_elsewhere(&record_query) && schema.tables().iter().any(|table| table.kind != kind) {
            return None;
        }
        read::version(database, &schema, table, |version| fingerprint(exchange, schema.stamp(), version))
    };
    let document = match database.read_now(exchange.caller, &record_query, key)? {
        Ok(document) => document,
        // Names that are not there may be there in a newer schema.
        Err(error) if matches!(error.code, Code::UnknownTable | Code::UnknownColumn | Code::NoPrimaryKey) => {
            return None;
        }
        Err(error) if problem::status(error.code).is_server_error() => return None,
        Err(error) => return Some(problem::respond(&error)),
    };
    let DocumentBody::Whole(bytes) = document.body else { return None };
    let coding = if bytes.len() < 1_024 { Coding::Identity } else { exchange.coding() };
    let row = document.tag.as_deref().filter(|_| rows_only || answer.is_some());
    let tag = tag::of(row, answer, coding);
    let (bytes, coding) = respond::compress(coding, bytes);
    let mut response = exit::reply(StatusCode::OK, Body::Full(Bytes::from(bytes)));
    *response.headers_mut() = head::head(tag);
    head::encoded(response.headers_mut(), coding);
    Some(response)
}
