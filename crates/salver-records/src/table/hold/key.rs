//! The key of a held table: columns that identify its rows, and order them for reading.
//!
//! The order is the database's own, and not that of bytes, so that the key's index provides it.

use salver_model::records::{ColumnInfo, ColumnKind, TableInfo};

use crate::backend::layout::Layout;
use crate::cell::OwnedCell;
use crate::dialect::form::Form;
use crate::dialect::{Dialect, Sql};
use crate::statement::Bind;

/// A key. Without columns, rows are only known by their position.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) columns: Vec<KeyColumn>,
    /// Whether an `ORDER BY` is needed for its order.
    pub(super) sorted: bool,
}

/// A column of a key.
#[derive(Clone, Debug)]
pub(super) struct KeyColumn {
    /// The expression that is compared and sorted by.
    pub(super) sql: String,
    /// The expression that is fetched.
    pub(super) fetched: String,
    /// The form in which PostgreSQL sends it.
    pub(super) form: Form,
    /// The kind as which another driver returns it.
    pub(super) kind: ColumnKind,
    /// Whether it is an integer, so that its range can be split.
    pub(super) number: bool,
    /// Whether its values are written into statements as digits, because as text they would be compared as floats.
    digits: bool,
}

impl Key {
    /// Chooses the key of a table: in SQLite the rowid, which is the storage order; else the primary key, else another
    /// key without nulls, else the row's address.
    pub(super) fn of(dialect: Dialect, info: &TableInfo, layout: &Layout) -> Self {
        let keys = std::iter::once(&info.key).chain(&info.unique).filter(|_| layout.keyed);
        let columns = keys.filter(|key| !key.is_empty()).find_map(|key| {
            let all = key.iter().map(|index| column(dialect, info, &info.columns[*index]));
            all.collect::<Option<Vec<_>>>()
        });
        if let Some(columns) = columns {
            return Self { columns, sorted: true };
        }
        let Some(address) = &layout.address else { return Self { columns: Vec::new(), sorted: false } };
        let postgres = dialect == Dialect::Postgres;
        let sql = qualified(dialect, info, &address.sql);
        let column = KeyColumn {
            fetched: if postgres { format!("{sql}::text") } else { sql.clone() },
            sql,
            form: Form::Text,
            kind: ColumnKind::BigInt,
            number: address.number,
            digits: false,
        };
        Self { columns: vec![column], sorted: address.sorted }
    }

    /// Appends the predicate for rows after the one with this key.
    pub(super) fn push_behind(&self, key: &[OwnedCell], sql: &mut Sql) {
        let pairs: Vec<_> = self.columns.iter().zip(key).collect();
        if let [(column, value)] = pairs.as_slice() {
            sql.push(&column.sql).push(" > ");
            column.push_value(value, sql);
            return;
        }
        if sql.dialect != Dialect::Mysql {
            let mut first = true;
            sql.push("(");
            for (column, _) in &pairs {
                sql.separate(&mut first, ", ").push(&column.sql);
            }
            sql.push(") > (");
            first = true;
            for (column, value) in &pairs {
                sql.separate(&mut first, ", ");
                column.push_value(value, sql);
            }
            sql.push(")");
            return;
        }
        // MySQL uses no index for row comparisons.
        sql.push("(");
        let mut first = true;
        for (index, (column, value)) in pairs.iter().enumerate() {
            sql.separate(&mut first, " OR ").push("(");
            for (same, value) in &pairs[..index] {
                sql.push(&same.sql).push(" = ");
                same.push_value(value, sql);
                sql.push(" AND ");
            }
            sql.push(&column.sql).push(" > ");
            column.push_value(value, sql);
            sql.push(")");
        }
        sql.push(")");
    }
}

impl KeyColumn {
    fn push_value(&self, value: &OwnedCell, sql: &mut Sql) {
        match value {
            OwnedCell::Text(text) if self.digits && text.bytes().all(|byte| b"-.0123456789".contains(&byte)) => {
                sql.push("(").push(text).push(")");
            }
            OwnedCell::UInt(value) => {
                sql.push(itoa::Buffer::new().format(*value));
            }
            OwnedCell::Null => drop(sql.bind(Bind::Null)),
            OwnedCell::Bool(value) => drop(sql.bind(Bind::Bool(*value))),
            OwnedCell::Int(value) => drop(sql.bind(Bind::Int(*value))),
            OwnedCell::Float(value) => drop(sql.bind(Bind::Float(*value))),
            OwnedCell::Single(value) => drop(sql.bind(Bind::Float(f64::from(*value)))),
            OwnedCell::Text(value) => drop(sql.bind(Bind::Text(value.clone()))),
            OwnedCell::Bytes(value) => drop(sql.bind(Bind::Bytes(value.clone()))),
        }
    }
}

/// Returns `table.column`: a bare name in an order would be the output of that name, and not the column.
fn qualified(dialect: Dialect, info: &TableInfo, column: &str) -> String {
    let mut name = String::new();
    dialect.name(&info.real_name, &mut name);
    name.push('.');
    name + column
}

/// Returns the key column; `None` when its values can't be written back so that they find their own row again.
fn column(dialect: Dialect, info: &TableInfo, own: &ColumnInfo) -> Option<KeyColumn> {
    if own.nullable {
        return None;
    }
    let mut name = String::new();
    dialect.name(&own.real_name, &mut name);
    let name = qualified(dialect, info, &name);
    let native = own.native.to_ascii_lowercase();
    let plain = |kind, number| KeyColumn {
        sql: name.clone(),
        fetched: name.clone(),
        form: Form::Text,
        kind,
        number,
        digits: false,
    };
    match dialect {
        // Returned as it is stored.
        Dialect::Sqlite => Some(plain(ColumnKind::Clob, false)),
        Dialect::Postgres => {
            let (form, cast) = Form::of_key(own.own_type());
            let fetched = format!("{name}{cast}");
            let sql = own.compared.as_ref().map_or_else(|| name.clone(), |compared| format!("({name})::{compared}"));
            Some(KeyColumn { sql, fetched, form, ..plain(ColumnKind::Clob, form != Form::Text) })
        }
        Dialect::Mysql => match own.kind {
            ColumnKind::Boolean | ColumnKind::Integer | ColumnKind::BigInt if !native.starts_with("bit") => {
                Some(plain(ColumnKind::BigInt, true))
            }
            ColumnKind::Decimal => Some(KeyColumn { digits: true, ..plain(ColumnKind::Clob, false) }),
            // Enumerations sort by index and compare by label.
            ColumnKind::Varchar if native.starts_with("enum") || native.starts_with("set") => None,
            // In the hour when daylight saving ends, different moments have the same text.
            ColumnKind::Timestamp if native.starts_with("timestamp") => None,
            ColumnKind::Varchar
            | ColumnKind::Clob
            | ColumnKind::Date
            | ColumnKind::Time
            | ColumnKind::Timestamp
            | ColumnKind::Uuid => Some(plain(ColumnKind::Clob, false)),
            ColumnKind::Varbinary | ColumnKind::Blob => Some(plain(ColumnKind::Blob, false)),
            _ => None,
        },
    }
}
