//! Converts SQLite's failures to Salver's errors. Its own messages go into the cause only, except for names of columns
//! and constraints, which become the hint, and for those of triggers.

use std::ffi::c_int;

use rusqlite::ffi;
use salver_model::{Code, Error};

/// Returns the extended result code of an error.
pub(super) fn result_code(error: &rusqlite::Error) -> c_int {
    match error {
        rusqlite::Error::SqliteFailure(error, _) | rusqlite::Error::SqlInputError { error, .. } => error.extended_code,
        _ => ffi::SQLITE_ERROR,
    }
}

/// Returns the primary code of an extended result code.
pub(super) fn primary(code: c_int) -> c_int {
    code & 0xff
}

/// Returns whether a statement was stopped by its watch.
pub(super) fn is_interrupt(error: &rusqlite::Error) -> bool {
    primary(result_code(error)) == ffi::SQLITE_INTERRUPT
}

/// Returns whether the connection itself is unusable, so that a new one should be opened.
pub(super) fn spoils(error: &rusqlite::Error) -> bool {
    matches!(
        primary(result_code(error)),
        ffi::SQLITE_IOERR
            | ffi::SQLITE_CORRUPT
            | ffi::SQLITE_NOTADB
            | ffi::SQLITE_CANTOPEN
            | ffi::SQLITE_READONLY
            | ffi::SQLITE_PROTOCOL
            | ffi::SQLITE_NOMEM
            | ffi::SQLITE_MISUSE
    )
}

/// Converts a failure.
pub(super) fn fault(error: rusqlite::Error) -> Error {
    let code = result_code(&error);
    let words = words(&error);
    let known = match primary(code) {
        ffi::SQLITE_CONSTRAINT => constraint(code, words),
        ffi::SQLITE_MISMATCH => Error::new(Code::Invalid, "a value is not of its column's type")
            .with_hint("the number of a row must be an integer"),
        ffi::SQLITE_TOOBIG => Error::new(Code::Invalid, "a value or statement is too large for the database"),
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED => {
            Error::new(Code::Contention, "another program is writing the database")
                .with_hint("ask again; writers of other processes should keep their transactions short")
        }
        ffi::SQLITE_FULL => unavailable("the disk under the database is full", "make room on it"),
        ffi::SQLITE_READONLY => {
            unavailable("the database can't be written", "let the server write the file and its directory")
        }
        ffi::SQLITE_CANTOPEN | ffi::SQLITE_PERM | ffi::SQLITE_AUTH => {
            unavailable("the database can't be opened", "let the server read the file and its directory")
        }
        ffi::SQLITE_NOTADB => unavailable("the file is not a SQLite database", "see what is at the path"),
        ffi::SQLITE_CORRUPT => {
            unavailable("the database is damaged", "check it with `PRAGMA integrity_check`, and restore it")
        }
        ffi::SQLITE_IOERR | ffi::SQLITE_PROTOCOL => {
            unavailable("the database can't be read or written", "the log has the cause; ask again")
        }
        ffi::SQLITE_NOMEM => Error::new(Code::OutOfMemory, "the statement needs more memory than there is"),
        ffi::SQLITE_INTERRUPT => Error::new(Code::Timeout, "the statement was stopped"),
        _ => by_words(words),
    };
    known.with_source(error)
}

/// Converts the failure of a commit. A log that could not be made durable may be found intact after a crash all the
/// same.
pub(super) fn commit_fault(error: rusqlite::Error) -> Error {
    if primary(result_code(&error)) == ffi::SQLITE_IOERR {
        return unavailable(
            "the database could not make the change durable; the outcome is unknown",
            "read before writing again",
        )
        .with_source(error);
    }
    fault(error)
}

fn unavailable(message: &str, hint: &str) -> Error {
    Error::new(Code::DatabaseUnavailable, message).with_hint(hint)
}

/// Returns SQLite's own message.
fn words(error: &rusqlite::Error) -> &str {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(words)) => words,
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        _ => "",
    }
}

fn constraint(code: c_int, words: &str) -> Error {
    let integrity = || Error::new(Code::Integrity, "Data integrity violation");
    // "UNIQUE constraint failed: users.email, users.tenant"
    let named = words.split_once(" failed: ").map(|(_, names)| names.trim());
    match code {
        ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_ROWID => {
            Error::new(Code::DuplicateKey, "Duplicate key exception")
                .with_hint_if(named.map(|names| format!("a row with the same {names} exists")))
        }
        ffi::SQLITE_CONSTRAINT_NOTNULL => {
            integrity().with_hint_if(named.map(|names| format!("{names} must have a value")))
        }
        ffi::SQLITE_CONSTRAINT_CHECK => {
            integrity().with_hint_if(named.map(|names| format!("the check `{names}` forbids it")))
        }
        // SQLite reports a row that is still referenced through an internal trigger where the key is `restrict`.
        ffi::SQLITE_CONSTRAINT_TRIGGER if words != "FOREIGN KEY constraint failed" => Error::new(Code::Raised, words),
        ffi::SQLITE_CONSTRAINT_FOREIGNKEY | ffi::SQLITE_CONSTRAINT_TRIGGER => {
            integrity().with_hint("a foreign key names a row that does not exist, or rows still refer to this one")
        }
        // "cannot store TEXT value in INTEGER column t.n"
        ffi::SQLITE_CONSTRAINT_DATATYPE => Error::new(Code::Invalid, "a value is not of its column's type")
            .with_hint_if(words.split_once(" column ").map(|(_, name)| format!("see {name}"))),
        _ => integrity(),
    }
}

/// Converts the failures for which SQLite has no code but only a message.
fn by_words(words: &str) -> Error {
    let starts = |start: &str| words.strip_prefix(start).map(str::trim);
    if let Some(name) = starts("no such table: ").or_else(|| starts("no such view: ")) {
        return Error::new(Code::UnknownTable, format!("no table `{}`", name.trim_start_matches("main.")));
    }
    if let Some(name) = starts("no such column: ") {
        return Error::new(Code::UnknownColumn, format!("no column `{}`", name.trim_matches('"')));
    }
    if words.contains(" has no column named ") {
        return Error::new(Code::UnknownColumn, "the table has no such column");
    }
    if let Some(name) = starts("duplicate column name: ") {
        return Error::new(Code::ColumnExists, format!("Column '{name}' already exists"));
    }
    // "table posts already exists", "there is already a table named x", "... another table or index with this name: x"
    if words.ends_with(" already exists") || words.contains("already a") || words.contains("another table") {
        return Error::new(Code::TableExists, "a table of that name already exists");
    }
    // The message of an increment that its column can't hold.
    if words == "integer overflow" {
        return Error::new(Code::Invalid, "a number is out of the range of its column");
    }
    // "too many SQL variables", "Expression tree is too large (maximum depth 1000)",
    // "LIKE or GLOB pattern too complex", "parser stack overflow"
    if ["too many ", "too large", "too complex", "overflow"].iter().any(|excess| words.contains(excess)) {
        return Error::new(Code::Invalid, "the request makes a statement that is too large for the database")
            .with_hint("ask for less at once: fewer conditions, joins, columns or keys");
    }
    Error::new(Code::Execution, "the database refused the statement")
}
