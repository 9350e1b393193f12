//! The select expression of a column, chosen so that its value has the same JSON form on every system.

use salver_model::Comparison;
use salver_model::records::{ColumnInfo, ColumnKind};

use super::Dialect;
use crate::dialect::Sql;

impl Dialect {
    /// Appends the select expression of the column, from the table called `alias`; an empty alias means none.
    pub(crate) fn select(self, column: &ColumnInfo, alias: &str, sql: &mut Sql) {
        let form = self.selected(column);
        sql.push(form.0);
        self.reference(column, alias, &mut sql.text);
        sql.push(form.1);
    }

    /// Appends `alias."column"`.
    pub(crate) fn reference(self, column: &ColumnInfo, alias: &str, text: &mut String) {
        if !alias.is_empty() {
            text.push_str(alias);
            text.push('.');
        }
        self.name(&column.real_name, text);
    }

    /// Returns the text before and after an expression of the column's type in a select list.
    pub(crate) fn selected(self, column: &ColumnInfo) -> (&'static str, &'static str) {
        match (self, column.kind) {
            (Self::Postgres | Self::Mysql, ColumnKind::Geometry) => ("ST_AsText(", ")"),
            (Self::Postgres, _) => ("", postgres_cast(column)),
            _ => ("", ""),
        }
    }

    /// Returns whether the column's own type compares with text; else its text form does.
    pub(crate) fn is_plain_text(self, column: &ColumnInfo) -> bool {
        const TEXT: [&str; 6] = ["text", "character varying", "character", "name", "citext", "bpchar"];
        self != Self::Postgres || TEXT.contains(&type_name(column.own_type()))
    }

    /// Returns the tests for null and for not null of the column.
    pub(crate) fn null_tests(self, column: &ColumnInfo) -> [&'static str; 2] {
        let is_text = matches!(column.kind, ColumnKind::Varchar | ColumnKind::Clob);
        null_tests(is_text && !self.is_plain_text(column))
    }

    /// Returns whether times in the column are texts, of which two notations of one time are different values.
    pub(crate) fn keeps_notation(self, column: &ColumnInfo) -> bool {
        self == Self::Sqlite && matches!(column.kind, ColumnKind::Date | ColumnKind::Time | ColumnKind::Timestamp)
    }

    /// Returns whether it is MySQL's `year`, which takes numbers below a hundred for years of two digits.
    pub(crate) fn is_year(self, column: &ColumnInfo) -> bool {
        self == Self::Mysql && column.native.starts_with("year")
    }

    /// Returns whether the column stores a time zone; moments in other columns are UTC.
    pub(crate) fn has_zone(self, column: &ColumnInfo) -> bool {
        let native = column.own_type();
        self == Self::Postgres && (native.contains("with time zone") || native.ends_with("tz"))
    }
}

/// Returns the sign of a comparison, with a blank on each side.
pub(crate) fn sign(op: Comparison) -> &'static str {
    match op {
        Comparison::Eq => " = ",
        Comparison::NotEq => " <> ",
        Comparison::Lt => " < ",
        Comparison::LtEq => " <= ",
        Comparison::Gt => " > ",
        Comparison::GtEq => " >= ",
    }
}

/// Returns the tests for null and for not null. To PostgreSQL a row of nulls is null too, though it is shown and sorted
/// as a value; an index helps only where composite values are impossible.
pub(crate) fn null_tests(may_be_row: bool) -> [&'static str; 2] {
    if may_be_row { [" IS NOT DISTINCT FROM NULL", " IS DISTINCT FROM NULL"] } else { [" IS NULL", " IS NOT NULL"] }
}

/// Returns the type's name without modifiers in parentheses; an array is a type of its own.
pub(crate) fn type_name(native: &str) -> &str {
    if native.ends_with("[]") { native } else { native.split('(').next().unwrap_or(native).trim_end() }
}

/// Returns the cast from a PostgreSQL type to one that the driver reads.
fn postgres_cast(column: &ColumnInfo) -> &'static str {
    match (column.kind, type_name(column.own_type())) {
        (ColumnKind::Integer | ColumnKind::BigInt, "smallint" | "integer" | "bigint")
        | (ColumnKind::Float, "real")
        | (ColumnKind::Double, "double precision")
        | (ColumnKind::Boolean, "boolean")
        | (ColumnKind::Varbinary | ColumnKind::Blob, "bytea")
        | (ColumnKind::Varchar | ColumnKind::Clob, "text" | "character varying") => "",
        (ColumnKind::Integer | ColumnKind::BigInt, _) => "::bigint",
        (ColumnKind::Float, _) => "::real",
        (ColumnKind::Double, _) => "::double precision",
        (ColumnKind::Boolean, _) => "::text::boolean",
        (ColumnKind::Varbinary | ColumnKind::Blob, _) => "::text::bytea",
        (ColumnKind::Decimal, "money") => "::numeric::text",
        _ => "::text",
    }
}
