//! Equal floats as equal bytes: one NaN and one zero, at any depth of a column.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, FixedSizeListArray, GenericListArray, OffsetSizeTrait, StructArray};
use arrow::datatypes::{DataType, Float16Type, Float32Type, Float64Type};
use datafusion::common::internal_err;
use datafusion::logical_expr::ScalarUDF;

use super::super::row_function::{RowFunction, same_type};

/// Returns the array with one NaN and one zero, in lists and structs too; an array without floats is returned as it is.
pub(crate) fn one_of_each(array: &ArrayRef) -> ArrayRef {
    fn items<O: OffsetSizeTrait>(list: &GenericListArray<O>) -> ArrayRef {
        let (field, offsets, items, nulls) = list.clone().into_parts();
        Arc::new(GenericListArray::new(field, offsets, one_of_each(&items), nulls))
    }
    // Adding zero turns `-0.0` into `0.0`.
    match array.data_type() {
        DataType::Float64 => Arc::new(
            array
                .as_primitive::<Float64Type>()
                .unary::<_, Float64Type>(|x| if x.is_nan() { f64::NAN } else { x + 0.0 }),
        ),
        DataType::Float32 => Arc::new(
            array
                .as_primitive::<Float32Type>()
                .unary::<_, Float32Type>(|x| if x.is_nan() { f32::NAN } else { x + 0.0 }),
        ),
        DataType::Float16 => {
            let floats = array.as_primitive::<Float16Type>();
            Arc::new(floats.unary::<_, Float16Type>(|x| match x.to_f32() {
                x if x.is_nan() => <Float16Type as arrow::array::ArrowPrimitiveType>::Native::NAN,
                x => <Float16Type as arrow::array::ArrowPrimitiveType>::Native::from_f32(x + 0.0),
            }))
        }
        DataType::List(_) if holds_floats(array.data_type()) => items(array.as_list::<i32>()),
        DataType::LargeList(_) if holds_floats(array.data_type()) => items(array.as_list::<i64>()),
        DataType::FixedSizeList(..) if holds_floats(array.data_type()) => {
            let (field, size, items, nulls) = array.as_fixed_size_list().clone().into_parts();
            Arc::new(FixedSizeListArray::new(field, size, one_of_each(&items), nulls))
        }
        DataType::Struct(_) if holds_floats(array.data_type()) => {
            let (fields, members, nulls) = array.as_struct().clone().into_parts();
            let members = members.iter().map(one_of_each).collect();
            Arc::new(StructArray::new(fields, members, nulls))
        }
        _ => Arc::clone(array),
    }
}

/// Returns the function that does so.
pub(super) fn function() -> ScalarUDF {
    RowFunction::of_one("one_of_each", same_type, |arrays, _| match arrays {
        [values] => Ok(one_of_each(values)),
        _ => internal_err!("one column has one of each"),
    })
}

/// Returns whether values of a type are floats or contain floats.
pub(super) fn holds_floats(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            holds_floats(item.data_type())
        }
        DataType::Struct(members) => members.iter().any(|member| holds_floats(member.data_type())),
        other => other.is_floating(),
    }
}
