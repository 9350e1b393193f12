//! Schema changes, as requested through the `/columns` door.

/// Column as defined by a client; `None` means not specified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Name of the column.
    pub name: Option<String>,
    /// Type, in the words of [`crate::records::ColumnKind::word`].
    pub kind: Option<String>,
    /// Length in characters or bytes.
    pub length: Option<u32>,
    /// Number of digits.
    pub precision: Option<u32>,
    /// Number of digits behind the point.
    pub scale: Option<u32>,
    /// Whether it is nullable.
    pub nullable: Option<bool>,
    /// Whether it is the primary key.
    pub pk: Option<bool>,
    /// Table it references; empty for none.
    pub fk: Option<String>,
}

/// Table as defined by a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableDefinition {
    /// Name of the table.
    pub name: Option<String>,
    /// Columns of the table.
    pub columns: Vec<ColumnDefinition>,
}

/// Schema change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Create a table.
    CreateTable(TableDefinition),
    /// Rename a table.
    UpdateTable {
        /// Table.
        table: String,
        /// New definition.
        to: TableDefinition,
    },
    /// Drop a table.
    DropTable {
        /// Table.
        table: String,
    },
    /// Create a column.
    CreateColumn {
        /// Table.
        table: String,
        /// Definition of the column.
        column: ColumnDefinition,
    },
    /// Change a column.
    UpdateColumn {
        /// Table.
        table: String,
        /// Column.
        column: String,
        /// New definition; unspecified properties are unchanged.
        to: ColumnDefinition,
    },
    /// Drop a column.
    DropColumn {
        /// Table.
        table: String,
        /// Column.
        column: String,
    },
}
