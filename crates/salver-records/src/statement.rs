//! Statements on their way into a database: text with placeholders, and values.

use std::fmt;
use std::sync::Arc;

use salver_model::records::ColumnKind;
use salver_model::{Error, Result};

use crate::cell::OwnedCell;

/// A value for a placeholder, already fit for its column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bind {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Text, also of decimals, dates, UUIDs, JSON, well-known text.
    Text(String),
    Bytes(Vec<u8>),
    /// A cell of the first row an earlier step answered.
    Back {
        step: usize,
        column: usize,
    },
    /// The number the database gave the row an earlier step made.
    BackKey {
        step: usize,
    },
}

/// One statement that reads. Placeholders are written in the dialect (`?` or `$1`, always in the order of `binds`).
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) sql: Arc<str>,
    pub(crate) binds: Vec<Bind>,
    /// The kinds of the columns of the answer, in order, so that a driver knows how to hand them over: `Integer` and
    /// `BigInt` as `Int` or `UInt`, `Boolean` as `Bool`, `Float` as `Single`, `Double` as `Float`, `Varbinary` and
    /// `Blob` as `Bytes`, all others as `Text`. SQLite hands over what is stored, since it may store anything
    /// anywhere, except that a `Boolean` column's integer becomes `Bool`.
    pub(crate) kinds: Arc<[ColumnKind]>,
    /// It finds one row, or a few, by a unique key, so that it is fit to be answered at once or behind others on a
    /// shared connection.
    pub(crate) point: bool,
}

/// What a step of a program answers.
#[derive(Clone, Debug)]
pub(crate) enum Returns {
    /// How many rows it touched (in MySQL: matched, also when nothing changed).
    Count,
    /// How many, and the number the database gave the new row.
    Key,
    /// The rows of its answer, whose columns have these kinds (a select, or `RETURNING`).
    Rows(Arc<[ColumnKind]>),
}

/// What a step did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Done {
    pub(crate) affected: u64,
    /// What the database numbered the new row, when that was asked for and it did.
    pub(crate) key: Option<i64>,
    pub(crate) rows: Vec<Vec<OwnedCell>>,
}

/// Looks at what a step did, and undoes the program with its error.
pub(crate) type Check = Box<dyn Fn(&Done) -> Result<()> + Send + Sync>;

/// One statement of a program.
pub(crate) struct Step {
    pub(crate) sql: Arc<str>,
    pub(crate) binds: Vec<Bind>,
    pub(crate) returns: Returns,
    pub(crate) check: Option<Check>,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Step").field("sql", &self.sql).field("binds", &self.binds).finish_non_exhaustive()
    }
}

/// Statements that change rows, in one transaction: all of them stay or none.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    /// After a failure the steps left over are tried too, each by itself (in PostgreSQL behind a savepoint), so that
    /// every one has its own result; the whole is undone all the same. Steps that refer back to a failed one fail.
    pub(crate) try_all: bool,
    /// Undo everything at the end, also when all went well.
    pub(crate) dry_run: bool,
}

/// What became of a program. An `Err` of the backend itself means that nothing is known to have happened but that
/// nothing was kept, unless its code is `DatabaseUnavailable` and its message says that the outcome is unknown.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// One for each step, in order; without `try_all` up to the first failure.
    pub(crate) steps: Vec<std::result::Result<Done, Error>>,
    /// Whether everything is in the database, as durable as it makes things.
    pub(crate) committed: bool,
}

/// Many rows for one table, in columns order.
#[derive(Clone, Debug)]
pub(crate) struct BulkLoad {
    /// The table's real name.
    pub(crate) table: String,
    /// Real names of the columns, and their kinds.
    pub(crate) columns: Vec<(String, ColumnKind)>,
    /// The insert of one row, for systems that load by statements and for finding the bad rows of a failed piece.
    pub(crate) insert: Arc<str>,
    pub(crate) dry_run: bool,
    /// Keep good rows when some are bad.
    pub(crate) keep_good: bool,
    /// The statement is an upsert, so that a bare copy is not the same.
    pub(crate) upsert: bool,
}

/// What became of a load: rows kept, and each refused row's number from 0 with its error (the first
/// [`salver_model::limits::LOAD_PROBLEMS_MAX`] of them).
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) kept: u64,
    pub(crate) refused: u64,
    pub(crate) problems: Vec<(u64, Error)>,
}
