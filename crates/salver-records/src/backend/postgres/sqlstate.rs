//! Converts errors of the server to Salver's. The only place that knows SQLSTATE codes; the server's own messages go to
//! the log only, except for those that functions of the database raise.

use salver_model::{Code, Error};
use tokio_postgres::error::DbError;

/// Reason for an early end.
#[derive(Debug)]
pub(super) enum Fault {
    /// The driver or the server.
    Driver(tokio_postgres::Error),
    /// Salver: a sink, a check, a value that can't be passed on.
    Own(Error),
    /// The server did not respond for longer than a statement may take: it hangs. The connection is aborted.
    Silent,
}

impl From<tokio_postgres::Error> for Fault {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Driver(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Own(error)
    }
}

impl Fault {
    /// Returns whether the connection is gone.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Driver(error) => is_lost(error),
            Self::Own(_) => false,
            Self::Silent => true,
        }
    }

    /// Returns whether a retry at once may succeed. Retrying on a server that hangs would only take longer.
    pub(super) fn is_worth_another_try(&self) -> bool {
        !matches!(self, Self::Silent) && (self.is_lost() || self.is_stale())
    }

    /// Returns whether the schema changed under a prepared statement, or the statement is gone: preparing it again
    /// helps.
    pub(super) fn is_stale(&self) -> bool {
        let Self::Driver(error) = self else { return false };
        error.as_db_error().is_some_and(|server| match server.code().code() {
            // The routine, because the message may be in any language.
            "0A000" => server.routine() == Some("RevalidateCachedQuery"),
            "26000" => true,
            _ => false,
        })
    }

    /// Returns whether the statement was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        let Self::Driver(error) = self else { return false };
        error.code().is_some_and(|code| code.code() == "57014")
    }

    /// Returns the context in which the server says that it stopped.
    pub(super) fn context(&self) -> Option<&str> {
        let Self::Driver(error) = self else { return None };
        error.as_db_error()?.where_()
    }

    pub(super) fn into_error(self, entry: &str) -> Error {
        match self {
            Self::Driver(error) => of(error, entry),
            Self::Own(error) => error,
            Self::Silent => {
                Error::new(Code::DatabaseUnavailable, format!("the database `{entry}` does not answer any more"))
                    .with_hint("try again in a moment")
            }
        }
    }
}

/// Returns whether an error is not specific to one statement, so that the rest of its program can't continue.
pub(super) fn ends_all(error: &Error) -> bool {
    matches!(error.code, Code::DatabaseUnavailable | Code::Contention | Code::Timeout | Code::Overloaded)
}

/// Returns whether the server has no connection left.
pub(super) fn is_full(error: &tokio_postgres::Error) -> bool {
    error.code().is_some_and(|code| code.code() == "53300")
}

fn is_lost(error: &tokio_postgres::Error) -> bool {
    match error.as_db_error() {
        Some(server) => matches!(server.code().code().as_bytes(), b"57P01" | b"57P02" | b"57P03" | [b'0', b'8', ..]),
        None => error.is_closed() || is_io(error),
    }
}

/// Returns whether the server has no such database, or none for this user.
pub(crate) fn is_nowhere(cause: &(dyn std::error::Error + 'static)) -> bool {
    let code = cause.downcast_ref::<tokio_postgres::Error>().and_then(tokio_postgres::Error::code);
    code.is_some_and(|code| matches!(code.code(), "3D000" | "42501"))
}

/// Returns the server's message about a value that does not fit, and the column if it names one.
pub(crate) fn misfit<'e>(cause: &'e (dyn std::error::Error + 'static)) -> Option<(&'e str, Option<&'e str>)> {
    let server = cause.downcast_ref::<tokio_postgres::Error>()?.as_db_error()?;
    is_misfit(server).then(|| (server.message(), server.column()))
}

/// Returns whether the server refuses a value, and not the statement.
fn is_misfit(server: &DbError) -> bool {
    match server.code().code().as_bytes() {
        b"22012" => false,
        [b'2', b'2', ..] => true,
        // Types of extensions, like `seg`, parse their values with a grammar; Salver's own statements fail in another
        // routine.
        b"42601" => !matches!(server.routine(), Some("scanner_yyerror" | "base_yyerror")),
        // A value that names something, like one of `regtype`. Of a name in a statement its place is told.
        b"42704" | b"42883" | b"3F000" => server.position().is_none(),
        // Extensions like `hstore` say no more than that their input fails.
        b"XX000" => server.file().is_some_and(|file| file.ends_with("_io.c")),
        _ => false,
    }
}

fn is_io(error: &tokio_postgres::Error) -> bool {
    std::error::Error::source(error).is_some_and(|cause| cause.is::<std::io::Error>())
}

/// Returns the error for a commit that was sent and whose response will not come.
pub(super) fn unknown_outcome(fault: Fault, entry: &str) -> Error {
    let told = |what: &str| {
        let message = format!("{what} while it kept the change: the outcome is unknown");
        let hint = "look whether the change is there before you send it again";
        Error::new(Code::DatabaseUnavailable, message).with_hint(hint)
    };
    match fault {
        Fault::Driver(error) => told(&format!("the connection to the database `{entry}` was lost")).with_source(error),
        Fault::Silent => told(&format!("the database `{entry}` stopped answering")),
        Fault::Own(error) => error,
    }
}

/// Converts an error of a statement.
pub(super) fn of(error: tokio_postgres::Error, entry: &str) -> Error {
    let told = match error.as_db_error() {
        Some(server) => said(server, entry),
        None if is_lost(&error) => {
            Error::new(Code::DatabaseUnavailable, format!("the connection to the database `{entry}` was lost"))
                .with_hint("try again in a moment")
        }
        None => Error::new(Code::Execution, "the answer of the database can't be read"),
    };
    told.with_source(error)
}

/// Converts an error of connecting to `place`.
pub(super) fn of_connecting(error: tokio_postgres::Error, entry: &str, place: &str) -> Error {
    let (message, hint) = match error.as_db_error().map(|server| server.code().code()) {
        Some("53300") => (format!("the database `{entry}` is out of connections"), "try again in a moment"),
        Some("28P01" | "28000") => {
            (format!("the database `{entry}` does not let its user in"), "the user and password in its `url` are wrong")
        }
        Some("3D000") => {
            (format!("the server has no database as `{entry}` names it"), "the name at the end of its `url` is wrong")
        }
        Some("57P03") => (format!("the database `{entry}` is starting or stopping"), "try again in a moment"),
        Some(_) => (format!("the database `{entry}` refuses the connection"), "the log has its words"),
        None => (
            format!("the database `{entry}` can't be reached at {place}"),
            "is it running, and are host, port and `sslmode` in its `url` right?",
        ),
    };
    Error::new(Code::DatabaseUnavailable, message).with_hint(hint).with_source(error)
}

fn said(server: &DbError, entry: &str) -> Error {
    let code = server.code().code();
    match code.as_bytes() {
        // A serialization failure is retryable, also when a function raises it.
        b"40001" | b"40P01" => {}
        b"P0001" | b"P0004" => return raised(server),
        // `RAISE` with a SQLSTATE of its own, which may be any.
        _ if server.routine() == Some("exec_stmt_raise") => return raised(server),
        _ => {}
    }
    match code.as_bytes() {
        b"23505" => Error::new(Code::DuplicateKey, "Duplicate key exception")
            .with_hint_if(server.constraint().map(|name| format!("a row with these values of `{name}` exists"))),
        [b'2', b'3', ..] => Error::new(Code::Integrity, "Data integrity violation").with_hint_if(constraint(server)),
        b"22012" => Error::new(Code::Execution, "a division by zero"),
        _ if is_misfit(server) => unfit(server),
        b"428C9" => computed(server),
        b"42P01" => Error::new(Code::UnknownTable, "the table is not there any more"),
        b"42703" => Error::new(Code::UnknownColumn, "a column is not there any more"),
        b"42P07" => Error::new(Code::TableExists, "a table of that name exists already"),
        b"42701" => Error::new(Code::ColumnExists, "a column of that name exists already"),
        b"42501" => Error::new(Code::Forbidden, format!("the user of the database `{entry}` may not do that")),
        b"25006" => Error::new(Code::ReadOnly, format!("the database `{entry}` is read-only"))
            .with_hint("`writable = true` in its settings lets rows be changed"),
        b"40001" | b"40P01" | b"55P03" => {
            Error::new(Code::Contention, "another transaction was in conflict").with_hint("try again")
        }
        b"57014" => Error::new(Code::Timeout, "the statement took too long")
            .with_hint("`statement_ms_max` in the settings of the database bounds it"),
        b"53300" => unavailable(entry, "is out of connections"),
        b"53100" => unavailable(entry, "is out of space"),
        b"53200" => unavailable(entry, "is out of memory"),
        [b'5', b'3', ..] => unavailable(entry, "is out of resources"),
        [b'5', b'4', ..] => {
            Error::new(Code::Invalid, "the request makes a statement that is too large for the database")
                .with_hint("ask for less at once: fewer conditions, joins, columns or keys")
        }
        b"58030" => unavailable(entry, "can't read or write its files"),
        b"57P03" => unavailable(entry, "is starting or stopping"),
        [b'5', b'7', b'P', ..] | [b'0', b'8', ..] => unavailable(entry, "closed the connection"),
        _ => Error::new(Code::Execution, "the database could not run the statement"),
    }
}

/// Converts the message of a function's `RAISE` or `ASSERT`.
fn raised(server: &DbError) -> Error {
    Error::new(Code::Raised, server.message()).with_hint_if(server.hint().map(str::to_owned))
}

fn unavailable(entry: &str, what: &str) -> Error {
    Error::new(Code::DatabaseUnavailable, format!("the database `{entry}` {what}")).with_hint("try again in a moment")
}

fn constraint(server: &DbError) -> Option<String> {
    let name = server.constraint();
    Some(match server.code().code() {
        "23502" => format!("`{}` may not be null", server.column()?),
        "23503" => format!("the foreign key `{}` refers to a row that must exist", name?),
        "23514" => format!("the values do not pass the check `{}`", name?),
        "23P01" => format!("a row that `{}` excludes exists", name?),
        _ => format!("`{}` forbids it", name?),
    })
}

/// Returns the error of a value for a column whose values only the database makes. The server names the column in its
/// message.
fn computed(server: &DbError) -> Error {
    let mut error = Error::new(Code::Invalid, "a column is computed by the database and can't be written");
    let message = server.message();
    let quoted = || message.find('"').zip(message.rfind('"')).and_then(|(from, to)| message.get(from + 1..to));
    if let Some(name) = server.column().or_else(quoted) {
        error.details = vec![(name.to_owned(), "only the database sets it: leave it out".to_owned())];
        error.hint = Some(format!("leave `{name}` out, or let it be `generated by default`"));
    }
    error
}

fn unfit(server: &DbError) -> Error {
    let message = match server.code().code() {
        "22001" => "a text is too long for its column",
        "22003" => "a number is out of the range of its column",
        "22007" | "22008" => "a date or time can't be read",
        "22P02" => "a value can't be read as its column's type",
        "22021" | "22P05" => "a text has characters the database can't store",
        "22023" => "a value is not allowed",
        _ => "a value does not fit its column",
    };
    let error = Error::new(Code::Invalid, message);
    match server.column() {
        Some(column) => error.with_hint(format!("look at `{column}`")),
        None => error,
    }
}
