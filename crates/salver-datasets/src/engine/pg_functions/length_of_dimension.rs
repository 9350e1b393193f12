//! `array_length(x, n)`: how many elements an array has in one of its dimensions. The engine's own looks into the first
//! element of each without asking whether there is one (DataFusion 55).

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Builder, ListArray, new_null_array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, internal_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::super::row_function::RowFunction;
use super::text_cast::{item, lists};

pub(super) fn length_of_dimension() -> ScalarUDF {
    let returns = |types: &[DataType]| match types {
        [list, dimension] if item(list).is_some() && dimension.is_integer() => Ok(DataType::Int64),
        [list, _] if list.is_null() => Ok(DataType::Int64),
        _ => plan_err!("`array_length` takes an array and the number of a dimension"),
    };
    let signature = Signature::any(2, Volatility::Immutable);
    RowFunction { name: "length_of_dimension", signature, returns, values: |arrays, _| lengths(arrays) }.function()
}

fn lengths(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    let [given, dimensions] = arrays else { return internal_err!("a length is that of an array in a dimension") };
    if given.data_type().is_null() {
        return Ok(new_null_array(&DataType::Int64, given.len()));
    }
    let (given, dimensions) = (lists(given)?, cast(dimensions, &DataType::Int64)?);
    let dimensions = dimensions.as_primitive::<Int64Type>();
    let mut all = Int64Builder::with_capacity(given.len());
    for row in 0..given.len() {
        let dimension = if dimensions.is_valid(row) { dimensions.value(row) } else { 0 };
        all.append_option(length(&given, row, dimension)?);
    }
    Ok(Arc::new(all.finish()))
}

/// Returns the length of a row's array in a dimension; `None` for one that it does not have, and where it is empty.
fn length(given: &ListArray, row: usize, dimension: i64) -> Result<Option<i64>> {
    if given.is_null(row) || given.value_length(row) == 0 || dimension < 1 {
        return Ok(None);
    }
    if dimension == 1 {
        return Ok(Some(i64::from(given.value_length(row))));
    }
    let elements = given.value(row);
    match item(elements.data_type()) {
        Some(_) => length(&lists(&elements)?, 0, dimension - 1),
        None => Ok(None),
    }
}
