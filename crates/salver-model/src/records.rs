//! Requests for the tables of a database: rows by key or condition with related rows joined, and changes.
//!
//! The vocabulary is that of TreeQL, the language of PHP-CRUD-API (<https://www.treeql.org>), with Salver's extensions.
//! Names are the public ones, after the database entry's `mapping`; the backend validates them.

pub mod change;
pub mod definition;
pub mod document;
pub mod read;
pub mod schema;

pub use change::{BytesText, Change, ChangeKind, Field, Load, LoadReport, Record, RowProblem};
pub use definition::{ColumnDefinition, Definition, TableDefinition};
pub use document::{Changed, Document, DocumentBody, DocumentStream};
pub use read::{
    Area, Child, Condition, GeoQuery, ListPage, Operator, Order, RecordAggregate, RecordKey, RecordQuery, RecordRead,
    Spatial,
};
pub use schema::{ColumnInfo, ColumnKind, DatabaseSchema, ForeignKey, TableInfo, TableKind};

/// Operation on a table; rules can be given for some of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// List rows by condition.
    List,
    /// Read rows by key.
    Read,
    /// Insert rows.
    Create,
    /// Update rows.
    Update,
    /// Add numbers to columns.
    Increment,
    /// Delete rows.
    Delete,
    /// Read the schema.
    Reflect,
    /// Change the schema.
    Remodel,
    /// Describe the table, as in OpenAPI.
    Document,
}

impl Operation {
    /// Every operation with its word in settings.
    pub const ALL: [(&'static str, Self); 9] = [
        ("list", Self::List),
        ("read", Self::Read),
        ("create", Self::Create),
        ("update", Self::Update),
        ("increment", Self::Increment),
        ("delete", Self::Delete),
        ("reflect", Self::Reflect),
        ("remodel", Self::Remodel),
        ("document", Self::Document),
    ];

    /// Returns the operation called `word`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == word).map(|(_, operation)| *operation)
    }

    /// Returns whether it changes rows.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Increment | Self::Delete)
    }
}
