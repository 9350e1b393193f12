//! Rows of a relation of which some columns are known. Clients expect all of its columns: the others have values that
//! say nothing.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array, StringArray, new_null_array,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, SchemaRef};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;

/// Columns by name.
pub(super) type Columns = HashMap<&'static str, ArrayRef>;

/// Returns rows with these columns, of which `known` has some.
pub(super) fn rows(schema: &SchemaRef, count: usize, mut known: Columns) -> Result<RecordBatch, ArrowError> {
    let columns = schema.fields().iter().map(|field| match known.remove(field.name().as_str()) {
        Some(array) => cast(&array, field.data_type()),
        None if field.is_nullable() => Ok(new_null_array(field.data_type(), count)),
        None => Ok(nothing(field.data_type(), count)),
    });
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    debug_assert!(known.is_empty(), "no such columns: {:?}", known.keys());
    let options = arrow::record_batch::RecordBatchOptions::new().with_row_count(Some(count));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
}

/// Returns a column that says nothing: zeros, empty texts, or false.
fn nothing(data_type: &DataType, count: usize) -> ArrayRef {
    match data_type {
        DataType::Boolean => Arc::new(BooleanArray::from(vec![false; count])),
        DataType::Int16 => Arc::new(Int16Array::from(vec![0; count])),
        DataType::Int32 => Arc::new(Int32Array::from(vec![0; count])),
        DataType::Int64 => Arc::new(Int64Array::from(vec![0; count])),
        DataType::Float32 => Arc::new(Float32Array::from(vec![0.0; count])),
        DataType::Float64 => Arc::new(Float64Array::from(vec![0.0; count])),
        DataType::Utf8 => Arc::new(StringArray::from(vec![""; count])),
        // Lists without elements need more than their type; none of the relations with such a column has rows.
        other => new_null_array(other, count),
    }
}
