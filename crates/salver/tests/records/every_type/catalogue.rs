//! What a type is, and the tables of types: one for each database.

use salver_testkit::servers::{Database, Kind, database};

use super::{mariadb, postgres, sqlite};

/// What the values of a type are, and so in which forms doors may show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Truth,
    Whole,
    /// Of 32 bits.
    Single,
    /// Of 64 bits.
    Double,
    Decimal,
    /// Text, and whatever goes out as the database's own text.
    Text,
    Bytes,
    Day,
    Moment,
    /// SQLite: each value has its own type.
    Any,
}

/// How the records door compares and sorts a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compares {
    /// As the database does.
    Own,
    /// The database does not: by the text.
    Text,
}

/// A type with values.
#[derive(Clone, Debug)]
pub(super) struct Type {
    /// As it stands in a definition.
    pub(super) native: String,
    pub(super) class: Class,
    pub(super) compares: Compares,
    /// Values that every door shows, as SQL.
    pub(super) values: Vec<String>,
    /// Values that only the records door shows; the others say which column has one.
    pub(super) odd: Vec<String>,
    /// The type of a second column, `w`, that the values are put into, when `v` is made of it.
    pub(super) made_of: Option<String>,
    /// Whether its values are compared too, and not only read.
    pub(super) compared: bool,
}

impl Type {
    pub(super) fn new(native: &str, class: Class, values: Vec<String>) -> Self {
        let compares = Compares::Own;
        let native = native.to_owned();
        Self { native, class, compares, values, odd: Vec::new(), made_of: None, compared: true }
    }

    /// Of values that are written here.
    pub(super) fn of(native: &str, class: Class, values: &[&str]) -> Self {
        Self::new(native, class, values.iter().map(|value| (*value).to_owned()).collect())
    }

    pub(super) fn by_text(self) -> Self {
        Self { compares: Compares::Text, ..self }
    }

    pub(super) fn odd(self, odd: &[&str]) -> Self {
        Self { odd: odd.iter().map(|value| (*value).to_owned()).collect(), ..self }
    }

    pub(super) fn made_of(self, native: &str) -> Self {
        Self { made_of: Some(native.to_owned()), ..self }
    }

    pub(super) fn only_read(self) -> Self {
        Self { compared: false, ..self }
    }

    /// The type without what it is bounded by, as in `decimal(10,2)`.
    pub(super) fn base(&self) -> &str {
        self.native.split('(').next().unwrap_or_default().trim()
    }
}

/// All types of a database.
pub(super) fn types(kind: Kind) -> Vec<Type> {
    match kind {
        Kind::Sqlite => sqlite::types(),
        Kind::Mariadb => mariadb::types(),
        Kind::Postgres => postgres::types(),
    }
}

/// A database with a table `t0`, `t1`, ... for each type, and `o0`, `o1`, ... for its odd values: each value once, the
/// first three twice, and two nulls.
pub(super) fn tables(kind: Kind, types: &[Type]) -> Database {
    let mut sql = match kind {
        Kind::Sqlite => "begin;\n".to_owned(),
        Kind::Mariadb => "set sql_mode = 'ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO'; set autocommit = 0;\n".to_owned(),
        Kind::Postgres => postgres::BEFORE.to_owned(),
    };
    for (number, own) in types.iter().enumerate() {
        table(&mut sql, &format!("t{number}"), own, &own.values);
        if !own.odd.is_empty() {
            table(&mut sql, &format!("o{number}"), own, &own.odd);
        }
    }
    sql.push_str(if kind == Kind::Postgres { "" } else { "commit;\n" });
    database(kind, &sql)
}

fn table(sql: &mut String, name: &str, own: &Type, values: &[String]) {
    let second = own.made_of.as_ref().map(|native| format!("w {native}, ")).unwrap_or_default();
    sql.push_str(&format!("create table {name} (id integer primary key, {second}v {});\n", own.native));
    let null = "null".to_owned();
    let all: Vec<&String> = values.iter().chain([&null]).chain(values.iter().take(3)).chain([&null]).collect();
    let column = if own.made_of.is_some() { "w" } else { "v" };
    for (row, value) in all.iter().enumerate() {
        // In another order than they stand here: 7 and 199 have no divisor in common.
        sql.push_str(&format!("insert into {name} (id, {column}) values ({}, {value});\n", row * 7 % 199 + 1));
    }
}
