//! Refusals in ArangoDB's format: `{"error", "code", "errorNum", "errorMessage"}`, with its numbers and messages
//! (<https://docs.arango.ai/arangodb/stable/develop/error-codes/>).

use std::borrow::Cow;

use http::{HeaderMap, HeaderValue, StatusCode, header};
use salver_formats::json::write_string;
use salver_model::limits::LIVE_CURSORS_MAX;
use salver_model::{Code, Error};
use salver_service::exports;

use super::{Refusal, salver};
use crate::aql::{self, Mistake};
use crate::{exit, redaction};

/// The media type of all responses.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// A value has the wrong structure.
const BAD_PARAMETER: u32 = 10;
/// An internal error of the server.
const INTERNAL: u32 = 4;
/// The caller lacks the permission.
const FORBIDDEN: u32 = 11;
/// A value has the wrong type.
const TYPE_ERROR: u32 = 17;
/// A result exceeds a limit on its size.
const RESOURCE_LIMIT: u32 = 32;
/// The body is not a JSON object.
const CORRUPTED_JSON: u32 = 600;
/// The entry does not exist.
const DATA_SOURCE_NOT_FOUND: u32 = 1203;
/// The name of the entry is missing.
const COLLECTION_PARAMETER_MISSING: u32 = 1204;
/// The entry is not loaded yet, or not any more.
const COLLECTION_NOT_LOADED: u32 = 1238;
/// The query ran too long.
const QUERY_KILLED: u32 = 1500;
/// The cursor does not exist.
const CURSOR_NOT_FOUND: u32 = 1600;
/// The cursor is in use by another request.
const CURSOR_BUSY: u32 = 1601;

/// Returns the status of an error.
pub(super) fn status(code: Code) -> StatusCode {
    match code {
        Code::OutOfMemory | Code::AnswerTooLarge => StatusCode::INTERNAL_SERVER_ERROR,
        Code::Timeout => StatusCode::GONE,
        _ => salver::status(code),
    }
}

/// Returns the number of a refusal.
fn number(refusal: &Refusal, status: StatusCode) -> u32 {
    if let Some(number) = refusal.number {
        return number;
    }
    match refusal.error.code {
        Code::UnknownEntry => DATA_SOURCE_NOT_FOUND,
        Code::EntryUnavailable => COLLECTION_NOT_LOADED,
        Code::InvalidSql => u32::from(aql::QUERY_PARSE),
        Code::InvalidColumn | Code::InvalidFilter | Code::InvalidSort | Code::InvalidValue | Code::Execution => {
            BAD_PARAMETER
        }
        Code::InvalidBody => CORRUPTED_JSON,
        Code::ReadOnly => u32::from(aql::READ_ONLY),
        Code::Forbidden | Code::Blocked | Code::OriginForbidden | Code::HostForbidden => FORBIDDEN,
        Code::OutOfMemory | Code::AnswerTooLarge => RESOURCE_LIMIT,
        Code::Timeout => QUERY_KILLED,
        _ if status == StatusCode::INTERNAL_SERVER_ERROR => INTERNAL,
        _ => u32::from(status.as_u16()),
    }
}

/// Returns the message of a refusal, with the hint of an error.
fn message(refusal: &Refusal) -> Cow<'_, str> {
    let error = &refusal.error;
    if refusal.number.is_some() {
        return Cow::Borrowed(&error.message);
    }
    match redaction::hint(error) {
        Some(hint) => format!("{}; {hint}", redaction::message(error)).into(),
        None => redaction::message(error),
    }
}

/// Writes the body, and returns its headers.
pub(super) fn write(refusal: &Refusal, status: StatusCode, out: &mut Vec<u8>) -> HeaderMap {
    out.extend_from_slice(b"{\"error\":true,\"code\":");
    out.extend_from_slice(status.as_str().as_bytes());
    out.extend_from_slice(format!(",\"errorNum\":{},\"errorMessage\":", number(refusal, status)).as_bytes());
    write_string(&message(refusal), out);
    out.push(b'}');
    let mut headers = exit::unstored_head(JSON);
    let says_allowed = refusal.headers.iter().any(|(name, _)| *name == header::ALLOW);
    if status == StatusCode::METHOD_NOT_ALLOWED && !says_allowed {
        headers.insert(header::ALLOW, HeaderValue::from_static("POST, PUT, DELETE"));
    }
    headers
}

/// Refuses a malformed request.
pub(crate) fn bad(message: impl Into<String>) -> Refusal {
    Refusal::numbered(StatusCode::BAD_REQUEST, 400, message)
}

/// Refuses a member of the body that has the wrong type.
pub(crate) fn wrong_type(message: impl Into<String>) -> Refusal {
    Refusal::numbered(StatusCode::BAD_REQUEST, TYPE_ERROR, message)
}

/// Refuses a member of the body that has the wrong structure.
pub(crate) fn bad_parameter(message: impl Into<String>) -> Refusal {
    Refusal::numbered(StatusCode::BAD_REQUEST, BAD_PARAMETER, message)
}

/// Refuses a body that is not JSON, or not an object.
pub(crate) fn corrupted_json(why: impl std::fmt::Display) -> Refusal {
    Refusal::numbered(StatusCode::BAD_REQUEST, CORRUPTED_JSON, format!("invalid JSON object: {why}"))
}

/// Refuses an empty query.
pub(crate) fn empty_query() -> Refusal {
    Refusal::numbered(StatusCode::BAD_REQUEST, aql::QUERY_EMPTY.into(), "query is empty")
}

/// Refuses a request without the name of an entry.
pub(crate) fn no_collection() -> Refusal {
    let message = "'collection' is missing, expecting /_api/export?collection=<identifier>";
    Refusal::numbered(StatusCode::BAD_REQUEST, COLLECTION_PARAMETER_MISSING, message)
}

/// Returns the refusal for an entry that does not exist or is not available, with the text that ArangoDB puts around
/// its name.
pub(crate) fn of_entry(error: Error, name: &str, (before, behind): (&str, &str)) -> Refusal {
    match error.code {
        Code::UnknownEntry => {
            let hint = error.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
            let message = format!("{before}collection or view not found: {name}{behind}{hint}");
            Refusal::numbered(StatusCode::NOT_FOUND, DATA_SOURCE_NOT_FOUND, message)
        }
        _ => error.into(),
    }
}

/// Returns the refusal for a cursor that does not exist, expired or is in use.
pub(crate) fn of_lease(refusal: exports::LeaseError) -> Refusal {
    let not_found = "cursor not found: disposed or unknown cursor";
    match refusal {
        exports::LeaseError::Unknown => Refusal::numbered(StatusCode::NOT_FOUND, CURSOR_NOT_FOUND, not_found),
        exports::LeaseError::Expired => {
            let message = format!("{not_found}; it expired: nobody asked for its next batch within its ttl");
            Refusal::numbered(StatusCode::NOT_FOUND, CURSOR_NOT_FOUND, message)
        }
        exports::LeaseError::Busy => Refusal::numbered(StatusCode::CONFLICT, CURSOR_BUSY, "cursor is busy"),
    }
}

/// Refuses a batch that the cursor does not have.
pub(crate) fn no_batch() -> Refusal {
    Refusal::numbered(StatusCode::NOT_FOUND, 404, "batch id not found")
}

/// Refuses a result that is larger than the request allows. ArangoDB answers 500; what the client allows is its own
/// affair, and no fault of the server.
pub(crate) fn memory(hint: &str) -> Refusal {
    let message = format!("AQL: query would use more memory than allowed; {hint}");
    Refusal::numbered(StatusCode::BAD_REQUEST, RESOURCE_LIMIT, message)
}

/// Refuses a query that ran longer than its client allows.
pub(crate) fn killed() -> Refusal {
    Refusal::numbered(StatusCode::GONE, QUERY_KILLED, "query killed: it ran longer than `maxRuntime` allows")
}

/// Refuses another cursor that would keep a query or its rows.
pub(crate) fn too_many() -> Refusal {
    let message = format!(
        "{LIVE_CURSORS_MAX} cursors over running queries are open; read or delete some, wait for their ttl to \
         pass, or ask for all documents of a collection, of which many more can be open"
    );
    Refusal::numbered(StatusCode::SERVICE_UNAVAILABLE, 503, message)
}

/// Refuses a valid request of ArangoDB's that is not supported.
pub(crate) fn not_implemented(message: impl Into<String>) -> Refusal {
    Refusal::numbered(StatusCode::NOT_IMPLEMENTED, aql::NOT_IMPLEMENTED.into(), message)
}

/// Refuses a request that would modify data.
pub(crate) fn read_only(message: impl Into<String>) -> Refusal {
    Refusal::numbered(StatusCode::FORBIDDEN, aql::READ_ONLY.into(), message)
}

/// Refuses an unknown path.
pub(crate) fn nowhere() -> Refusal {
    let message = "unknown path; here are /_api/cursor, /_api/export, /_api/collection, /_api/database, \
                   and /_api/version";
    Refusal::numbered(StatusCode::NOT_FOUND, 404, message)
}

/// Refuses a method that the path does not support.
pub(crate) fn method_not_supported() -> Refusal {
    Refusal::numbered(StatusCode::METHOD_NOT_ALLOWED, 405, "method not supported")
}

impl From<Mistake> for Refusal {
    fn from(mistake: Mistake) -> Self {
        let status = match mistake.number {
            aql::NOT_IMPLEMENTED => StatusCode::NOT_IMPLEMENTED,
            aql::READ_ONLY => StatusCode::FORBIDDEN,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::numbered(status, mistake.number.into(), mistake.message)
    }
}
