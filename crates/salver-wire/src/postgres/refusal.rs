//! What a client is told of a failure, in PostgreSQL's words
//! (<https://www.postgresql.org/docs/16/errcodes-appendix.html>).

use salver_model::{Code, Error, SqlFault};

/// A refused message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// Code of the failure, the `SQLSTATE`.
    pub(super) state: &'static str,
    /// Message.
    pub(super) message: String,
    /// Suggested remedy.
    pub(super) hint: Option<String>,
    /// Place in the text of the statement, in characters from 1.
    pub(super) position: Option<usize>,
    /// Whether the connection ends with it.
    pub(super) is_fatal: bool,
}

/// What a client breaks the protocol with.
pub(super) const PROTOCOL_VIOLATION: &str = "08P01";
/// The transaction has failed, and waits for its end.
pub(super) const IN_FAILED_TRANSACTION: &str = "25P02";
/// The statement needs a transaction.
pub(super) const NO_TRANSACTION: &str = "25P01";
/// A cursor has no more rows for its caller.
pub(super) const CURSOR_ENDED: &str = "24000";
/// A cursor can't do it.
pub(super) const WRONG_STATE: &str = "55000";
/// There is no savepoint of that name.
pub(super) const UNKNOWN_SAVEPOINT: &str = "3B001";
/// A bound of the connection is reached.
pub(super) const LIMIT_EXCEEDED: &str = "54000";
/// What is not offered.
pub(super) const NOT_SUPPORTED: &str = "0A000";
/// What writes.
pub(super) const READ_ONLY: &str = "25006";
/// What no client may do.
pub(super) const NOT_ALLOWED: &str = "42501";
/// A value that an option does not have.
pub(super) const INVALID_VALUE: &str = "22023";
/// There is no statement of that name.
pub(super) const UNKNOWN_STATEMENT: &str = "26000";
/// There is no cursor of that name.
pub(super) const UNKNOWN_CURSOR: &str = "34000";
/// A name is taken.
pub(super) const DUPLICATE_CURSOR: &str = "42P03";
/// A name is taken.
pub(super) const DUPLICATE_STATEMENT: &str = "42P05";
/// The client or its operator ended the statement.
const CANCELED: &str = "57014";

impl Refusal {
    pub(super) fn new(state: &'static str, message: impl Into<String>) -> Self {
        Self { state, message: message.into(), hint: None, position: None, is_fatal: false }
    }

    /// Returns the refusal of what breaks the protocol, after which the connection ends.
    pub(super) fn broken(message: impl Into<String>) -> Self {
        Self { is_fatal: true, ..Self::new(PROTOCOL_VIOLATION, message) }
    }

    /// Returns the refusal of a statement that its client cancelled.
    pub(super) fn canceled() -> Self {
        Self::new(CANCELED, "canceling statement due to user request")
    }

    pub(super) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Returns the refusal after which the connection ends.
    pub(super) fn fatal(self) -> Self {
        Self { is_fatal: true, ..self }
    }

    /// Returns the refusal of the statement `text` for `error`, of which nothing is left that its client may not read.
    pub(super) fn of(error: Error, text: &str) -> Self {
        let position = place(&error.message).and_then(|(line, column)| position(text, line, column));
        let state = state(&error);
        Self { hint: error.hint, position, ..Self::new(state, error.message) }
    }

    /// Returns the severity, as clients read it.
    pub(super) fn severity(&self) -> &'static str {
        if self.is_fatal { "FATAL" } else { "ERROR" }
    }
}

/// Returns the `SQLSTATE` of an error: that of what is wrong with the statement, where that is known.
fn state(error: &Error) -> &'static str {
    if let Some(fault) = error.sql_fault {
        return state_of(fault);
    }
    match error.code {
        Code::UnknownEntry | Code::UnknownTable | Code::UnknownStore => "42P01",
        Code::InvalidColumn | Code::UnknownColumn => "42703",
        Code::InvalidSql | Code::InvalidSort | Code::InvalidFilter => "42601",
        Code::ReadOnly => READ_ONLY,
        Code::InvalidValue | Code::InvalidNumber => "22P02",
        Code::Execution => "22000",
        Code::Timeout => CANCELED,
        Code::OutOfMemory | Code::QueryTooLarge => "53200",
        Code::AnswerTooLarge | Code::BodyTooLarge => "54000",
        Code::Overloaded | Code::TooManyRequests => "53400",
        Code::EntryUnavailable | Code::Source => "55000",
        Code::DatabaseUnavailable | Code::AuthenticationUnavailable => "57P03",
        Code::Contention => "40001",
        Code::AuthenticationRequired | Code::Blocked | Code::TooManyAttempts => "28000",
        Code::AuthenticationFailed => "28P01",
        Code::Forbidden => NOT_ALLOWED,
        Code::Unsupported => NOT_SUPPORTED,
        Code::FunctionFailed => "38000",
        _ => "XX000",
    }
}

/// Returns the `SQLSTATE` of what is wrong with a statement.
fn state_of(fault: SqlFault) -> &'static str {
    match fault {
        SqlFault::UnknownTable => "42P01",
        SqlFault::UnknownColumn => "42703",
        SqlFault::UnknownFunction => "42883",
        SqlFault::UnknownObject => "42704",
        SqlFault::AmbiguousColumn => "42702",
        SqlFault::DuplicateAlias => "42712",
        SqlFault::InvalidReference => "42P10",
        SqlFault::Grouping => "42803",
        SqlFault::Window => "42P20",
        SqlFault::TypeMismatch => "42804",
        SqlFault::OutOfRange => "22003",
        SqlFault::InvalidText => "22P02",
        SqlFault::InvalidTime => "22007",
        SqlFault::TimeOutOfRange => "22008",
        SqlFault::DivisionByZero => "22012",
        SqlFault::NegativeLimit => "2201W",
        SqlFault::NegativeOffset => "2201X",
        SqlFault::ManyRows => "21000",
        SqlFault::InvalidArgument => INVALID_VALUE,
        SqlFault::UnknownParameter => "42P02",
        SqlFault::InvalidSubstring => "22011",
        SqlFault::InvalidPower => "2201F",
        SqlFault::InvalidEscape => "22025",
        SqlFault::InvalidPattern => "2201B",
        SqlFault::Unsupported => NOT_SUPPORTED,
    }
}

/// Returns line and column that a message names as `line 1, column 8`, both from 1.
fn place(message: &str) -> Option<(usize, usize)> {
    let number = |text: &str| {
        let digits = text.len() - text.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
        text[..digits].parse::<usize>().ok().filter(|number| *number > 0)
    };
    let mut places = message.match_indices("line ").filter_map(|(at, word)| {
        let rest = &message[at + word.len()..];
        let line = number(rest)?;
        let rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).strip_prefix(", column ")?;
        Some((line, number(rest)?))
    });
    places.next()
}

/// Replaces the place that a message names by that of another position, both in characters from 1: `moved` says which
/// position of `to` stands for one of `from`.
pub(super) fn move_place(message: &mut String, from: &str, to: &str, moved: impl FnOnce(usize) -> usize) {
    let Some((line, column)) = place(message) else { return };
    let Some(at) = position(from, line, column).map(moved) else { return };
    let before = || to.chars().take(at - 1);
    let new_line = 1 + before().filter(|char| *char == '\n').count();
    let new_column = 1 + before().collect::<Vec<_>>().iter().rev().take_while(|char| **char != '\n').count();
    let old = format!("line {line}, column {column}");
    *message = message.replacen(&old, &format!("line {new_line}, column {new_column}"), 1);
}

/// Returns the position of a place in a text, in characters from 1.
fn position(text: &str, line: usize, column: usize) -> Option<usize> {
    let before: usize = text.split('\n').take(line - 1).map(|line| line.chars().count() + 1).sum();
    let length = text.split('\n').nth(line - 1)?.chars().count();
    Some(before + column.min(length + 1))
}

#[cfg(test)]
mod tests {
    use salver_model::{Code, Error, SqlFault};

    use super::Refusal;

    #[test]
    fn places_become_positions() {
        let at = |message: &str, text: &str| Refusal::of(Error::new(Code::InvalidSql, message), text).position;
        assert_eq!(at("expected a table, at line 1, column 8", "select x"), Some(8));
        assert_eq!(at("at line 2, column 3: no column `ü`", "ä\nü ü"), Some(5));
        assert_eq!(at("at line 9, column 1", "select 1"), None);
        assert_eq!(at("the line is long; at line 0, column 1", "select 1"), None);
        assert_eq!(at("no place", "select 1"), None);
    }

    #[test]
    fn states_are_those_of_postgresql() {
        let state = |code| Refusal::of(Error::new(code, "no table `a`"), "").state;
        assert_eq!(state(Code::InvalidSql), "42601");
        assert_eq!(state(Code::UnknownEntry), "42P01");
        assert_eq!(state(Code::Forbidden), "42501");
        let error = |fault| Error::new(Code::InvalidSql, "odd").with_sql_fault(fault);
        let state = |fault| Refusal::of(error(fault), "").state;
        assert_eq!(state(SqlFault::UnknownTable), "42P01");
        assert_eq!(state(SqlFault::ManyRows), "21000");
        // What is told to others who wait for the same is told as exactly.
        assert_eq!(Refusal::of(error(SqlFault::Grouping).shared(), "").state, "42803");
    }
}
