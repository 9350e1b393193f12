//! `array_length(x, n)`: how many elements an array has in one of its dimensions. The engine's own looks into the first
//! element of each without asking whether there is one (DataFusion 55).

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
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
    let dimensions = cast(dimensions, &DataType::Int64)?;
    let dimensions = dimensions.as_primitive::<Int64Type>();
    let length = |row: usize| {
        let dimension = usize::try_from(dimensions.is_valid(row).then(|| dimensions.value(row))?).ok()?;
        length(&given.slice(row, 1), dimension)
    };
    Ok(Arc::new((0..given.len()).map(length).collect::<Int64Array>()))
}

/// Returns the length of the only array in a dimension; `None` for one that it does not have, and where it is empty.
fn length(array: &ArrayRef, dimension: usize) -> Option<i64> {
    item(array.data_type()).filter(|_| array.is_valid(0) && dimension > 0)?;
    let elements = lists(array).ok()?.value(0);
    match dimension {
        _ if elements.is_empty() => None,
        1 => i64::try_from(elements.len()).ok(),
        _ => length(&elements.slice(0, 1), dimension - 1),
    }
}
