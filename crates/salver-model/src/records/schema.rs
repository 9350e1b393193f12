//! The schema of a database, as reflected from it and renamed by the entry's `mapping`.

use ahash::AHashMap;

/// Kind of a column: the types of PHP-CRUD-API, and those it has no word for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnKind {
    /// Text of bounded length.
    Varchar,
    /// Text.
    Clob,
    /// `true` or `false`.
    Boolean,
    /// 32 bits.
    Integer,
    /// 64 bits.
    BigInt,
    /// 32 bits.
    Float,
    /// 64 bits.
    Double,
    /// Exact decimal; text in JSON.
    Decimal,
    /// A day.
    Date,
    /// A time of day.
    Time,
    /// A day and time.
    Timestamp,
    /// Bytes of bounded length.
    Varbinary,
    /// Bytes.
    Blob,
    /// A geometry; well-known text in JSON.
    Geometry,
    /// JSON; `clob` in the public schema.
    Json,
    /// A UUID; `varchar` in the public schema.
    Uuid,
}

impl ColumnKind {
    /// Returns its word in the `/columns` door.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Varchar | Self::Uuid => "varchar",
            Self::Clob | Self::Json => "clob",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::BigInt => "bigint",
            Self::Float => "float",
            Self::Double => "double",
            Self::Decimal => "decimal",
            Self::Date => "date",
            Self::Time => "time",
            Self::Timestamp => "timestamp",
            Self::Varbinary => "varbinary",
            Self::Blob => "blob",
            Self::Geometry => "geometry",
        }
    }

    /// Returns whether text search includes it.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Varchar | Self::Clob)
    }

    /// Returns whether it holds bytes, base64 in JSON.
    #[must_use]
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Varbinary | Self::Blob)
    }

    /// Returns whether it holds numbers that can be incremented.
    #[must_use]
    pub fn is_numeric(self) -> bool {
        matches!(self, Self::Integer | Self::BigInt | Self::Float | Self::Double | Self::Decimal)
    }
}

/// Column of a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnInfo {
    /// Public name.
    pub name: String,
    /// Name in the database.
    pub real_name: String,
    /// Kind of the column.
    pub kind: ColumnKind,
    /// Type in the database's own words, like `character varying(255)`.
    pub native: String,
    /// Underlying type, if the column's type is a domain.
    pub base: Option<String>,
    /// Type to which its values and their operands are cast in comparisons. PostgreSQL finds the operators of a domain
    /// over an enumeration, and of a composite type, only with this cast.
    pub compared: Option<String>,
    /// Length in characters or bytes, for bounded kinds.
    pub length: Option<u32>,
    /// Number of digits, for decimals.
    pub precision: Option<u32>,
    /// Number of digits behind the point, for decimals.
    pub scale: Option<u32>,
    /// Whether it is nullable.
    pub nullable: bool,
    /// Whether it has a default value.
    pub has_default: bool,
    /// Whether the database numbers new rows in it.
    pub auto_increment: bool,
    /// Whether it is computed and not writable.
    pub generated: bool,
    /// Whether the database can sort its values; it cannot for some types, like PostgreSQL's `json` and `point`.
    pub ordered: bool,
    /// Labels of an enumeration, or of a MySQL set, whose values are lists of them; empty for other columns.
    pub words: Vec<String>,
    /// Comment in the database.
    pub comment: Option<String>,
}

impl ColumnInfo {
    /// Returns its type in the database's own words; for a domain the underlying type.
    #[must_use]
    pub fn own_type(&self) -> &str {
        self.base.as_deref().unwrap_or(&self.native)
    }
}

/// Kind of a table: stored or computed rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableKind {
    /// A table.
    Table,
    /// A view.
    View,
}

/// Foreign key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ForeignKey {
    /// Name of the constraint in the database; empty if it has none.
    pub constraint: String,
    /// Indexes of its columns in this table.
    pub columns: Vec<usize>,
    /// Public name of the referenced table.
    pub target: String,
    /// Public names of the referenced columns; as many as `columns`.
    pub target_columns: Vec<String>,
}

/// Table or view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableInfo {
    /// Public name.
    pub name: String,
    /// Name in the database.
    pub real_name: String,
    /// Kind of the table.
    pub kind: TableKind,
    /// Columns in order.
    pub columns: Vec<ColumnInfo>,
    /// Indexes of the primary key's columns, in the key's order; for a view, of the column `id` if there is one.
    pub key: Vec<usize>,
    /// Whether the key is only assumed, and the database does not keep it unique: that of a view, and in PostgreSQL of
    /// a table that others inherit from. It carries no cursor.
    pub key_assumed: bool,
    /// Foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Unique keys beside the primary key, as indexes of columns.
    pub unique: Vec<Vec<usize>>,
    /// Whether the database may store other values than a change has: by a trigger, in a table behind a view, or in one
    /// that inherits.
    pub has_triggers: bool,
    /// Comment in the database.
    pub comment: Option<String>,
}

impl TableInfo {
    /// Returns the index of the column with the public name `name`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the key's column, if it has exactly one.
    #[must_use]
    pub fn single_key(&self) -> Option<usize> {
        match self.key.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }
}

/// Schema of a database.
#[derive(Clone, Debug, Default)]
pub struct DatabaseSchema {
    tables: Vec<TableInfo>,
    index: AHashMap<String, usize>,
    stamp: u64,
}

impl DatabaseSchema {
    /// Creates a schema of `tables`; `stamp` changes whenever anything in it does.
    #[must_use]
    pub fn new(tables: Vec<TableInfo>, stamp: u64) -> Self {
        let index = tables.iter().enumerate().map(|(index, table)| (table.name.clone(), index)).collect();
        Self { tables, index, stamp }
    }

    /// Returns every table and view, by name.
    #[must_use]
    pub fn tables(&self) -> &[TableInfo] {
        &self.tables
    }

    /// Returns the table with the public name `name`.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&TableInfo> {
        self.position(name).map(|index| &self.tables[index])
    }

    /// Returns the index of the table called `name`.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Returns a stamp that changes whenever anything in the schema does.
    #[must_use]
    pub fn stamp(&self) -> u64 {
        self.stamp
    }
}
