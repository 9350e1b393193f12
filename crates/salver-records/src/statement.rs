//! Statements for a database: SQL text with placeholders, and bound values.

use std::fmt;
use std::sync::Arc;

use salver_model::records::ColumnKind;
use salver_model::{Error, Result};

use crate::cell::OwnedCell;

/// A value for a placeholder, already converted for its column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Bind {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Text, also of decimals, dates, UUIDs, JSON, well-known text.
    Text(String),
    Bytes(Vec<u8>),
    /// A cell of the first row that an earlier step returned.
    Back {
        step: usize,
        column: usize,
    },
    /// The auto-increment value of the row that an earlier step inserted.
    BackKey {
        step: usize,
    },
    /// A cell of the first row that an earlier step returned, if it returned one.
    BackOr {
        step: usize,
        column: usize,
        otherwise: Box<Bind>,
    },
}

impl Bind {
    /// Returns the latest step to whose result it refers.
    pub(crate) fn refers_to(&self) -> Option<usize> {
        match self {
            Self::Back { step, .. } | Self::BackKey { step } => Some(*step),
            Self::BackOr { step, otherwise, .. } => otherwise.refers_to().max(Some(*step)),
            _ => None,
        }
    }
}

/// One statement that reads. Placeholders are written in the dialect (`?` or `$1`, always in the order of `binds`).
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) sql: Arc<str>,
    pub(crate) binds: Vec<Bind>,
    /// The kinds of the result's columns, in order, which tell a driver how to decode them: `Integer` and `BigInt` as
    /// `Int` or `UInt`, `Boolean` as `Bool`, `Float` as `Single`, `Double` as `Float`, `Varbinary` and `Blob` as
    /// `Bytes`, all others as `Text`. SQLite returns what is stored, since it may store anything anywhere, except that
    /// a `Boolean` column's integer becomes `Bool`.
    pub(crate) kinds: Arc<[ColumnKind]>,
    /// Whether it finds one row, or a few, by a unique key, and so may run at once or pipelined on a shared connection.
    pub(crate) point: bool,
}

/// The result that a step of a program returns.
#[derive(Clone, Debug)]
pub(crate) enum Returns {
    /// The number of rows it affected (in MySQL: matched, also when nothing changed).
    Count,
    /// The number of rows, and the auto-increment value of the new row.
    Key,
    /// The rows of its result, whose columns have these kinds (a select, or `RETURNING`).
    Rows(Arc<[ColumnKind]>),
}

/// The result of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Done {
    pub(crate) affected: u64,
    /// The auto-increment value of the new row, if it was requested and there is one.
    pub(crate) key: Option<i64>,
    pub(crate) rows: Vec<Vec<OwnedCell>>,
}

/// Checks the result of a step; an error rolls the program back.
pub(crate) type Check = Box<dyn Fn(&Done) -> Result<()> + Send + Sync>;

/// One statement of a program.
pub(crate) struct ProgramStep {
    pub(crate) sql: Arc<str>,
    pub(crate) binds: Vec<Bind>,
    pub(crate) returns: Returns,
    pub(crate) check: Option<Check>,
}

impl fmt::Debug for ProgramStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramStep").field("sql", &self.sql).field("binds", &self.binds).finish_non_exhaustive()
    }
}

/// Statements that change rows, in one transaction: all of them are kept or none.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) steps: Vec<ProgramStep>,
    /// Whether the remaining steps are tried after a failure, each by itself (in PostgreSQL behind a savepoint), so
    /// that each has its own result; the program is rolled back all the same. Steps that refer back to a failed one
    /// fail.
    pub(crate) try_all: bool,
    /// Whether to roll back at the end, also on success.
    pub(crate) dry_run: bool,
}

/// The outcome of a program. An `Err` of the backend itself means that nothing was kept, unless its code is
/// `DatabaseUnavailable` and its message says that the outcome is unknown.
#[derive(Debug)]
pub(crate) struct ProgramOutcome {
    /// One for each step, in order; without `try_all` up to the first failure.
    pub(crate) steps: Vec<std::result::Result<Done, Error>>,
    /// Whether everything is committed, as durably as the database does it.
    pub(crate) committed: bool,
}

/// A bulk load into one table; rows have their values in the order of `columns`.
#[derive(Clone, Debug)]
pub(crate) struct BulkLoad {
    /// The table's real name.
    pub(crate) table: String,
    /// Real names of the columns, and their kinds.
    pub(crate) columns: Vec<(String, ColumnKind)>,
    /// The insert of one row, for systems that load by statements and for finding the bad rows of a failed piece.
    pub(crate) insert: Arc<str>,
    pub(crate) dry_run: bool,
    /// Whether to keep good rows when some are bad.
    pub(crate) keep_good: bool,
    /// Whether the statement is an upsert, for which a plain copy is no substitute.
    pub(crate) upsert: bool,
}

/// The result of a load: the number of rows kept, and each rejected row's number from 0 with its error (the first
/// [`salver_model::limits::LOAD_PROBLEMS_MAX`] of them).
#[derive(Debug, Default)]
pub(crate) struct Loaded {
    pub(crate) kept: u64,
    pub(crate) refused: u64,
    pub(crate) problems: Vec<(u64, Error)>,
}
