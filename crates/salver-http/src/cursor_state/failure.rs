//! What goes wrong, in ArangoDB's numbers and words
//! (<https://docs.arango.ai/arangodb/stable/develop/error-codes/>).

use http::StatusCode;
use salver_model::limits::LIVE_CURSORS_MAX;
use salver_model::{Code, Error};
use salver_service::exports::Refusal;

use crate::aql::{self, Mistake};
use crate::{problem, veil};

/// A value has the wrong structure.
const BAD_PARAMETER: u16 = 10;
/// Something went wrong that is nobody's fault but ours.
const INTERNAL: u16 = 4;
/// The caller may not.
const FORBIDDEN: u16 = 11;
/// A value has the wrong type.
const TYPE_ERROR: u16 = 17;
/// A result is larger than it may be.
const RESOURCE_LIMIT: u16 = 32;
/// The body is no JSON object.
const CORRUPTED_JSON: u16 = 600;
/// There is no such entry.
const DATA_SOURCE_NOT_FOUND: u16 = 1203;
/// It is not said which entry.
const COLLECTION_PARAMETER_MISSING: u16 = 1204;
/// The entry is not there yet, or not any more.
const COLLECTION_NOT_LOADED: u16 = 1238;
/// The query took too long.
const QUERY_KILLED: u16 = 1500;
/// There is no such cursor.
const CURSOR_NOT_FOUND: u16 = 1600;
/// Somebody else reads the cursor.
const CURSOR_BUSY: u16 = 1601;

/// Why a request of these doors is refused.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The status of the answer.
    pub(crate) status: StatusCode,
    /// ArangoDB's number of the error.
    pub(crate) number: u16,
    /// What is wrong.
    pub(crate) message: String,
    /// What our operator should hear of.
    pub(crate) cause: Option<Box<Error>>,
}

impl Failure {
    fn new(status: StatusCode, number: u16, message: impl Into<String>) -> Self {
        Self { status, number, message: message.into(), cause: None }
    }

    /// A request that is not one of these.
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

    /// The body is no JSON, or no object.
    pub(crate) fn corrupted_json(why: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::BAD_REQUEST, CORRUPTED_JSON, format!("invalid JSON object: {why}"))
    }

    /// There is no query.
    pub(crate) fn empty_query() -> Self {
        Self::new(StatusCode::BAD_REQUEST, aql::QUERY_EMPTY, "query is empty")
    }

    /// It is not said which entry.
    pub(crate) fn no_collection() -> Self {
        let message = "'collection' is missing, expecting /_api/export?collection=<identifier>";
        Self::new(StatusCode::BAD_REQUEST, COLLECTION_PARAMETER_MISSING, message)
    }

    /// There is no entry of that name, or it can't be had; `context` is how ArangoDB's own words go around it.
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

    /// There is no such cursor to take.
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

    /// The cursor has no batch of that number at hand.
    pub(crate) fn no_batch() -> Self {
        Self::new(StatusCode::NOT_FOUND, 404, "batch id not found")
    }

    /// A result is larger than the request allows.
    pub(crate) fn memory(hint: &str) -> Self {
        let message = format!("AQL: query would use more memory than allowed; {hint}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, RESOURCE_LIMIT, message)
    }

    /// The query took longer than its client allows.
    pub(crate) fn killed() -> Self {
        Self::new(StatusCode::GONE, QUERY_KILLED, "query killed: it ran longer than `maxRuntime` allows")
    }

    /// No more cursors can be open that keep a query or its rows.
    pub(crate) fn too_many() -> Self {
        let message = format!(
            "{LIVE_CURSORS_MAX} cursors over running queries are open; read or delete some, wait for their ttl to \
             pass, or ask for all documents of a collection, of which many more can be open"
        );
        Self::new(StatusCode::SERVICE_UNAVAILABLE, 503, message)
    }

    /// A request that is ArangoDB's, but can't be done here.
    pub(crate) fn not_implemented(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_IMPLEMENTED, aql::NOT_IMPLEMENTED, message)
    }

    /// A request that would change something.
    pub(crate) fn read_only(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, aql::READ_ONLY, message)
    }

    /// Nothing is here.
    pub(crate) fn nowhere() -> Self {
        let message = "unknown path; here are /_api/cursor, /_api/export, /_api/collection, /_api/database, \
                       and /_api/version";
        Self::new(StatusCode::NOT_FOUND, 404, message)
    }

    /// The path is there, but not for this method.
    pub(crate) fn method_not_supported() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, 405, "method not supported")
    }

    /// Any error of ours in ArangoDB's numbers.
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
