//! The differences between the SQL of the three systems, as text; nothing here talks to a database.

mod average;
mod decimal;
pub(crate) mod define;
pub(crate) mod form;
pub(crate) mod like;
pub(crate) mod mask;
mod select;
pub(crate) mod spatial;
mod sql;
mod store;
mod upsert;

use salver_model::spec::DatabaseKind;

pub(crate) use average::Averaged;
pub(crate) use decimal::push_decimal;
pub(crate) use select::{null_tests, sign, type_name};
pub(crate) use sql::{Sql, chain};
pub(crate) use store::KEPT;

/// The SQL of one system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
    Mysql,
}

/// Returns whether a SQLite column of this declared type neither declares nor converts its values.
pub(crate) fn is_untyped(native: &str) -> bool {
    native.is_empty() || native.eq_ignore_ascii_case("any")
}

/// Returns whether a SQLite column of this declared type stores a text that is a number as that number, by the affinity
/// of the type (<https://sqlite.org/datatype3.html>, 3.1).
pub(crate) fn makes_numbers(native: &str) -> bool {
    let upper = native.to_ascii_uppercase();
    let has = |word: &str| upper.contains(word);
    has("INT") || !(is_untyped(native) || has("CHAR") || has("CLOB") || has("TEXT") || has("BLOB"))
}

impl Dialect {
    pub(crate) fn of(kind: DatabaseKind) -> Self {
        match kind {
            DatabaseKind::Sqlite => Self::Sqlite,
            DatabaseKind::Postgres => Self::Postgres,
            DatabaseKind::Mysql => Self::Mysql,
        }
    }

    /// Appends a quoted name. Every name that reaches SQL text goes through here, so that no name can end its quotes.
    pub(crate) fn name(self, name: &str, sql: &mut String) {
        let quote = if self == Self::Mysql { '`' } else { '"' };
        sql.push(quote);
        for c in name.chars() {
            if c == quote {
                sql.push(quote);
            }
            // No system allows NUL, and SQLite would end the text there.
            if c != '\0' {
                sql.push(c);
            }
        }
        sql.push(quote);
    }

    /// Appends the placeholder of the value with this index, from 0.
    pub(crate) fn placeholder(self, index: usize, sql: &mut String) {
        if self == Self::Postgres {
            sql.push('$');
            sql.push_str(itoa::Buffer::new().format(index + 1));
        } else {
            sql.push('?');
        }
    }
}
