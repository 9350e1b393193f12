//! How the value of an order is taken into a token and compared when it comes back: whatever its type, the database
//! gets the very value again that it sorted by.

use salver_model::records::{ColumnInfo, ColumnKind};

use super::operand::{Around, Operand};
use crate::dialect::{Dialect, Sql, push_decimal};
use crate::statement::Bind;

/// Characters, or bytes, of a long text that MySQL surely sorts by: it takes no more than 1,024 bytes of each.
const SORTED_LENGTH: u32 = 255;
const LONG: (&str, &str) = ("LEFT(", ", 255)");

/// The form of a column's values in tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    /// Around what is sorted by, where the database sorts by something else than it compares.
    pub(crate) sorted: Around,
    /// Around that, so that the driver hands it over without loss.
    pub(crate) fetched: Around,
    /// As what the driver hands it over.
    pub(crate) kind: ColumnKind,
    /// Around the placeholder of a value.
    place: Around,
}

const BARE: Around = ("", "");

impl Mark {
    pub(crate) fn of(dialect: Dialect, column: &ColumnInfo) -> Self {
        match dialect {
            // It compares what is stored, of whatever type.
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

/// Every type's text is read again as the same value, and a placeholder has the type it is compared with.
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
    // An enumeration is sorted by its numbers and compared by its words; years of two digits are completed.
    if is(&["enum", "set(", "year", "bit"]) {
        return Mark { sorted: ("CAST(", " AS UNSIGNED)"), place: ("CAST(", " AS UNSIGNED)"), ..number };
    }
    let is_long = column.length.is_none_or(|length| length > SORTED_LENGTH);
    match column.kind {
        // A truth may be any small number.
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
