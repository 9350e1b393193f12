//! Errors, named for the client and with the cause kept for the log.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use crate::sql_fault::SqlFault;

/// Result with Salver's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Kind of failure. A code describes the failure in Salver's terms; a door maps it to its protocol. Slugs that clients
/// of the founding systems know keep their names; slugs are never reused with another meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A name of an entry breaks the rules for names.
    InvalidName,
    /// No entry of that name.
    UnknownEntry,
    /// The entry exists but could not be loaded, and there is no earlier good version.
    EntryUnavailable,
    /// No key-value store of that name.
    UnknownStore,
    /// No row, key or page there.
    NotFound,
    /// A projection names a column that does not exist.
    InvalidColumn,
    /// A sort is malformed or names a column that does not exist.
    InvalidSort,
    /// A filter is malformed or names a column that does not exist.
    InvalidFilter,
    /// A value in a request can't be read or can't be compared with its column.
    InvalidValue,
    /// A number in a request is malformed.
    InvalidNumber,
    /// A parameter, operator or combination the door does not know.
    InvalidRequest,
    /// An opaque paging token is damaged or from elsewhere.
    InvalidCursor,
    /// The entry changed since the paging token was made.
    ExpiredCursor,
    /// SQL that can't be parsed or planned.
    InvalidSql,
    /// A GraphQL document that can't be parsed, validated or answered.
    InvalidGraphql,
    /// A well-formed statement that would do more than read, or reach outside the catalog.
    ReadOnly,
    /// A query failed while it ran, because of the data or the query itself (division by zero, a failed cast).
    Execution,
    /// The method does not exist at this path.
    MethodNotAllowed,
    /// The door cannot parse the body.
    InvalidBody,
    /// The door does not read the body's media type.
    UnsupportedMediaType,
    /// The requested format does not exist.
    UnknownFormat,
    /// The body is larger than the limit.
    BodyTooLarge,
    /// The response would be larger than a limit.
    AnswerTooLarge,
    /// The query needs more memory than is available to it.
    OutOfMemory,
    /// A value or a row of the query exceeds the size limit.
    QueryTooLarge,
    /// The query timed out.
    Timeout,
    /// Too many concurrent queries.
    Overloaded,
    /// A file or response of a source can't be read or is damaged.
    Source,
    /// The configuration is wrong.
    Config,
    /// No table of that name in any database.
    UnknownTable,
    /// The numbers of keys and of records differ.
    ArgumentCount,
    /// No record with that key.
    RecordNotFound,
    /// The table has no primary key.
    NoPrimaryKey,
    /// A table of a database has no such column.
    UnknownColumn,
    /// A table of that name exists already.
    TableExists,
    /// A column of that name exists already.
    ColumnExists,
    /// A row with the same unique key exists.
    DuplicateKey,
    /// A constraint of the database forbids it.
    Integrity,
    /// Code in the database, a trigger or a procedure, raised an error with its own message.
    Raised,
    /// Values do not pass the checks of their columns.
    Invalid,
    /// The caller may not perform the operation.
    Forbidden,
    /// The table does not support the operation.
    Unsupported,
    /// The page's origin is not allowed.
    OriginForbidden,
    /// The request names a host that this server does not serve.
    HostForbidden,
    /// The caller's address is blocked.
    Blocked,
    /// The XSRF token is missing or wrong.
    XsrfToken,
    /// The page is behind the last allowed one.
    PageForbidden,
    /// The record, or the named query, does not match `If-Match` or `If-None-Match`.
    PreconditionFailed,
    /// The change would affect more rows than allowed.
    TooManyAffected,
    /// The database can't be reached or is overloaded.
    DatabaseUnavailable,
    /// Conflict with another transaction.
    Contention,
    /// No stream of that name.
    UnknownStream,
    /// None of the events is acceptable to the stream.
    InvalidEvent,
    /// Too many events are waiting to be written.
    Backlogged,
    /// The stream cannot keep its guarantees now: its disk is full, or its broker unavailable.
    StreamUnavailable,
    /// The request must be authenticated.
    AuthenticationRequired,
    /// The credentials are wrong.
    AuthenticationFailed,
    /// Credentials can't be checked now.
    AuthenticationUnavailable,
    /// A user of that name exists already.
    UserExists,
    /// The password is too short.
    PasswordTooShort,
    /// The name of a user is empty.
    UsernameEmpty,
    /// Too many wrong passwords.
    TooManyAttempts,
    /// The caller sends more requests than it may.
    TooManyRequests,
    /// User code raised an error, or its process ended.
    FunctionFailed,
    /// Internal fault of Salver or the machine.
    Internal,
}

impl Code {
    /// Every code with its slug on the wire and its meaning, for the reference page.
    pub const TABLE: [(Self, &'static str, &'static str); 65] = [
        (Self::InvalidName, "invalid_name", "A name of an entry breaks the rules for names."),
        (Self::UnknownEntry, "invalid_table", "There is no entry of that name."),
        (Self::EntryUnavailable, "entry_unavailable", "The entry could not be loaded; the message says why."),
        (Self::UnknownStore, "invalid_kv_name", "There is no key-value store of that name."),
        (Self::NotFound, "not_found", "There is nothing at this path or under this key."),
        (Self::InvalidColumn, "invalid_projection", "A column that is asked for does not exist."),
        (Self::InvalidSort, "invalid_sort", "A sort is malformed or names an unknown column."),
        (Self::InvalidFilter, "invalid_filter", "A filter is malformed or names an unknown column."),
        (Self::InvalidValue, "rest_query_value", "A value can't be read, or can't be compared with its column."),
        (Self::InvalidNumber, "invalid_numeric_param", "A number in the request is malformed."),
        (Self::InvalidRequest, "rest_query", "A parameter, an operator or a combination is not known."),
        (Self::InvalidCursor, "invalid_cursor", "A paging token is damaged or belongs to another request."),
        (Self::ExpiredCursor, "expired_cursor", "The entry changed since the paging token was made."),
        (Self::InvalidSql, "plan_sql", "The SQL can't be parsed or planned."),
        (Self::InvalidGraphql, "invalid graphql query", "The GraphQL document can't be parsed or validated."),
        (Self::ReadOnly, "read_only_mode", "The statement would do more than read."),
        (Self::Execution, "query_execution", "The query failed while it ran, by the data or the query itself."),
        (Self::MethodNotAllowed, "method_not_allowed", "The method does not exist at this path."),
        (Self::InvalidBody, "invalid_body", "The body is not what this path reads."),
        (Self::UnsupportedMediaType, "unsupported_media_type", "The body's media type is not read here."),
        (Self::UnknownFormat, "unknown_format", "The format asked for does not exist."),
        (
            Self::BodyTooLarge,
            "body_too_large",
            "The body is larger than `limits.body_bytes_max`, or a `[[limit]]`, allows.",
        ),
        (Self::AnswerTooLarge, "answer_too_large", "The answer would exceed a limit."),
        (Self::OutOfMemory, "out_of_memory", "The query needs more memory than it may have."),
        (
            Self::QueryTooLarge,
            "query_too_large",
            "A value or row that the query makes is larger than `limits.memory_bytes_max` allows.",
        ),
        (Self::Timeout, "timeout", "The query ran longer than `limits.query_ms_max`, or a `[[limit]]`, allows."),
        (Self::Overloaded, "overloaded", "Too many queries run at once; try again later."),
        (Self::Source, "load_table", "A source can't be read or is damaged."),
        (Self::Config, "config", "The configuration is wrong."),
        (Self::UnknownTable, "unknown_table", "The database has no such table, or the caller may not see it."),
        (Self::ArgumentCount, "argument_count", "The number of keys and of records differ."),
        (Self::RecordNotFound, "record_not_found", "There is no record with this key."),
        (Self::NoPrimaryKey, "no_primary_key", "The table has no primary key, so that one record can't be named."),
        (Self::UnknownColumn, "unknown_column", "The table has no such column, or the caller may not see it."),
        (Self::TableExists, "table_exists", "A table of that name exists already."),
        (Self::ColumnExists, "column_exists", "A column of that name exists already."),
        (Self::DuplicateKey, "duplicate_key", "A row with the same unique key exists."),
        (Self::Integrity, "data_integrity", "A constraint of the database forbids the change."),
        (Self::Raised, "raised", "Code in the database, like a trigger, refused the change; the message is its own."),
        (Self::Invalid, "validation_failed", "A value does not pass its column's checks; the details name the column."),
        (Self::Forbidden, "forbidden", "The caller may not do this."),
        (Self::Unsupported, "unsupported", "The operation does not exist for this table."),
        (Self::OriginForbidden, "origin_forbidden", "Pages of this origin may not send this request."),
        (Self::HostForbidden, "host_forbidden", "The request names a host that is not this server."),
        (Self::Blocked, "blocked", "The caller's address is blocked."),
        (Self::XsrfToken, "xsrf_token", "The XSRF token is missing or differs from the cookie's."),
        (Self::PageForbidden, "page_forbidden", "The page is past the last one that may be requested."),
        (
            Self::PreconditionFailed,
            "precondition_failed",
            "The record or the query is not what `If-Match` or `If-None-Match` says.",
        ),
        (Self::TooManyAffected, "too_many_affected", "The change would touch more rows than `max_affected`."),
        (
            Self::DatabaseUnavailable,
            "database_unavailable",
            "The database can't be reached, or is out of connections or space; try again.",
        ),
        (Self::Contention, "contention", "Another transaction was in conflict; try again."),
        (Self::UnknownStream, "unknown_stream", "There is no stream of that name."),
        (Self::InvalidEvent, "invalid_event", "The stream accepts no event of the request; all are in its quarantine."),
        (Self::Backlogged, "backlogged", "More events wait to be written than may; try again."),
        (Self::StreamUnavailable, "stream_unavailable", "The stream's disk is full, or its broker away; try again."),
        (Self::AuthenticationRequired, "authentication_required", "The request must be authenticated."),
        (Self::AuthenticationFailed, "authentication_failed", "The key, token or password is wrong."),
        (Self::AuthenticationUnavailable, "authentication_unavailable", "Credentials can't be checked now; try again."),
        (Self::UserExists, "user_exists", "A user of that name exists already."),
        (Self::PasswordTooShort, "password_too_short", "The password is too short."),
        (Self::UsernameEmpty, "username_empty", "The name of the user is empty."),
        (Self::TooManyAttempts, "too_many_attempts", "There were too many failed logins; try again later."),
        (Self::TooManyRequests, "too_many_requests", "The caller sends more requests than a `[[limit]]` allows."),
        (Self::FunctionFailed, "function_failed", "The function raised an error, or its process ended."),
        (Self::Internal, "internal", "The server failed; its log has the cause."),
    ];

    /// Returns the slug on the wire.
    #[must_use]
    pub fn slug(self) -> &'static str {
        Self::TABLE.iter().find(|(code, _, _)| *code == self).map_or("internal", |(_, slug, _)| slug)
    }
}

/// Failure: the part that the client may read, and the cause, which only goes to the log.
pub struct Error {
    /// Kind of failure.
    pub code: Code,
    /// Message for the client, naming the subject. No trailing full stop.
    pub message: String,
    /// Suggested remedy, for the client.
    pub hint: Option<String>,
    /// Columns with their problems, where several are wrong. For the client.
    pub details: Vec<(String, String)>,
    /// Seconds after which another try may succeed, where that is known.
    pub retry_after_s: Option<u16>,
    /// What is wrong with the statement, where the error is about one and that is known.
    pub sql_fault: Option<SqlFault>,
    /// Cause, for the log and never for the client.
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

/// What makes an error is marked as cold and kept out of line, so that the code of a request without one lies together:
/// the processor reads fewer lines of it.
impl Error {
    /// Creates an error without hint or cause.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let (message, details) = (message.into(), Vec::new());
        Self { code, message, hint: None, details, retry_after_s: None, sql_fault: None, source: None }
    }

    /// Adds a suggested remedy.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a suggested remedy, if there is one.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn with_hint_if(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// Sets the time after which another try may succeed, in whole seconds, at least one.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn with_retry_after(mut self, wait: Duration) -> Self {
        let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0)).max(1);
        self.retry_after_s = Some(u16::try_from(seconds).unwrap_or(u16::MAX));
        self
    }

    /// Says what is wrong with the statement.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn with_sql_fault(mut self, fault: SqlFault) -> Self {
        self.sql_fault = Some(fault);
        self
    }

    /// Adds the cause.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns a copy for another caller affected by the same failure; the cause stays with this one.
    #[must_use]
    pub fn shared(&self) -> Self {
        let Self { code, message, hint, details, retry_after_s, sql_fault, .. } = self;
        let (message, hint, details) = (message.clone(), hint.clone(), details.clone());
        let (retry_after_s, sql_fault) = (*retry_after_s, *sql_fault);
        Self { code: *code, message, hint, details, retry_after_s, sql_fault, source: None }
    }

    /// Creates the error of an internal fault.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, message)
    }

    /// Creates the error "no column `agee` in `people`", with the nearest column as hint.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn unknown_column<'a>(
        code: Code,
        column: &str,
        entry: &str,
        columns: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Self {
        Self::new(code, format!("no column `{column}` in `{entry}`"))
            .with_hint_if(crate::suggest::hint(column, columns))
    }

    /// Returns the message and every cause below it, for the log.
    #[must_use]
    pub fn chain(&self) -> String {
        let mut text = self.message.clone();
        let mut next = StdError::source(self);
        while let Some(cause) = next {
            let why = cause.to_string();
            // A message may already contain its cause.
            if !text.contains(&why) {
                text.push_str(": ");
                text.push_str(&why);
            }
            next = cause.source();
        }
        text
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.chain(), self.code.slug())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn StdError + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::{Code, Error};

    #[test]
    fn slugs_are_unique() {
        let mut slugs: Vec<_> = Code::TABLE.iter().map(|row| row.1).collect();
        slugs.sort_unstable();
        let count = slugs.len();
        slugs.dedup();
        assert_eq!(slugs.len(), count);
    }

    #[test]
    fn the_cause_is_for_the_log_only() {
        let error = Error::internal("can't read").with_source("disk on fire");
        assert_eq!(error.to_string(), "can't read");
        assert_eq!(error.chain(), "can't read: disk on fire");
        assert_eq!(Error::internal("can't read: no").with_source("no").chain(), "can't read: no");
    }
}
