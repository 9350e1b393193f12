//! Errors with ArangoDB's numbers and messages (<https://docs.arango.ai/arangodb/stable/develop/error-codes/>).

use http::StatusCode;
use salver_model::limits::LIVE_CURSORS_MAX;
use salver_model::{Code, Error};
use salver_service::exports::Refusal;

use crate::aql::{self, Mistake};
use crate::{problem, veil};

/// A value has the wrong structure.
const BAD_PARAMETER: u16 = 10;
/// An internal error of the server.
const INTERNAL: u16 = 4;
/// The caller lacks the permission.
const FORBIDDEN: u16 = 11;
/// A value has the wrong type.
const TYPE_ERROR: u16 = 17;
/// A result exceeds a limit on its size.
const RESOURCE_LIMIT: u16 = 32;
/// The body is not a JSON object.
const CORRUPTED_JSON: u16 = 600;
/// The entry does not exist.
const DATA_SOURCE_NOT_FOUND: u16 = 1203;
/// The name of the entry is missing.
const COLLECTION_PARAMETER_MISSING: u16 = 1204;
/// The entry is not loaded yet, or not any more.
const COLLECTION_NOT_LOADED: u16 = 1238;
/// The query ran too long.
const QUERY_KILLED: u16 = 1500;
/// The cursor does not exist.
const CURSOR_NOT_FOUND: u16 = 1600;
/// The cursor is in use by another request.
const CURSOR_BUSY: u16 = 1601;

/// The reason why a request is refused.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The status of the response.
    pub(crate) status: StatusCode,
    /// ArangoDB's error number.
    pub(crate) number: u16,
    /// The error message.
    pub(crate) message: String,
    /// The error to report to the operator.
    pub(crate) cause: Option<Box<Error>>,
}

impl Failure {
    fn new(status: StatusCode, number: u16, message: impl Into<String>) -> Self {
        Self { status, number, message: message.into(), cause: None }
    }

    /// A malformed request.
    pub(crate) fn bad(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, 400, message)
    }

    /// A member of the body has the wrong type.
    pub(crate) fn wrong_type(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, TYPE_ERROR, message)
    }

    /// A member of the body has the wrong structure.
    pub(crate) fn bad_parameter(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, BAD_PARAMETER, message)
    }

    /// The body is not JSON, or not an object.
    pub(crate) fn corrupted_json(why: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, CORRUPTED_JSON, format!("invalid JSON object: {why}"))
    }

    /// The query is empty.
    pub(crate) fn empty_query() -> Self {
        Self::new(StatusCode::BAD_REQUEST, aql::QUERY_EMPTY, "query is empty")
    }

    /// The name of the entry is missing.
    pub(crate) fn no_collection() -> Self {
        let message = "'collection' is missing, expecting /_api/export?collection=<identifier>";
        Self::new(StatusCode::BAD_REQUEST, COLLECTION_PARAMETER_MISSING, message)
    }

    /// The entry does not exist or is not available; `context` is the text that ArangoDB puts around the name.
    pub(crate) fn of_entry(error: &Error, name: &str, (before, behind): (&str, &str)) -> Self {
        match error.code {
            Code::UnknownEntry => {
                let hint = error.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
                let message = format!("{before}collection or view not found: {name}{behind}{hint}");
                Self::new(StatusCode::NOT_FOUND, DATA_SOURCE_NOT_FOUND, message)
            }
            _ => Self::of(error),
        }
    }

    /// The cursor does not exist, expired or is in use.
    pub(crate) fn of_refusal(refusal: Refusal) -> Self {
        let not_found = "cursor not found: disposed or unknown cursor";
        match refusal {
            Refusal::Unknown => Self::new(StatusCode::NOT_FOUND, CURSOR_NOT_FOUND, not_found),
            Refusal::Expired => {
                let message = format!("{not_found}; it expired: nobody asked for its next batch within its ttl");
                Self::new(StatusCode::NOT_FOUND, CURSOR_NOT_FOUND, message)
            }
            Refusal::Busy => Self::new(StatusCode::CONFLICT, CURSOR_BUSY, "cursor is busy"),
        }
    }

    /// The cursor has no batch of that number.
    pub(crate) fn no_batch() -> Self {
        Self::new(StatusCode::NOT_FOUND, 404, "batch id not found")
    }

    /// A result is larger than the request allows.
    pub(crate) fn memory(hint: &str) -> Self {
        let message = format!("AQL: query would use more memory than allowed; {hint}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, RESOURCE_LIMIT, message)
    }

    /// The query ran longer than its client allows.
    pub(crate) fn killed() -> Self {
        Self::new(StatusCode::GONE, QUERY_KILLED, "query killed: it ran longer than `maxRuntime` allows")
    }

    /// Too many cursors are open that keep a query or its rows.
    pub(crate) fn too_many() -> Self {
        let message = format!(
            "{LIVE_CURSORS_MAX} cursors over running queries are open; read or delete some, wait for their ttl to \
             pass, or ask for all documents of a collection, of which many more can be open"
        );
        Self::new(StatusCode::SERVICE_UNAVAILABLE, 503, message)
    }

    /// A valid request of ArangoDB's that is not supported.
    pub(crate) fn not_implemented(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_IMPLEMENTED, aql::NOT_IMPLEMENTED, message)
    }

    /// A request that would modify data.
    pub(crate) fn read_only(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, aql::READ_ONLY, message)
    }

    /// The path is unknown.
    pub(crate) fn nowhere() -> Self {
        let message = "unknown path; here are /_api/cursor, /_api/export, /_api/collection, /_api/database, \
                       and /_api/version";
        Self::new(StatusCode::NOT_FOUND, 404, message)
    }

    /// The path does not support the method.
    pub(crate) fn method_not_supported() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, 405, "method not supported")
    }

    /// Converts an error of the server to ArangoDB's numbers.
    pub(crate) fn of(error: &Error) -> Self {
        let status = problem::status(error.code);
        let (status, number) = match error.code {
            Code::UnknownEntry => (StatusCode::NOT_FOUND, DATA_SOURCE_NOT_FOUND),
            Code::EntryUnavailable => (status, COLLECTION_NOT_LOADED),
            Code::InvalidSql => (status, aql::QUERY_PARSE),
            Code::InvalidColumn | Code::InvalidFilter | Code::InvalidSort | Code::InvalidValue | Code::Execution => {
                (status, BAD_PARAMETER)
            }
            Code::InvalidRequest | Code::InvalidNumber => (status, 400),
            Code::InvalidBody => (status, CORRUPTED_JSON),
            Code::ReadOnly => (status, aql::READ_ONLY),
            Code::Forbidden | Code::Blocked | Code::OriginForbidden | Code::HostForbidden => (status, FORBIDDEN),
            Code::OutOfMemory | Code::AnswerTooLarge => (StatusCode::INTERNAL_SERVER_ERROR, RESOURCE_LIMIT),
            Code::Timeout => (StatusCode::GONE, QUERY_KILLED),
            _ if status == StatusCode::INTERNAL_SERVER_ERROR => (status, INTERNAL),
            _ => (status, status.as_u16()),
        };
        let message = match veil::hint(error) {
            Some(hint) => format!("{}; {hint}", veil::message(error)),
            None => veil::message(error).into_owned(),
        };
        Self::new(status, number, message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let failure = Self::of(&error);
        let is_ours = problem::is_ours(&error);
        Self { cause: is_ours.then(|| Box::new(error)), ..failure }
    }
}

impl From<Mistake> for Failure {
    fn from(mistake: Mistake) -> Self {
        let status = match mistake.number {
            aql::NOT_IMPLEMENTED => StatusCode::NOT_IMPLEMENTED,
            aql::READ_ONLY => StatusCode::FORBIDDEN,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::new(status, mistake.number, mistake.message)
    }
}
