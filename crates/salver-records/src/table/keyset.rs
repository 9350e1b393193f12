//! Pages by the values of the last row: a page costs the same wherever it is.
//!
//! What SQLite holds in a column of texts may be bytes as well, or text that is not UTF-8, and looks like a text that
//! it is not. A cursor has such a value as it is stored; else pages would go round or leave rows out.

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int32Type, Int64Type, Schema, UInt64Type};
use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use salver_model::{Code, Comparison, Cursor, Description, Error, Query, Result, Value, Version};

use super::compare::{Operand, literal};
use super::select::Selected;
use super::{condition, stored};
use crate::dialect::Sql;

/// One key of an order that decides every tie.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) operand: Operand,
    pub(super) descending: bool,
    pub(super) nulls_first: bool,
    /// Whether it is of the primary key, in which SQLite lets nulls in.
    pub(super) is_primary: bool,
    /// Where its value is among the fetched columns.
    pub(super) position: usize,
}

/// A number that tells queries apart, and the entries they are of, whatever page of them is asked for.
fn fingerprint(query: &Query, about: &Description) -> u64 {
    let whole = Query { offset: 0, limit: None, after: None, count: false, ..query.clone() };
    Version::of(&(about.name.as_str(), format!("{whole:?}"))).0
}

/// Appends that rows lie behind the cursor.
pub(super) fn push_after(query: &Query, about: &Description, keys: &[Key], grouped: bool, sql: &mut Sql) -> Result<()> {
    let Some(cursor) = &query.after else { return Ok(()) };
    if grouped {
        return Err(Error::new(Code::InvalidCursor, "a grouped or distinct answer has no cursor")
            .with_hint("page through it with `limit` and `offset`"));
    }
    if cursor.version != about.version {
        return Err(Error::new(
            Code::ExpiredCursor,
            format!("`{}` has other columns since `after` was made", about.name),
        )
        .with_hint("start again without `after`"));
    }
    if keys.is_empty() || cursor.query != fingerprint(query, about) || cursor.values.len() != keys.len() {
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
        return stored::push(operand, op, value, sql);
    }
    condition::compare(operand, op, &literal(sql.dialect, operand, value)?, sql);
    Ok(())
}

fn push_behind(key: &Key, value: &Value, sql: &mut Sql) -> Result<()> {
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

/// Takes the row off that only tells whether there is a next page, and the columns that only the next page needs.
pub(super) fn page(
    query: &Query,
    about: &Description,
    selected: &Selected,
    fetched: RecordBatch,
) -> Result<(Vec<RecordBatch>, Option<Cursor>)> {
    let limit = query.limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let more = selected.paged && limit > 0 && fetched.num_rows() > limit;
    let kept = fetched.slice(0, fetched.num_rows().min(limit));
    let next = if more {
        let last = kept.num_rows() - 1;
        let of = |key: &Key| match kept.column(key.position).as_binary_opt::<i32>() {
            // Nobody sorts by bytes: these are what is stored of a text.
            Some(bytes) if key.operand.data_type == DataType::Utf8 => {
                stored::value(bytes, kept.column(key.position + 1).as_boolean(), last)
            }
            _ => value(kept.column(key.position), last),
        };
        let values = selected.keys.iter().map(of).collect::<Result<Vec<_>>>()?;
        if selected.keys.iter().zip(&values).any(|(key, value)| key.is_primary && *value == Value::Null) {
            return Err(crate::read::null_key(about.name.as_str()));
        }
        Some(Cursor { version: about.version, query: fingerprint(query, about), position: 0, values })
    } else {
        None
    };
    Ok((vec![narrow(&kept, &selected.schema)?], next))
}

/// The batch without the columns behind those of `schema`.
fn narrow(batch: &RecordBatch, schema: &std::sync::Arc<Schema>) -> Result<RecordBatch> {
    let columns = batch.columns()[..schema.fields().len()].to_vec();
    let options = arrow::record_batch::RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(std::sync::Arc::clone(schema), columns, &options)
        .map_err(|error| Error::internal("rows of a database don't fit their schema").with_source(error))
}

fn value(column: &dyn Array, row: usize) -> Result<Value> {
    if column.is_null(row) {
        return Ok(Value::Null);
    }
    Ok(match column.data_type() {
        DataType::Boolean => Value::Bool(column.as_boolean().value(row)),
        DataType::Int32 => Value::Int(i64::from(column.as_primitive::<Int32Type>().value(row))),
        DataType::Int64 => Value::Int(column.as_primitive::<Int64Type>().value(row)),
        DataType::UInt64 => Value::UInt(column.as_primitive::<UInt64Type>().value(row)),
        DataType::Float32 => Value::Float(f64::from(column.as_primitive::<Float32Type>().value(row))),
        DataType::Float64 => Value::Float(column.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8 => Value::Text(column.as_string::<i32>().value(row).to_owned()),
        _ => Value::Text(
            array_value_to_string(column, row)
                .map_err(|error| Error::internal("a value of the last row can't be written").with_source(error))?,
        ),
    })
}
