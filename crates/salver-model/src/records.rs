//! What a door asks of the tables of a database: rows by key or condition with related rows joined in, and changes.
//!
//! The words are those of TreeQL, the language of PHP-CRUD-API (<https://www.treeql.org>), and Salver's extensions of
//! it. Names are those the outside knows, after the database entry's `mapping`; the backend proves them.

pub mod change;
pub mod definition;
pub mod document;
pub mod number;
pub mod read;
pub mod schema;

pub use change::{BytesText, Change, ChangeKind, Field, Load, LoadReport, Record, RowProblem};
pub use definition::{ColumnDefinition, Definition, TableDefinition};
pub use document::{Document, DocumentBody, DocumentStream};
pub use number::{treeql_code, treeql_message};
pub use read::{
    Area, Child, Condition, GeoQuery, Operator, Order, Page, RecordAggregate, RecordKey, RecordQuery, Spatial,
};
pub use schema::{ColumnInfo, ColumnKind, DatabaseSchema, ForeignKey, TableInfo, TableKind};

/// What is done to a table; rules are given for some of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Rows by condition.
    List,
    /// Rows by key.
    Read,
    /// New rows.
    Create,
    /// Changed rows.
    Update,
    /// Numbers added to columns.
    Increment,
    /// Rows taken away.
    Delete,
    /// The schema is shown.
    Reflect,
    /// The schema is changed.
    Remodel,
    /// The table is described, as in OpenAPI.
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

    /// The operation called `word`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == word).map(|(_, operation)| *operation)
    }

    /// Whether rows are changed.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Create | Self::Update | Self::Increment | Self::Delete)
    }
}
