//! The one 64-bit integer that is not a date, the minimum. The engine can't format it (`ScalarValue` panics, DataFusion
//! 55), so no cast may produce it.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::{Result, exec_err};

/// Returns the values; fails if that value is among them, or replaces it by null with `tries`.
pub(super) fn values(values: &ArrayRef, tries: bool) -> Result<ArrayRef> {
    let numbers = cast(values, &DataType::Int64)?;
    let numbers = numbers.as_primitive::<Int64Type>();
    if !numbers.iter().any(|number| number == Some(i64::MIN)) {
        return Ok(Arc::clone(values));
    }
    if !tries {
        return exec_err!("{} is out of the range of Date64", i64::MIN);
    }
    let dated: Int64Array = numbers.iter().map(|number| number.filter(|number| *number != i64::MIN)).collect();
    Ok(cast(&dated, values.data_type())?)
}
