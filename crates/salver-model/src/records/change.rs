//! Changes of records.

use crate::error::Error;
use crate::records::read::{Condition, RecordKey};

/// Input value of a record, unconverted: nothing is rounded before the column's type is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// Null.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with its original digits.
    Number(String),
    /// Text.
    Text(String),
    /// An object or array, as JSON text.
    Json(String),
    /// A column of a row written by an earlier change of the same transaction (Salver's extension).
    Back {
        /// Index of the change, from 0.
        change: usize,
        /// Column of its first row.
        column: String,
    },
}

impl Field {
    /// Returns a scalar as text; `None` for null and anything else.
    #[must_use]
    pub fn scalar(&self) -> Option<String> {
        match self {
            Self::Text(text) | Self::Number(text) => Some(text.clone()),
            Self::Bool(value) => Some(value.to_string()),
            _ => None,
        }
    }
}

/// Input record: columns by name, in the order of the request.
pub type Record = Vec<(String, Field)>;

/// Kind of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// Insert rows.
    Create,
    /// Set columns.
    Update,
    /// Add numbers to columns.
    Increment,
    /// Delete rows.
    Delete,
    /// Insert rows, or set columns where a row with the same key exists (Salver's extension).
    Upsert {
        /// Columns of a unique key; empty for the primary key.
        on: Vec<String>,
        /// Whether an existing row is left unchanged.
        ignore: bool,
    },
}

/// Atomic change of rows of one table.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Kind of the change.
    pub kind: ChangeKind,
    /// Table.
    pub table: String,
    /// Primary keys of the rows; as many as `records` unless the rows are selected by a condition.
    pub keys: Vec<RecordKey>,
    /// Whether keys are compared bytewise instead of by the database's collation.
    pub exact_keys: bool,
    /// Keys as written in the request, for messages.
    pub keys_text: String,
    /// Condition that selects the rows (Salver's extension), only with `affected_max`.
    pub filter: Option<Condition>,
    /// Maximum number of affected rows, above which the change fails as a whole.
    pub affected_max: Option<u64>,
    /// Values to write.
    pub records: Vec<Record>,
    /// Whether the response is an array, because the request's body was one or named several keys.
    pub batch: bool,
    /// Columns that may be written, in the syntax of [`crate::records::RecordQuery`].
    pub include: Option<Vec<String>>,
    /// Columns that may not be written.
    pub exclude: Option<Vec<String>>,
    /// Columns to return of the changed rows (`*` for all), instead of their keys or number.
    pub returning: Option<Vec<String>>,
    /// Entity tag that the row must still have.
    pub if_match: Option<String>,
    /// Whether the change fails for a row that does not exist or that the caller may not change; otherwise such a row
    /// is ignored.
    pub must_exist: bool,
    /// Whether unknown columns are errors instead of being ignored.
    pub strict: bool,
}

impl Change {
    /// Creates a change of `table` with default settings.
    #[must_use]
    pub fn new(kind: ChangeKind, table: impl Into<String>) -> Self {
        Self {
            kind,
            table: table.into(),
            keys: Vec::new(),
            exact_keys: false,
            keys_text: String::new(),
            filter: None,
            affected_max: None,
            records: Vec::new(),
            batch: false,
            include: None,
            exclude: None,
            returning: None,
            if_match: None,
            must_exist: false,
            strict: false,
        }
    }
}

/// Bulk load of rows from a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Table.
    pub table: String,
    /// Whether rows are only validated, and none is kept.
    pub dry_run: bool,
    /// Whether good rows are kept when some are bad; otherwise one bad row rolls back all.
    pub keep_good: bool,
    /// Whether the columns of an existing row with the same key are set.
    pub upsert: bool,
    /// Text encoding of bytes in the rows.
    pub bytes: BytesText,
}

/// Text encoding of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BytesText {
    /// Base64 (RFC 4648), as everywhere at `/api/records`.
    #[default]
    Base64,
    /// Hexadecimal digits, as in exports.
    Hexadecimal,
}

/// Result of a load.
#[derive(Debug, Default)]
pub struct LoadReport {
    /// Number of rows read.
    pub read: u64,
    /// Number of rows loaded into the table.
    pub loaded: u64,
    /// Number of rows refused.
    pub refused: u64,
    /// First refused rows, with the reasons.
    pub problems: Vec<RowProblem>,
}

/// Refused row.
#[derive(Debug)]
pub struct RowProblem {
    /// Number of the row, from 1.
    pub row: u64,
    /// Reason.
    pub error: Error,
}
