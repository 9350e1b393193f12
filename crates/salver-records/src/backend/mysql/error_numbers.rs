//! Maps failures of MySQL and MariaDB to Salver's errors, by their number; no other file does. The server's own message
//! stays in the cause, except for that of `SIGNAL`.

use std::fmt;

use mysql_async::{DriverError, Error as Failure, IoError, ServerError};
use salver_model::{Code, Error};

/// The server did not respond within the statement timeout.
#[derive(Debug)]
pub(super) struct Overdue;

impl fmt::Display for Overdue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no answer within the time a statement may take")
    }
}

impl std::error::Error for Overdue {}

/// Returns whether the statement timed out on this side, so that the server may still be running it.
pub(super) fn is_overdue(failure: &Failure) -> bool {
    matches!(failure, Failure::Other(cause) if cause.is::<Overdue>())
}

/// Returns whether the connection is no longer usable, so that a retry on another one may succeed.
pub(super) fn is_lost(failure: &Failure) -> bool {
    match failure {
        Failure::Io(_) => true,
        Failure::Driver(cause) => matches!(
            cause,
            DriverError::ConnectionClosed | DriverError::PacketOutOfOrder | DriverError::UnexpectedPacket { .. }
        ),
        // Sent before disconnecting: the server is shutting down, or the connection was killed or idle for too long.
        Failure::Server(cause) => matches!(cause.code, 1053 | 1077 | 1079 | 1927 | 2006 | 2013 | 4031),
        Failure::Other(_) | Failure::Url(_) => false,
    }
}

/// Returns whether the server evicted a prepared statement, or can't use it any more.
pub(super) fn is_stale(failure: &Failure) -> bool {
    matches!(failure, Failure::Server(cause) if matches!(cause.code, 1243 | 1615))
}

/// Returns whether the server has no such database, or none for this user.
pub(crate) fn is_nowhere(cause: &(dyn std::error::Error + 'static)) -> bool {
    matches!(cause.downcast_ref(), Some(Failure::Server(cause)) if matches!(cause.code, 1044 | 1049))
}

/// Returns whether the failure may have ended the enclosing transaction, so that later statements would run outside of
/// it.
pub(super) fn ends_transaction(error: &Error) -> bool {
    matches!(error.code, Code::Contention | Code::Timeout | Code::DatabaseUnavailable)
}

/// Converts the failure; `place` names the database.
pub(super) fn error(failure: Failure, place: &str) -> Error {
    match failure {
        Failure::Server(cause) => server(cause, place),
        failure if is_overdue(&failure) => Error::new(Code::Timeout, "the statement ran for too long")
            .with_hint("ask for less, or raise `statement_ms_max` of the database")
            .with_source(failure),
        Failure::Io(IoError::Tls(cause)) => untrusted(place).with_source(cause),
        Failure::Driver(DriverError::PacketTooLarge) => {
            too_large().with_source(Failure::Driver(DriverError::PacketTooLarge))
        }
        failure @ Failure::Driver(DriverError::StmtParamsNumberExceedsLimit { .. }) => {
            Error::new(Code::Invalid, "the statement has more values than the database takes")
                .with_hint("split the request")
                .with_source(failure)
        }
        Failure::Driver(
            cause @ (DriverError::UnknownAuthPlugin { .. }
            | DriverError::CleartextPluginDisabled
            | DriverError::MysqlOldPasswordDisabled
            | DriverError::NoClientSslFlagFromServer),
        ) => Error::new(Code::DatabaseUnavailable, format!("can't log in to the database {place}"))
            .with_hint("the server asks for a way of logging in that is not known here, or has no TLS")
            .with_source(cause),
        failure if is_lost(&failure) => lost(place).with_source(failure),
        failure => Error::internal("the database's driver failed").with_source(failure),
    }
}

/// Converts the failure of a connection attempt.
pub(super) fn connecting(failure: Failure, place: &str) -> Error {
    match failure {
        // A rejected certificate is reported as `InvalidData`.
        Failure::Io(IoError::Io(cause)) if cause.kind() == std::io::ErrorKind::InvalidData => {
            untrusted(place).with_source(cause)
        }
        Failure::Io(IoError::Io(cause)) => unreachable_database(place).with_source(cause),
        failure if is_overdue(&failure) => unreachable_database(place).with_source(failure),
        failure => error(failure, place),
    }
}

fn untrusted(place: &str) -> Error {
    Error::new(Code::DatabaseUnavailable, format!("no encrypted connection to the database {place}"))
        .with_hint("check the server's certificate; `ssl-ca` in the URL names the file of its authority")
}

fn unreachable_database(place: &str) -> Error {
    Error::new(Code::DatabaseUnavailable, format!("can't reach the database {place}"))
        .with_hint("see whether it runs and whether the address is right; it is tried again with every request")
}

/// Returns the error for a connection that broke when nothing of the request was committed.
pub(super) fn lost(place: &str) -> Error {
    Error::new(Code::DatabaseUnavailable, format!("lost the connection to the database {place}"))
        .with_hint("nothing was changed; try again")
}

/// Returns the error for a connection that broke after a change was sent that may have been committed.
pub(super) fn outcome_unknown(failure: Failure, place: &str) -> Error {
    Error::new(
        Code::DatabaseUnavailable,
        format!("no answer from the database {place} to a change; the outcome is unknown"),
    )
    .with_hint("read the rows to see whether the change was made before trying again")
    .with_source(failure)
}

/// Copies a failure, for the other steps that it failed.
pub(super) fn again(error: &Error) -> Error {
    Error::new(error.code, error.message.clone()).with_hint_if(error.hint.clone())
}

fn too_large() -> Error {
    Error::new(Code::Invalid, "a value is larger than the database takes")
        .with_hint("the server's `max_allowed_packet` is the limit")
}

/// Converts an error of the server.
#[allow(clippy::too_many_lines, reason = "one table of numbers is read more easily whole")]
pub(super) fn server(cause: ServerError, place: &str) -> Error {
    let text = cause.message.as_str();
    let error = match cause.code {
        // ER_DUP_ENTRY, ER_DUP_ENTRY_WITH_KEY_NAME, ER_DUP_UNKNOWN_IN_INDEX, ER_DUP_ENTRY_AUTOINCREMENT_CASE
        1062 | 1569 | 1586 | 1859 => Error::new(Code::DuplicateKey, "Duplicate key exception")
            .with_hint_if(last_quoted(text).map(|key| format!("`{key}` allows each value once"))),
        // Null, no default, foreign keys, checks.
        1048 | 1263 | 1364 => integrity(first_quoted(text).map(|column| format!("`{column}` must have a value"))),
        1451 | 1217 => {
            integrity(constraint(text).map(|name| format!("other rows refer to this one (constraint `{name}`)")))
        }
        1452 | 1216 => integrity(
            constraint(text).map(|name| format!("there is no row that this one refers to (constraint `{name}`)")),
        ),
        4025 | 3819 | 1761 | 1762 | 1557 => {
            integrity(first_quoted(text).map(|name| format!("the constraint `{name}` forbids it")))
        }
        1423 | 1369 | 3105 | 1906 => integrity(first_quoted(text).map(|name| format!("`{name}` can't be written so"))),
        // A `SIGNAL` of a trigger or a procedure, whatever number it gives itself.
        1643 | 1644 => Error::new(Code::Raised, text),
        _ if cause.state.starts_with("45") => Error::new(Code::Raised, text),
        // Values that don't fit.
        1264 | 1690 | 1916 => invalid(text, "is out of range"),
        1406 | 1162 => invalid(text, "is too long"),
        1265 | 1292 | 1366 | 1367 | 1411 | 1300 | 1525 | 1365 => invalid(text, "is not a value of its type"),
        // Text compared with a column of another character set.
        1267 | 1270 | 1271 | 3854 | 3988 => {
            Error::new(Code::Invalid, "a text has characters that the column it is compared with can't have")
        }
        1416 | 3037 | 3055 | 3617 | 4079 => invalid(text, "is not a geometry"),
        3140 | 3141 | 3146 | 4037 | 4038 => invalid(text, "is not JSON"),
        1136 | 1210 | 1426 | 1427 | 1439 | 1441 | 1067 | 1074 | 1063 | 1075 | 1101 | 1070 | 1071 | 1118 | 1068 => {
            Error::new(Code::Invalid, "the database does not take the definition or value")
        }
        1153 | 1301 => too_large(),
        // Too many tables, columns or placeholders; a stack overflow of its parser.
        1116 | 1117 | 1390 | 1436 => {
            Error::new(Code::Invalid, "the request makes a statement that is too large for the database")
                .with_hint("ask for less at once: fewer conditions, joins, columns or keys")
        }
        // Names.
        1146 | 1051 | 1109 => Error::new(Code::UnknownTable, "the database has no such table")
            .with_hint_if(first_quoted(text).map(|name| format!("`{name}` is not there any more"))),
        1054 | 1091 | 1072 => Error::new(Code::UnknownColumn, "the table has no such column")
            .with_hint_if(first_quoted(text).map(|name| format!("`{name}` is not there any more"))),
        1050 => Error::new(Code::TableExists, "a table of that name exists"),
        1060 => Error::new(Code::ColumnExists, "a column of that name exists"),
        1005 | 1215 | 1822 | 1824 | 1825 | 1826 | 1828..=1835 | 3780 | 3730 | 1553 => integrity(None),
        // Rights.
        1044 | 1045 | 1130 | 1251 | 1275 | 1524 | 1698 | 1820 | 1862 | 3118 | 3955 => {
            Error::new(Code::DatabaseUnavailable, format!("the database {place} does not let us in"))
                .with_hint("check user, password and the user's rights in the database's URL")
        }
        1049 => Error::new(Code::DatabaseUnavailable, format!("there is no database {place}"))
            .with_hint("check the name in the database's URL"),
        1142 | 1143 | 1227 | 1370 | 1410 | 1419 => Error::new(Code::Forbidden, "the database's user may not do that")
            .with_hint("grant the right to the user in the database's URL"),
        1290 | 1792 | 1836 => Error::new(Code::ReadOnly, "the database does not take changes")
            .with_hint("it, or the connection to it, is read-only"),
        1288 | 1348 | 1394 | 1471 | 1347 => Error::new(Code::Unsupported, "the view can't be changed"),
        // Others in the way; time.
        1205 | 1213 | 1020 | 1637 | 3572 | 3058 | 1614 => {
            Error::new(Code::Contention, "another transaction was in conflict").with_hint("try again")
        }
        1969 | 3024 | 1317 | 1028 => Error::new(Code::Timeout, "the statement ran for too long")
            .with_hint("ask for less, or raise `statement_ms_max` of the database"),
        // The server is full, overloaded or shutting down.
        1040 | 1203 | 1226 | 1461 | 1135 | 1041 | 1129 => {
            Error::new(Code::DatabaseUnavailable, format!("the database {place} is out of connections"))
                .with_hint("lower `connections_max` of the database, or raise the server's limits")
        }
        1021 | 1030 | 1114 | 3675 => {
            Error::new(Code::DatabaseUnavailable, format!("the database {place} is full or can't write"))
                .with_hint("make room on the server's disk")
        }
        1053 | 1077 | 1079 | 1158..=1161 | 1927 | 2002 | 2006 | 2013 | 4031 => lost(place),
        1037 | 1038 => Error::new(Code::OutOfMemory, "the database does not have enough memory for the statement"),
        _ => Error::new(Code::Execution, "the database can't run the statement"),
    };
    error.with_source(Failure::Server(cause))
}

fn integrity(hint: Option<String>) -> Error {
    Error::new(Code::Integrity, "Data integrity violation").with_hint_if(hint)
}

fn invalid(text: &str, what: &str) -> Error {
    match column(text) {
        Some(column) => {
            let mut error = Error::new(Code::Invalid, format!("the value of `{column}` {what}"));
            error.details.push((column.to_owned(), what.to_owned()));
            error
        }
        None => Error::new(Code::Invalid, format!("a value {what}")),
    }
}

/// Extracts `x` from "... for column 'x' at row 1" and "... for column `database`.`table`.`x` at row 1".
fn column(text: &str) -> Option<&str> {
    let behind = &text[text.rfind(" column ")? + " column ".len()..];
    let behind = behind.rfind(" at row ").map_or(behind, |end| &behind[..end]);
    let name = match behind.strip_prefix('\'') {
        Some(quoted) => quoted.rsplit_once('\'')?.0,
        None => {
            let quoted = behind.strip_suffix('`')?;
            quoted.rsplit_once("`.`").map_or(quoted.strip_prefix('`')?, |(_, name)| name)
        }
    };
    (!name.is_empty()).then_some(name)
}

/// Extracts `x` from "... CONSTRAINT `x` FOREIGN KEY ...".
fn constraint(text: &str) -> Option<&str> {
    let behind = &text[text.find("CONSTRAINT `")? + "CONSTRAINT `".len()..];
    behind.split_once('`').map(|(name, _)| name)
}

fn first_quoted(text: &str) -> Option<&str> {
    let start = text.find(['\'', '`'])?;
    let quote = text[start..].chars().next()?;
    text[start + 1..].split_once(quote).map(|(name, _)| name)
}

/// Extracts the key from "Duplicate entry 'it's' for key 'name'": the client's value stands before it and may contain
/// quotes.
fn last_quoted(text: &str) -> Option<&str> {
    text.strip_suffix('\'')?.rsplit_once('\'').map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use salver_model::Code;

    use super::{ServerError, column, server};

    fn told(code: u16, message: &str) -> (Code, Option<String>) {
        let error = server(ServerError { code, message: message.to_owned(), state: String::new() }, "`blog`");
        (error.code, error.hint)
    }

    #[test]
    fn names_come_out_of_the_servers_words() {
        assert_eq!(column("Out of range value for column 'n' at row 1"), Some("n"));
        assert_eq!(column("Incorrect integer value: 'a column 'x'' for column `d`.`t`.`n` at row 1"), Some("n"));
        assert_eq!(column("Truncated incorrect DOUBLE value: 'x'"), None);
        let (code, hint) = told(1062, "Duplicate entry 'it's' for key 'users_name'");
        assert_eq!((code, hint.as_deref()), (Code::DuplicateKey, Some("`users_name` allows each value once")));
        let (code, hint) = told(
            1452,
            "Cannot add or update a child row: a foreign key constraint fails (`d`.`c`, \
             CONSTRAINT `c_post` FOREIGN KEY",
        );
        assert_eq!(code, Code::Integrity);
        assert!(hint.is_some_and(|hint| hint.contains("`c_post`")));
    }

    #[test]
    fn the_servers_words_are_for_the_log_only() {
        let secret = ServerError { code: 1064, message: "near 'secret'".to_owned(), state: String::new() };
        let error = server(secret, "`blog`");
        assert_eq!(error.code, Code::Execution);
        assert!(!error.message.contains("secret") && error.hint.is_none());
        assert!(error.chain().contains("secret"));
    }
}
