//! What the catalog can say about an entry.

use arrow::datatypes::SchemaRef;

use crate::name::Name;
use crate::version::Version;

/// The kinds of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Read-only rows from files.
    Dataset,
    /// A table or view of a database: rows that can change.
    Table,
    /// Events, append-only.
    Stream,
}

impl Kind {
    /// The word for it in messages and indexes.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Dataset => "dataset",
            Self::Table => "table",
            Self::Stream => "stream",
        }
    }
}

/// A declared link from columns of one entry to the key of another; GraphQL follows it in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The name of the field that follows the link.
    pub name: String,
    /// The columns here.
    pub columns: Vec<String>,
    /// The entry there.
    pub target: Name,
    /// The columns there, as many as `columns`.
    pub target_columns: Vec<String>,
}

/// What an entry is, as known without reading its rows.
#[derive(Clone, Debug)]
pub struct Description {
    /// Its name.
    pub name: Name,
    /// Its kind.
    pub kind: Kind,
    /// Its columns.
    pub schema: SchemaRef,
    /// The columns that identify a row; empty when none were declared.
    pub key: Vec<String>,
    /// Declared links to other entries.
    pub relations: Vec<Relation>,
    /// How many rows, where that is known without counting.
    pub rows: Option<u64>,
    /// Its content's version.
    pub version: Version,
    /// Where it comes from and where it is held, in words for people.
    pub source: String,
    /// Bytes it occupies in memory.
    pub memory_bytes: u64,
}
