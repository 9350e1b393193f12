//! The schema of a database, as reflected from it and renamed by the entry's `mapping`.

use ahash::AHashMap;

/// Kinds of columns: the types of PHP-CRUD-API, and those it has no word for.
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
    /// JSON; `clob` to the outside.
    Json,
    /// A UUID; `varchar` to the outside.
    Uuid,
}

impl ColumnKind {
    /// The word the `/columns` door has for it.
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

    /// Whether text search looks into it.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Varchar | Self::Clob)
    }

    /// Whether it holds bytes, base64 in JSON.
    #[must_use]
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Varbinary | Self::Blob)
    }

    /// Whether it holds numbers that can be added to.
    #[must_use]
    pub fn is_numeric(self) -> bool {
        matches!(self, Self::Integer | Self::BigInt | Self::Float | Self::Double | Self::Decimal)
    }
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ColumnInfo {
    /// Its name to the outside.
    pub name: String,
    /// Its name in the database.
    pub real_name: String,
    /// Its kind.
    pub kind: ColumnKind,
    /// Its type as the database calls it, like `character varying(255)`.
    pub native: String,
    /// The type below it, of a column whose type is a domain over another.
    pub base: Option<String>,
    /// The type that its values, and what they are compared with, are to be taken for; PostgreSQL finds the operators
    /// of a domain over an enumeration, and of a composite type, only so.
    pub compared: Option<String>,
    /// Characters or bytes, for bounded kinds.
    pub length: Option<u32>,
    /// Digits, for decimals.
    pub precision: Option<u32>,
    /// Digits behind the point, for decimals.
    pub scale: Option<u32>,
    /// Whether it may be null.
    pub nullable: bool,
    /// Whether it gets a value when none is given.
    pub has_default: bool,
    /// Whether the database numbers new rows in it.
    pub auto_increment: bool,
    /// Whether it is computed, so that it can't be written.
    pub generated: bool,
    /// Whether the database puts its values in an order; those of some types, like PostgreSQL's `json` and `point`, it
    /// does not.
    pub ordered: bool,
    /// The words of an enumeration, or of a MySQL set, whose values are lists of them; empty for other columns.
    pub words: Vec<String>,
    /// The comment.
    pub comment: Option<String>,
}

impl ColumnInfo {
    /// What its type is, in the words of the database: a domain is the type below it.
    #[must_use]
    pub fn own_type(&self) -> &str {
        self.base.as_deref().unwrap_or(&self.native)
    }
}

/// Whether rows lie there or are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TableKind {
    /// A table.
    Table,
    /// A view.
    View,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ForeignKey {
    /// The constraint's name in the database; empty where it has none.
    pub constraint: String,
    /// Columns here, as indexes.
    pub columns: Vec<usize>,
    /// The table there, by its name to the outside.
    pub target: String,
    /// Columns there, by their names to the outside; as many as `columns`.
    pub target_columns: Vec<String>,
}

/// One table or view.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableInfo {
    /// Its name to the outside.
    pub name: String,
    /// Its name in the database.
    pub real_name: String,
    /// Table or view.
    pub kind: TableKind,
    /// Its columns in order.
    pub columns: Vec<ColumnInfo>,
    /// The primary key's columns, as indexes in the key's order; of a view, the column `id` when there is one.
    pub key: Vec<usize>,
    /// Foreign keys.
    pub foreign_keys: Vec<ForeignKey>,
    /// Unique keys beside the primary key, as indexes of columns.
    pub unique: Vec<Vec<usize>>,
    /// The comment.
    pub comment: Option<String>,
}

impl TableInfo {
    /// The index of the column called `name` to the outside.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The key's only column, when it has just one.
    #[must_use]
    pub fn single_key(&self) -> Option<usize> {
        match self.key.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }
}

/// The schema of a database.
#[derive(Clone, Debug, Default)]
pub struct DatabaseSchema {
    tables: Vec<TableInfo>,
    index: AHashMap<String, usize>,
    stamp: u64,
}

impl DatabaseSchema {
    /// A schema of `tables`; `stamp` differs when anything in it does.
    #[must_use]
    pub fn new(tables: Vec<TableInfo>, stamp: u64) -> Self {
        let index = tables.iter().enumerate().map(|(index, table)| (table.name.clone(), index)).collect();
        Self { tables, index, stamp }
    }

    /// Every table and view, by name.
    #[must_use]
    pub fn tables(&self) -> &[TableInfo] {
        &self.tables
    }

    /// The table called `name` to the outside.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&TableInfo> {
        self.position(name).map(|index| &self.tables[index])
    }

    /// The index of the table called `name`.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Differs when anything in the schema does.
    #[must_use]
    pub fn stamp(&self) -> u64 {
        self.stamp
    }
}
