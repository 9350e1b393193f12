//! What can be wrong with a table of Delta Lake, and the way out.

use std::fmt::Display;

use salver_model::limits::DELTA_LOG_BYTES_MAX;
use salver_model::{Code, Error};

/// Characters that messages show of what comes from a log.
const SHOWN_CHARACTERS: usize = 200;
/// Characters that messages show of why a file is damaged, or of what is in a table.
const WHY_CHARACTERS: usize = 500;

/// Characters of a message that names a file by its whole path, too.
const MESSAGE_CHARACTERS: usize = 1_000;

/// Returns the beginning of a text that comes from a log, for messages.
pub(super) fn cut(text: impl Display) -> String {
    first(text, SHOWN_CHARACTERS)
}

fn first(text: impl Display, characters: usize) -> String {
    let text = text.to_string();
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns the error for the value of a partition column that is not of the column's type.
pub(super) fn wrong_value(error: Error) -> Error {
    let column = "declare the column in `schema` as what it is: its values come from the table's log";
    Error::new(error.code, first(error.message, MESSAGE_CHARACTERS)).with_hint(column)
}

/// Returns the error for a place that has no log.
pub(super) fn no_table(root: impl Display) -> Error {
    Error::new(Code::Source, format!("`{root}` is no Delta table: it has no `_delta_log` with a commit"))
        .with_hint("name the directory of the table, which has `_delta_log` in it")
}

/// Returns the error for a version that is not there; `first` to `last` are.
pub(super) fn no_version(root: impl Display, version: u64, first: u64, last: u64) -> Error {
    Error::new(Code::Source, format!("`{root}` has no version {version}"))
        .with_hint(format!("there are the versions {first} to {last}"))
}

/// Returns the error for a log of which a commit is missing.
pub(super) fn gap(root: impl Display, version: u64, missing: u64) -> Error {
    Error::new(Code::Source, format!("`{root}`: version {version} can't be read: the log has no commit {missing}"))
        .with_hint("restore `_delta_log`, or have the writer of the table make a checkpoint of it")
}

/// Returns the error for a file of the log that makes no sense.
pub(super) fn damaged(file: impl Display, why: impl Display) -> Error {
    Error::new(Code::Source, format!("`{file}` is damaged: {}", first(why, WHY_CHARACTERS)))
        .with_hint("restore the file; a version before it can be read with `?version=`")
}

/// Returns the error for a log that is longer than what is read of one.
pub(super) fn long_log(root: impl Display) -> Error {
    let message = format!("the log of `{root}` has more than {DELTA_LOG_BYTES_MAX} bytes to read");
    Error::new(Code::Source, message).with_hint("have the writer of the table make a checkpoint")
}

/// Returns the error for a file of the table that is not there.
pub(super) fn vanished(root: impl Display, version: u64, file: impl Display) -> Error {
    Error::new(Code::Source, format!("`{root}`: `{}` of version {version} is gone", cut(file)))
        .with_hint("it was probably vacuumed: read a later version, or keep files longer than versions are read")
}

/// Returns the error for a table that needs more than can be read.
pub(super) fn unsupported(root: impl Display, what: &str, hint: impl Into<String>) -> Error {
    let message = format!("`{root}` is a Delta table with {}, which can't be read", first(what, WHY_CHARACTERS));
    Error::new(Code::Source, message).with_hint(first(hint.into(), WHY_CHARACTERS))
}

/// Returns the error for a file outside of its table.
pub(super) fn outside(root: impl Display, file: &str) -> Error {
    let message = format!("`{root}`: its log names the file `{}`, which is not in the table's directory", cut(file));
    Error::new(Code::Source, message)
        .with_hint("a shallow clone can't be read: make a deep one, or serve the table that it was made of")
}
