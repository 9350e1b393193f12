//! A page of rows, cut from the fetched ones, and the cursor of the next page.

use std::sync::Arc;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Float32Type, Float64Type, Int32Type, Int64Type, Schema, UInt64Type};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use arrow::util::display::array_value_to_string;
use salver_model::{Cursor, Description, Error, Query, Result, Value};

use super::keyset::{OrderKey, fingerprint};
use super::select::Selected;
use super::stored_value;

/// Removes the extra row that only tells whether there is a next page, and the columns that only its cursor needs.
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
        let of = |key: &OrderKey| match kept.column(key.position).as_binary_opt::<i32>() {
            // No order is by bytes: these are the stored bytes of a text.
            Some(bytes) if key.operand.data_type == DataType::Utf8 => {
                stored_value::value(bytes, kept.column(key.position + 1).as_boolean(), last)
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

/// Returns the batch without the columns after those of `schema`.
fn narrow(batch: &RecordBatch, schema: &Arc<Schema>) -> Result<RecordBatch> {
    let columns = batch.columns()[..schema.fields().len()].to_vec();
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
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
