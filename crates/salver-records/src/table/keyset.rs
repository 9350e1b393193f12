//! Keyset pagination by the values of the last row: a page costs the same wherever it is.
//!
//! A SQLite text column may also have bytes, or text that is not UTF-8, which is shown as a different text. A cursor
//! keeps such a value as it is stored; otherwise pages would repeat or skip rows.

use salver_model::{Code, Comparison, Description, Error, Query, Result, Value, Version};

use super::compare::{Operand, literal};
use super::stored_value;
use crate::condition::compare;
use crate::dialect::Sql;

/// One key of a total order.
#[derive(Clone, Debug)]
pub(super) struct OrderKey {
    pub(super) operand: Operand,
    pub(super) descending: bool,
    pub(super) nulls_first: bool,
    /// Whether it is part of the primary key, in which SQLite allows nulls.
    pub(super) is_primary: bool,
    /// Position of its value among the fetched columns.
    pub(super) position: usize,
}

/// Returns a number that identifies a query and its entry, for all of its pages.
pub(super) fn fingerprint(query: &Query, about: &Description) -> u64 {
    let whole = Query { offset: 0, limit: None, after: None, count: false, ..query.clone() };
    Version::of(&(about.name.as_str(), format!("{whole:?}"))).0
}

/// Appends the predicate for rows after the cursor.
pub(super) fn push_after(
    query: &Query,
    about: &Description,
    keys: &[OrderKey],
    (grouped, key_assumed): (bool, bool),
    sql: &mut Sql,
) -> Result<()> {
    let Some(cursor) = &query.after else { return Ok(()) };
    if grouped {
        return Err(Error::new(Code::InvalidCursor, "a grouped or distinct answer has no cursor")
            .with_hint("page through it with `limit` and `offset`"));
    }
    if keys.is_empty() || key_assumed {
        return Err(Error::new(Code::InvalidCursor, format!("`{}` can't be paged with `after`", about.name))
            .with_hint(
                "no unique key makes sure that its rows are different; page through it with `sort` and `offset`",
            ));
    }
    if cursor.version != about.version {
        return Err(Error::new(
            Code::ExpiredCursor,
            format!("`{}` has other columns since `after` was made", about.name),
        )
        .with_hint("start again without `after`"));
    }
    if cursor.query != fingerprint(query, about) || cursor.values.len() != keys.len() {
        return Err(Error::new(Code::InvalidCursor, "`after` belongs to another query")
            .with_hint("repeat the query that `after` came from: same columns, filter and sort"));
    }
    sql.push(if sql.text.contains(" WHERE ") { " AND (" } else { " WHERE (" });
    let mut first = true;
    for (index, key) in keys.iter().enumerate() {
        sql.separate(&mut first, " OR ").push("(");
        for (same, value) in keys[..index].iter().zip(&cursor.values) {
            push_same(&same.operand, value, sql)?;
            sql.push(" AND ");
        }
        push_behind(key, &cursor.values[index], sql)?;
        sql.push(")");
    }
    sql.push(")");
    Ok(())
}

fn push_same(operand: &Operand, value: &Value, sql: &mut Sql) -> Result<()> {
    if *value == Value::Null {
        let [is_null, _] = operand.null_tests(sql.dialect);
        sql.push("(").push(&operand.sql).push(is_null).push(")");
        return Ok(());
    }
    push_compared(operand, Comparison::Eq, value, sql)
}

fn push_compared(operand: &Operand, op: Comparison, value: &Value, sql: &mut Sql) -> Result<()> {
    if operand.is_stored(sql.dialect) {
        return stored_value::push(operand, op, value, sql);
    }
    compare(operand, op, &literal(sql.dialect, operand, value)?, sql);
    Ok(())
}

fn push_behind(key: &OrderKey, value: &Value, sql: &mut Sql) -> Result<()> {
    let operand = &key.operand;
    let [is_null, is_value] = operand.null_tests(sql.dialect);
    if *value == Value::Null {
        sql.push(if key.nulls_first { "(" } else { "(1=0 AND " }).push(&operand.sql).push(is_value).push(")");
        return Ok(());
    }
    let op = if key.descending { Comparison::Lt } else { Comparison::Gt };
    sql.push("(");
    push_compared(operand, op, value, sql)?;
    if !key.nulls_first {
        sql.push(" OR ").push(&operand.sql).push(is_null);
    }
    sql.push(")");
    Ok(())
}
