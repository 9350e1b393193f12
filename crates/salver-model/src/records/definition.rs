//! Changes of a database's schema: what the `/columns` door asks.

/// A column as a client describes it; what is `None` was not said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: Option<String>,
    /// Its type, in the words of [`crate::records::ColumnKind::word`].
    pub kind: Option<String>,
    /// Characters or bytes.
    pub length: Option<u32>,
    /// Digits.
    pub precision: Option<u32>,
    /// Digits behind the point.
    pub scale: Option<u32>,
    /// Whether it may be null.
    pub nullable: Option<bool>,
    /// Whether it is the primary key.
    pub pk: Option<bool>,
    /// The table it refers to; empty for none.
    pub fk: Option<String>,
}

/// A table as a client describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableDefinition {
    /// Its name.
    pub name: Option<String>,
    /// Its columns.
    pub columns: Vec<ColumnDefinition>,
}

/// One change of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// A new table.
    CreateTable(TableDefinition),
    /// A table gets another name.
    UpdateTable {
        /// The table.
        table: String,
        /// What it shall be.
        to: TableDefinition,
    },
    /// A table goes.
    DropTable {
        /// The table.
        table: String,
    },
    /// A new column.
    CreateColumn {
        /// The table.
        table: String,
        /// The column.
        column: ColumnDefinition,
    },
    /// A column becomes another.
    UpdateColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
        /// What it shall be; what is not said stays.
        to: ColumnDefinition,
    },
    /// A column goes.
    DropColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
}
