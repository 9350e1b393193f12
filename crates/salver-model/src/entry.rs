//! Metadata of catalog entries.

use arrow::datatypes::SchemaRef;

use crate::name::Name;
use crate::version::Version;

/// Kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Read-only rows from files.
    Dataset,
    /// A table or view of a database: rows that can change.
    Table,
    /// Events, append-only.
    Stream,
    /// A view: rows that a statement over other entries gives.
    View,
}

impl EntryKind {
    /// Returns the word for it in messages and indexes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Dataset => "dataset",
            Self::Table => "table",
            Self::Stream => "stream",
            Self::View => "view",
        }
    }

    /// Returns whether rows that were read at a version can be read again at it, in the same order. Those of a database
    /// may be others by then, and those that a statement computes may come in another order.
    #[must_use]
    pub fn is_fixed(self) -> bool {
        matches!(self, Self::Dataset | Self::Stream)
    }
}

/// Declared relation from columns of one entry to the key of another; GraphQL follows it in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Name of the field that follows the relation.
    pub name: String,
    /// Columns of this entry.
    pub columns: Vec<String>,
    /// Target entry.
    pub target: Name,
    /// Columns of the target, as many as `columns`.
    pub target_columns: Vec<String>,
}

/// Metadata of an entry, known without reading its rows.
#[derive(Clone, Debug)]
pub struct Description {
    /// Name of the entry.
    pub name: Name,
    /// Kind of the entry.
    pub kind: EntryKind,
    /// Columns of the entry.
    pub schema: SchemaRef,
    /// Columns that identify a row; empty when none were declared.
    pub key: Vec<String>,
    /// Declared links to other entries.
    pub relations: Vec<Relation>,
    /// Number of rows, if known without counting.
    pub rows: Option<u64>,
    /// Version of the content.
    pub version: Version,
    /// Origin and residency, as text for people.
    pub source: String,
    /// Memory used, in bytes.
    pub memory_bytes: u64,
}
