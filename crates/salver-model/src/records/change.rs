//! Changing records.

use crate::error::Error;
use crate::records::read::{Condition, RecordKey};

/// One value of a record on its way in, as it was written: nothing is rounded before the column's type is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// Null.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, its digits as they came.
    Number(String),
    /// Text.
    Text(String),
    /// An object or array, as JSON text.
    Json(String),
    /// A column of what an earlier change of the same transaction made (Salver's extension).
    Back {
        /// Which change, from 0.
        change: usize,
        /// Which column of its first row.
        column: String,
    },
}

/// One record on its way in: columns by name, in the order they came.
pub type Record = Vec<(String, Field)>;

/// What kind of change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// New rows.
    Create,
    /// Columns set.
    Update,
    /// Numbers added to columns.
    Increment,
    /// Rows taken away.
    Delete,
    /// New rows, or columns set where a row with the same key exists (Salver's extension).
    Upsert {
        /// The columns of a unique key; empty for the primary key.
        on: Vec<String>,
        /// Leave an existing row as it is.
        ignore: bool,
    },
}

/// One change of one table. All rows of it change or none does.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What kind.
    pub kind: ChangeKind,
    /// The table.
    pub table: String,
    /// Which rows by primary key; as many as `records` unless the change is by condition.
    pub keys: Vec<RecordKey>,
    /// Whether keys are compared by their bytes, and not as the database compares them.
    pub exact_keys: bool,
    /// The keys as they stood in the request, for messages.
    pub keys_text: String,
    /// Which rows by condition (Salver's extension), only with `affected_max`.
    pub filter: Option<Condition>,
    /// More rows than these are not changed: the change fails whole.
    pub affected_max: Option<u64>,
    /// The values.
    pub records: Vec<Record>,
    /// Whether the answer is an array: the request's body was one, or it named several keys.
    pub batch: bool,
    /// Columns that may be written, in the words of [`crate::records::RecordQuery`].
    pub include: Option<Vec<String>>,
    /// Columns that may not.
    pub exclude: Option<Vec<String>>,
    /// The changed rows are answered, with these columns (`*` for all), not their keys or number.
    pub returning: Option<Vec<String>>,
    /// The entity tag the row must still have.
    pub if_match: Option<String>,
    /// Whether a row that is not there, or not the caller's to change, fails the change; else nothing happens to it.
    pub must_exist: bool,
    /// Whether unknown columns are errors, not silence.
    pub strict: bool,
}

impl Change {
    /// A change of `table` with nothing else said.
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

/// Many rows at once, as they arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// The table.
    pub table: String,
    /// Check every row, and keep none.
    pub dry_run: bool,
    /// Keep the good rows when some are bad; else one bad row undoes all.
    pub keep_good: bool,
    /// Where a row with the same key exists, set its columns.
    pub upsert: bool,
    /// How the rows write bytes.
    pub bytes: BytesText,
}

/// How bytes are written as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BytesText {
    /// In base64 (RFC 4648), as everywhere at `/api/records`.
    #[default]
    Base64,
    /// In hexadecimal digits, as in exports.
    Hexadecimal,
}

/// What became of a load.
#[derive(Debug, Default)]
pub struct LoadReport {
    /// Rows that were read.
    pub read: u64,
    /// Rows that are in the table now because of it.
    pub loaded: u64,
    /// Rows that were refused.
    pub refused: u64,
    /// The first of them, with why.
    pub problems: Vec<RowProblem>,
}

/// A row that was refused.
#[derive(Debug)]
pub struct RowProblem {
    /// Which row, from 1.
    pub row: u64,
    /// Why.
    pub error: Error,
}
