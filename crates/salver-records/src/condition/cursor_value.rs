//! The encoding of an order's values in a cursor token: whatever their type, the database gets back the exact value
//! that it sorted by.

use salver_model::records::{ColumnInfo, ColumnKind};

use super::operand::{Around, Operand};
use crate::dialect::{Dialect, Sql, push_decimal};
use crate::statement::Bind;

/// Prefix, in characters or bytes, by which MySQL is sure to sort a long text: it uses no more than 1,024 bytes of
/// each.
const SORTED_LENGTH: u32 = 255;
const LONG: (&str, &str) = ("LEFT(", ", 255)");

/// The encoding of a column's values in tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// The text around the sorted expression, where the database sorts differently from how it compares.
    pub(crate) sorted: Around,
    /// The text around that, so that the driver returns it without loss.
    pub(crate) fetched: Around,
    /// The kind as which the driver returns it.
    pub(crate) kind: ColumnKind,
    /// The text around the placeholder of a value.
    place: Around,
}

const BARE: Around = ("", "");

impl Mark {
    pub(crate) fn of(dialect: Dialect, column: &ColumnInfo) -> Self {
        match dialect {
            // SQLite compares stored values of any type.
            Dialect::Sqlite => Self { sorted: BARE, fetched: BARE, kind: ColumnKind::Clob, place: BARE },
            Dialect::Postgres => of_postgres(column),
            Dialect::Mysql => of_mysql(column),
        }
    }

    /// Appends the placeholder of a value.
    pub(crate) fn push(&self, column: &ColumnInfo, bind: Bind, sql: &mut Sql) {
        if sql.dialect == Dialect::Mysql && column.kind == ColumnKind::Decimal {
            return push_decimal(bind, sql);
        }
        sql.push(self.place.0).bind(bind).push(self.place.1);
        if let Some(compared) = column.compared.as_deref().filter(|_| self.place == BARE) {
            sql.push("::").push(compared);
        }
    }
}

/// Returns the encoding for PostgreSQL: every type's text is parsed back to the same value, and a placeholder has the
/// type that it is compared with.
fn of_postgres(column: &ColumnInfo) -> Mark {
    let text = Mark { sorted: BARE, fetched: ("", "::text"), kind: ColumnKind::Clob, place: BARE };
    if Operand::column(Dialect::Postgres, column, "").as_text {
        return Mark { fetched: BARE, place: ("", "::text"), ..text };
    }
    match column.kind {
        ColumnKind::Integer | ColumnKind::BigInt => {
            let fetched = Dialect::Postgres.selected(column);
            Mark { sorted: BARE, fetched, kind: column.kind, place: ("", "::bigint") }
        }
        ColumnKind::Decimal if column.own_type() == "money" => {
            Mark { fetched: ("", "::numeric::text"), place: ("", "::numeric::money"), ..text }
        }
        _ => text,
    }
}

fn of_mysql(column: &ColumnInfo) -> Mark {
    let bare = Mark { sorted: BARE, fetched: BARE, kind: column.kind, place: BARE };
    let native = column.native.to_ascii_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| native.starts_with(word));
    let number = Mark { kind: ColumnKind::BigInt, ..bare };
    // An enumeration sorts by index and compares by label; MySQL expands years of two digits.
    if is(&["enum", "set(", "year", "bit"]) {
        return Mark { sorted: ("CAST(", " AS UNSIGNED)"), place: ("CAST(", " AS UNSIGNED)"), ..number };
    }
    let is_long = column.length.is_none_or(|length| length > SORTED_LENGTH);
    match column.kind {
        // A boolean may be any small number.
        ColumnKind::Boolean | ColumnKind::Integer => number,
        ColumnKind::BigInt if native.contains("unsigned") => Mark { place: ("CAST(", " AS UNSIGNED)"), ..number },
        ColumnKind::BigInt => number,
        ColumnKind::Float => Mark { sorted: ("CAST(", " AS DOUBLE)"), kind: ColumnKind::Double, ..bare },
        ColumnKind::Time => Mark { place: ("CAST(", " AS TIME(6))"), ..bare },
        ColumnKind::Geometry => Mark { sorted: ("LEFT(ST_AsText(", "), 255)"), kind: ColumnKind::Clob, ..bare },
        ColumnKind::Clob | ColumnKind::Json | ColumnKind::Blob => Mark { sorted: LONG, ..bare },
        ColumnKind::Varchar | ColumnKind::Varbinary if is_long && !is(&["inet"]) => Mark { sorted: LONG, ..bare },
        _ => bare,
    }
}
