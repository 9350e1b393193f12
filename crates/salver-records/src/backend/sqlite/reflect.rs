//! The schema of a SQLite database, read through its table-valued pragmas in one transaction.

use rusqlite::{Connection, Row};
use salver_model::records::{ColumnInfo, ForeignKey, TableInfo, TableKind};

use super::declared_types::declared;
use crate::dialect::Dialect;

/// The tables and views, by name.
const TABLES: &str = "SELECT name, type, wr FROM pragma_table_list \
    WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
    ORDER BY name";
/// Number of rows of a table that are checked for nulls in key columns after the first.
const KEYS_LOOKED_AT: u32 = 10_000;
/// The columns of a table; `hidden` is 1 for hidden columns of virtual tables, 2 and 3 for generated ones.
const COLUMNS: &str = "SELECT name, type, \"notnull\", dflt_value IS NOT NULL, pk, hidden FROM pragma_table_xinfo(?) \
    WHERE hidden <> 1 ORDER BY cid";
/// The foreign keys, one row per column, in the order of their declaration.
const FOREIGN_KEYS: &str =
    "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq";
/// The unique indexes over whole tables.
const INDEXES: &str =
    "SELECT name, origin FROM pragma_index_list(?) WHERE \"unique\" AND NOT partial ORDER BY seq DESC";
/// Whether a table has triggers.
const HAS_TRIGGERS: &str =
    "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE)";
/// The columns of an index; expressions have no name.
const INDEX_COLUMNS: &str = "SELECT name FROM pragma_index_info(?) ORDER BY seqno";

/// Reads every table and view.
pub(super) fn reflect(connection: &Connection) -> rusqlite::Result<Vec<TableInfo>> {
    let names = all(connection, TABLES, None, |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, bool>(2)?))
    })?;
    let mut tables = Vec::with_capacity(names.len());
    for (name, kind, without_rowid) in names {
        let kind = if kind == "view" { TableKind::View } else { TableKind::Table };
        match table(connection, &name, kind, without_rowid) {
            Ok(table) => tables.push(table),
            // A view of a dropped table, or a virtual table of a missing module: it can't be read either.
            Err(error) => tracing::warn!(table = name, %error, "the table can't be read, and is left out"),
        }
    }
    for index in 0..tables.len() {
        let keys = foreign_keys(connection, &tables, &tables[index])?;
        tables[index].foreign_keys = keys;
    }
    Ok(tables)
}

fn table(connection: &Connection, name: &str, kind: TableKind, without_rowid: bool) -> rusqlite::Result<TableInfo> {
    let mut key = Vec::new();
    let columns = all(connection, COLUMNS, Some(name), |row| column(row, &mut key))?;
    key.sort_unstable();
    let mut table = TableInfo {
        name: name.to_owned(),
        real_name: name.to_owned(),
        kind,
        columns,
        key: Vec::new(),
        foreign_keys: Vec::new(),
        unique: Vec::new(),
        key_assumed: kind == TableKind::View,
        has_triggers: kind == TableKind::View || connection.query_row(HAS_TRIGGERS, [name], |row| row.get(0))?,
        comment: None,
    };
    if kind == TableKind::View {
        table.key = table.column("id").into_iter().collect();
        undeclare(connection, &mut table)?;
        return Ok(table);
    }
    table.key = key.into_iter().filter_map(|(_, name)| table.column(&name)).collect();
    let mut key_index = false;
    for (index, origin) in
        all(connection, INDEXES, Some(name), |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?
    {
        if origin == "pk" {
            key_index = true;
            continue;
        }
        let names = all(connection, INDEX_COLUMNS, Some(&index), |row| row.get::<_, Option<String>>(0))?;
        let unique: Option<Vec<usize>> = names.iter().map(|name| find(&table, name.as_deref()?)).collect();
        table.unique.extend(unique);
    }
    let is_row_number = !key_index
        && !without_rowid
        && table.single_key().is_some_and(|only| table.columns[only].native.eq_ignore_ascii_case("integer"));
    if !is_row_number && has_null_keys(connection, &table)? {
        tracing::warn!(table = name, "rows have nulls in their primary key: the table has none");
        table.key.clear();
    }
    for index in table.key.clone() {
        table.columns[index].nullable = false;
    }
    // An alias of the rowid: SQLite makes no index for it.
    if let Some(only) = table.single_key().filter(|_| is_row_number) {
        table.columns[only].auto_increment = true;
        table.columns[only].has_default = true;
    }
    Ok(table)
}

/// Removes `BLOB` from the columns of a view that are not declared so: SQLite reports it for every expression of
/// unknown type, and for columns without a type.
fn undeclare(connection: &Connection, view: &mut TableInfo) -> rusqlite::Result<()> {
    if view.columns.iter().all(|column| column.native != "BLOB") {
        return Ok(());
    }
    let mut sql = "SELECT * FROM ".to_owned();
    Dialect::Sqlite.name(&view.real_name, &mut sql);
    let statement = connection.prepare(&sql)?;
    for (column, origin) in view.columns.iter_mut().zip(statement.columns()) {
        if column.native == "BLOB" && origin.decl_type().is_none_or(str::is_empty) {
            column.native = String::new();
            column.kind = declared("").kind;
        }
    }
    Ok(())
}

/// Returns whether rows have nulls in their primary key, which SQLite allows for any but the rowid: they can't be
/// identified by it. The index finds those in the key's first column; for the others only the first rows are checked,
/// since reading a schema must not take time in proportion to its tables.
fn has_null_keys(connection: &Connection, table: &TableInfo) -> rusqlite::Result<bool> {
    let name = |name: &str| {
        let mut quoted = String::new();
        Dialect::Sqlite.name(name, &mut quoted);
        quoted
    };
    let own = name(&table.real_name);
    for (place, index) in table.key.iter().enumerate().filter(|(_, index)| table.columns[**index].nullable) {
        let column = name(&table.columns[*index].real_name);
        let sql = match place {
            0 => format!("SELECT EXISTS (SELECT 1 FROM {own} WHERE {column} IS NULL)"),
            _ => format!(
                "SELECT EXISTS (SELECT 1 FROM (SELECT {column} AS part FROM {own} LIMIT {KEYS_LOOKED_AT}) \
                 WHERE part IS NULL)"
            ),
        };
        if connection.query_row(&sql, [], |row| row.get(0))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Reads a column; records it when it belongs to the primary key.
fn column(row: &Row<'_>, key: &mut Vec<(u32, String)>) -> rusqlite::Result<ColumnInfo> {
    let name: String = row.get(0)?;
    let native: String = row.get(1)?;
    let place: u32 = row.get(4)?;
    let hidden: u32 = row.get(5)?;
    if place > 0 {
        key.push((place, name.clone()));
    }
    let said = declared(&native);
    Ok(ColumnInfo {
        real_name: name.clone(),
        name,
        kind: said.kind,
        native,
        length: said.length,
        precision: said.precision,
        scale: said.scale,
        nullable: !row.get::<_, bool>(2)?,
        has_default: row.get(3)?,
        auto_increment: false,
        generated: hidden == 2 || hidden == 3,
        ordered: true,
        base: None,
        compared: None,
        words: Vec::new(),
        comment: None,
    })
}

/// Reads the foreign keys of `table` to tables that exist.
fn foreign_keys(connection: &Connection, tables: &[TableInfo], table: &TableInfo) -> rusqlite::Result<Vec<ForeignKey>> {
    let rows = all(connection, FOREIGN_KEYS, Some(&table.real_name), |row| {
        Ok((
            row.get::<_, i64>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, String>(2)?,
            row.get::<_, Option<String>>(3)?,
        ))
    })?;
    let mut keys = Vec::new();
    for group in rows.chunk_by(|one, other| one.0 == other.0) {
        let Some(target) = tables.iter().find(|other| same(&other.real_name, &group[0].1)) else { continue };
        let columns: Option<Vec<usize>> = group.iter().map(|row| find(table, &row.2)).collect();
        // Without names, the target's primary key is meant.
        let there: Option<Vec<usize>> = if group.iter().all(|row| row.3.is_none()) {
            Some(target.key.clone())
        } else {
            group.iter().map(|row| find(target, row.3.as_deref()?)).collect()
        };
        let (Some(columns), Some(there)) = (columns, there) else { continue };
        if columns.len() == there.len() {
            keys.push(ForeignKey {
                constraint: String::new(),
                columns,
                target: target.name.clone(),
                target_columns: there.into_iter().map(|index| target.columns[index].name.clone()).collect(),
            });
        }
    }
    Ok(keys)
}

/// Returns the column called `name`, ignoring case as SQLite does.
fn find(table: &TableInfo, name: &str) -> Option<usize> {
    table.columns.iter().position(|column| same(&column.real_name, name))
}

fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Returns the rows of a statement with at most one value.
fn all<T>(
    connection: &Connection,
    sql: &str,
    value: Option<&str>,
    row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(rusqlite::params_from_iter(value), row)?;
    rows.collect()
}
