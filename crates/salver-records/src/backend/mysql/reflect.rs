//! Reads the schema from the database's own catalog, in a handful of queries.

use mysql_async::{Error as Failure, FromValueError, Row};
use salver_model::records::{ColumnInfo, ColumnKind, ForeignKey, TableInfo, TableKind};

use super::client::Client;
use super::column_types::{kind, words};

const TABLES: &str = "SELECT TABLE_NAME, TABLE_TYPE, TABLE_COMMENT FROM information_schema.TABLES \
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW')";

const COLUMNS: &str = "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, CHARACTER_MAXIMUM_LENGTH, \
     NUMERIC_PRECISION, NUMERIC_SCALE, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLUMN_COMMENT \
     FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME, ORDINAL_POSITION";

/// An index over a column's prefix or an expression does not make the column unique.
const UNIQUE: &str = "SELECT TABLE_NAME, INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS \
     WHERE TABLE_SCHEMA = DATABASE() AND NON_UNIQUE = 0 ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX";

const FOREIGN: &str = "SELECT TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME \
     FROM information_schema.KEY_COLUMN_USAGE \
     WHERE TABLE_SCHEMA = DATABASE() AND REFERENCED_TABLE_SCHEMA = DATABASE() \
     ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION";

/// Shown only to users with the privilege `TRIGGER`.
const TRIGGERS: &str =
    "SELECT DISTINCT EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE()";

/// JSON in MariaDB is text with a check of its own.
const JSON_CHECKS: &str = "SELECT TABLE_NAME, CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS \
     WHERE CONSTRAINT_SCHEMA = DATABASE() AND LEVEL = 'Column' AND CHECK_CLAUSE LIKE 'json\\_valid(%'";

/// A checksum of everything the queries above return; `DATABASE()` restricts each to one schema, so that it takes a
/// fraction of a millisecond for a few tables.
pub(super) const STAMP: &str = "SELECT \
     (SELECT BIT_XOR(CAST(CONV(LEFT(MD5(CONCAT_WS('|', TABLE_NAME, TABLE_TYPE, CREATE_TIME, \
        TABLE_COMMENT)), 16), 16, 10) \
        AS UNSIGNED)) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()), \
     (SELECT BIT_XOR(CAST(CONV(LEFT(MD5(CONCAT_WS('|', TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, COLUMN_TYPE, \
        IS_NULLABLE, COALESCE(COLUMN_DEFAULT, '-'), EXTRA, COLUMN_KEY, COLUMN_COMMENT)), 16), 16, 10) AS UNSIGNED)) \
        FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()), \
     (SELECT BIT_XOR(CAST(CONV(LEFT(MD5(CONCAT_WS('|', TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, \
        COLUMN_NAME, NON_UNIQUE)), \
        16), 16, 10) AS UNSIGNED)) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()), \
     (SELECT BIT_XOR(CAST(CONV(LEFT(MD5(CONCAT_WS('|', TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, \
        REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME)), 16), 16, 10) AS UNSIGNED)) \
        FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = DATABASE()), \
     (SELECT BIT_XOR(CAST(CONV(LEFT(MD5(CONCAT_WS('|', EVENT_OBJECT_TABLE, TRIGGER_NAME)), 16), 16, 10) AS UNSIGNED)) \
        FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE())";

/// Reads every table and view, by name.
pub(super) async fn reflect(client: &mut Client) -> Result<Vec<TableInfo>, Failure> {
    let mut tables = Vec::new();
    for row in client.rows(TABLES).await? {
        let (name, table_type, comment): (String, String, Option<String>) = told(row)?;
        let kind = if table_type == "VIEW" { TableKind::View } else { TableKind::Table };
        tables.push(TableInfo {
            name: name.clone(),
            real_name: name,
            kind,
            columns: Vec::new(),
            key: Vec::new(),
            foreign_keys: Vec::new(),
            unique: Vec::new(),
            key_assumed: kind == TableKind::View,
            has_triggers: kind == TableKind::View,
            // A view's comment is the word VIEW.
            comment: comment.filter(|comment| kind == TableKind::Table && !comment.is_empty()),
        });
    }
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    columns(client, &mut tables).await?;
    if client.is_mariadb() {
        json_columns(client, &mut tables).await?;
    }
    unique_keys(client, &mut tables).await?;
    foreign_keys(client, &mut tables).await?;
    for row in client.rows(TRIGGERS).await? {
        let (table,): (String,) = told(row)?;
        if let Some(table) = find(&mut tables, &table) {
            table.has_triggers = true;
        }
    }
    for view in tables.iter_mut().filter(|table| table.kind == TableKind::View) {
        view.key = view.column("id").into_iter().collect();
    }
    Ok(tables)
}

async fn columns(client: &mut Client, tables: &mut [TableInfo]) -> Result<(), Failure> {
    for mut row in client.rows(COLUMNS).await? {
        let table: String = field(&mut row, 0)?;
        let name: String = field(&mut row, 1)?;
        let base: String = field(&mut row, 2)?;
        let native: String = field(&mut row, 3)?;
        let length: Option<u64> = field(&mut row, 4)?;
        let precision: Option<u32> = field(&mut row, 5)?;
        let scale: Option<u32> = field(&mut row, 6)?;
        let nullable: String = field(&mut row, 7)?;
        let default: Option<String> = field(&mut row, 8)?;
        let extra: Option<String> = field(&mut row, 9)?;
        let comment: Option<String> = field(&mut row, 10)?;
        let Some(table) = find(tables, &table) else { continue };
        let kind = kind(&base, &native);
        let extra = extra.unwrap_or_default().to_ascii_uppercase();
        let is_decimal = kind == ColumnKind::Decimal;
        table.columns.push(ColumnInfo {
            real_name: name.clone(),
            name,
            kind,
            words: words(&native),
            native,
            length: length
                .filter(|_| matches!(kind, ColumnKind::Varchar | ColumnKind::Varbinary))
                .and_then(|length| u32::try_from(length).ok()),
            precision: precision.filter(|_| is_decimal),
            scale: scale.filter(|_| is_decimal),
            nullable: nullable == "YES",
            // MariaDB writes a null default as the word NULL.
            has_default: default.is_some_and(|default| default != "NULL"),
            auto_increment: extra.contains("AUTO_INCREMENT"),
            // MySQL also says DEFAULT_GENERATED, for a default that is an expression.
            generated: ["VIRTUAL", "STORED", "PERSISTENT"].iter().any(|word| extra.contains(word)),
            ordered: true,
            base: None,
            compared: None,
            comment: comment.filter(|comment| !comment.is_empty()),
        });
    }
    Ok(())
}

async fn json_columns(client: &mut Client, tables: &mut [TableInfo]) -> Result<(), Failure> {
    for row in client.rows(JSON_CHECKS).await? {
        let (table, column, clause): (String, String, String) = told(row)?;
        let Some(table) = find(tables, &table) else { continue };
        if let Some(index) = table.column(&column)
            && table.columns[index].kind == ColumnKind::Clob
            && ['`', '"'].iter().any(|quote| clause == format!("json_valid({})", quoted(&column, *quote)))
        {
            table.columns[index].kind = ColumnKind::Json;
        }
    }
    Ok(())
}

/// Removes the quotes of a name; the session's SQL mode determines which ones the catalog uses.
fn quoted(name: &str, quote: char) -> String {
    let mut doubled = [0; 4];
    let quote = &*quote.encode_utf8(&mut doubled);
    format!("{quote}{}{quote}", name.replace(quote, &quote.repeat(2)))
}

async fn unique_keys(client: &mut Client, tables: &mut [TableInfo]) -> Result<(), Failure> {
    let mut at: Option<(String, String)> = None;
    let mut columns: Vec<Option<usize>> = Vec::new();
    for row in client.rows(UNIQUE).await? {
        let (table, index, column, part): (String, String, Option<String>, Option<u64>) = told(row)?;
        let here = (table, index);
        if at.as_ref() != Some(&here) {
            if let Some(before) = at.replace(here.clone()) {
                unique_key(tables, &before, &columns);
            }
            columns.clear();
        }
        let column = column.filter(|_| part.is_none());
        columns.push(column.and_then(|column| find(tables, &here.0)?.column(&column)));
    }
    if let Some(last) = at {
        unique_key(tables, &last, &columns);
    }
    Ok(())
}

fn unique_key(tables: &mut [TableInfo], (table, index): &(String, String), columns: &[Option<usize>]) {
    let whole: Option<Vec<usize>> = columns.iter().copied().collect();
    if let (Some(table), Some(columns)) = (find(tables, table), whole) {
        if index == "PRIMARY" {
            table.key = columns;
        } else {
            table.unique.push(columns);
        }
    }
}

async fn foreign_keys(client: &mut Client, tables: &mut [TableInfo]) -> Result<(), Failure> {
    for row in client.rows(FOREIGN).await? {
        let (table, constraint, column, target, target_column): (String, String, String, String, String) = told(row)?;
        // The two sides may differ in case where the file system is case-insensitive.
        let Some((target, target_column)) = find(tables, &target).and_then(|target| {
            let there = target.columns.iter().find(|there| there.name.eq_ignore_ascii_case(&target_column))?;
            Some((target.name.clone(), there.name.clone()))
        }) else {
            continue;
        };
        let Some(table) = find(tables, &table) else { continue };
        let Some(column) = table.column(&column) else { continue };
        match table.foreign_keys.last_mut() {
            Some(key) if key.constraint == constraint => {
                key.columns.push(column);
                key.target_columns.push(target_column);
            }
            _ => table.foreign_keys.push(ForeignKey {
                constraint,
                columns: vec![column],
                target,
                target_columns: vec![target_column],
            }),
        }
    }
    Ok(())
}

fn find<'a>(tables: &'a mut [TableInfo], name: &str) -> Option<&'a mut TableInfo> {
    let index = tables
        .iter()
        .position(|table| table.real_name == name)
        .or_else(|| tables.iter().position(|table| table.real_name.eq_ignore_ascii_case(name)))?;
    tables.get_mut(index)
}

/// Converts a row of the catalog to a tuple.
fn told<T: mysql_async::prelude::FromRow>(row: Row) -> Result<T, Failure> {
    mysql_async::from_row_opt(row).map_err(|cause| Failure::Other(Box::new(cause)))
}

fn field<T: mysql_async::prelude::FromValue>(row: &mut Row, index: usize) -> Result<T, Failure> {
    let value = row.take::<mysql_async::Value, _>(index).unwrap_or(mysql_async::Value::NULL);
    mysql_async::from_value_opt(value).map_err(|cause: FromValueError| Failure::Other(Box::new(cause)))
}
