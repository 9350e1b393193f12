//! Conversion of columns from their types at the time of writing to the current ones. It applies only where the result
//! equals what the events themselves would give: a column that has become text is read from the events.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, StructArray, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use arrow::error::ArrowError;

use crate::event::WHOLE_DIGITS;

/// Returns whether [`conform`] can convert between two types.
pub(super) fn conforms(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (DataType::Int64, DataType::Decimal128(WHOLE_DIGITS, 0) | DataType::Float64)
        | (DataType::Decimal128(WHOLE_DIGITS, 0), DataType::Float64) => true,
        (DataType::Struct(from), DataType::Struct(to)) => from.iter().all(|own| {
            let target = to.iter().find(|field| field.name() == own.name());
            target.is_some_and(|field| conforms(own.data_type(), field.data_type()))
        }),
        (DataType::List(from), DataType::List(to)) => conforms(from.data_type(), to.data_type()),
        _ => from == to,
    }
}

/// Converts an array to the type `to`.
pub(super) fn conform(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    match (array.data_type(), to) {
        (from, to) if from == to => Ok(Arc::clone(array)),
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let own = array.as_struct();
            let columns = fields.iter().map(|field| match own.column_by_name(field.name()) {
                Some(column) => conform(column, field.data_type()),
                None => Ok(new_null_array(field.data_type(), own.len())),
            });
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            Ok(Arc::new(StructArray::try_new_with_length(fields.clone(), columns, own.nulls().cloned(), own.len())?))
        }
        (DataType::List(_), DataType::List(item)) => {
            let own = array.as_list::<i32>();
            let values = conform(own.values(), item.data_type())?;
            Ok(Arc::new(ListArray::try_new(Arc::clone(item), own.offsets().clone(), values, own.nulls().cloned())?))
        }
        _ => cast(array, to),
    }
}
