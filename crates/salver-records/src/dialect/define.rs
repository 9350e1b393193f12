//! Types and constraints in each system's declaration syntax, from the public type names.

use salver_model::records::ColumnKind;

use super::Dialect;

/// A type to be declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    pub(crate) kind: ColumnKind,
    pub(crate) length: Option<u32>,
    pub(crate) precision: Option<u32>,
    pub(crate) scale: Option<u32>,
}

/// Defaults of bounded types, as in PHP-CRUD-API.
const LENGTH: u32 = 255;
const PRECISION: u32 = 19;
const SCALE: u32 = 4;

/// Every public type name, with its kind.
pub(crate) const WORDS: [(&str, ColumnKind); 14] = [
    ("varchar", ColumnKind::Varchar),
    ("clob", ColumnKind::Clob),
    ("boolean", ColumnKind::Boolean),
    ("integer", ColumnKind::Integer),
    ("bigint", ColumnKind::BigInt),
    ("float", ColumnKind::Float),
    ("double", ColumnKind::Double),
    ("decimal", ColumnKind::Decimal),
    ("date", ColumnKind::Date),
    ("time", ColumnKind::Time),
    ("timestamp", ColumnKind::Timestamp),
    ("varbinary", ColumnKind::Varbinary),
    ("blob", ColumnKind::Blob),
    ("geometry", ColumnKind::Geometry),
];

impl Dialect {
    /// Returns the declaration of a type.
    pub(crate) fn type_text(self, own: &Type) -> String {
        let word = match (self, own.kind) {
            (Self::Postgres, ColumnKind::Clob) => "text",
            (Self::Postgres, ColumnKind::Float) => "real",
            (Self::Postgres, ColumnKind::Double) => "double precision",
            (Self::Postgres, ColumnKind::Varbinary | ColumnKind::Blob) => return "bytea".to_owned(),
            (Self::Mysql, ColumnKind::Clob) => "longtext",
            (Self::Mysql, ColumnKind::Blob) => "longblob",
            (Self::Mysql, ColumnKind::Boolean) => "tinyint(1)",
            (Self::Mysql, ColumnKind::Timestamp) => "datetime",
            (_, ColumnKind::Json) => "json",
            (Self::Postgres, ColumnKind::Uuid) => "uuid",
            (_, ColumnKind::Uuid) => "char(36)",
            _ => own.kind.word(),
        };
        match own.kind {
            ColumnKind::Varchar | ColumnKind::Varbinary => format!("{word}({})", own.length.unwrap_or(LENGTH)),
            ColumnKind::Decimal => {
                let precision = own.precision.unwrap_or(PRECISION);
                // A scale beyond the precision is an error everywhere; the default scale must not cause it.
                format!("{word}({precision},{})", own.scale.unwrap_or(SCALE.min(precision)))
            }
            _ => word.to_owned(),
        }
    }

    /// Returns the value of existing rows in a new column that is not nullable, as a literal; `None` for kinds without
    /// such a value.
    pub(crate) fn neutral(self, kind: ColumnKind) -> Option<&'static str> {
        Some(match kind {
            ColumnKind::Boolean if self == Self::Postgres => "false",
            ColumnKind::Boolean
            | ColumnKind::Integer
            | ColumnKind::BigInt
            | ColumnKind::Float
            | ColumnKind::Double
            | ColumnKind::Decimal => "0",
            ColumnKind::Varchar | ColumnKind::Clob | ColumnKind::Varbinary | ColumnKind::Blob => "''",
            _ => return None,
        })
    }

    /// Quotes `text` as a literal. Only for names in PostgreSQL functions, which take them no other way.
    pub(crate) fn literal(text: &str) -> String {
        format!("'{}'", text.replace('\0', "").replace('\'', "''"))
    }

    /// Quotes a name.
    pub(crate) fn quoted(self, name: &str) -> String {
        let mut text = String::with_capacity(name.len() + 2);
        self.name(name, &mut text);
        text
    }
}
