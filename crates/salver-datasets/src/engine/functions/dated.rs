//! The one value that is no date of 64 bits: the least of the numbers. The engine can't show it (`ScalarValue` panics,
//! DataFusion 55), so that no cast makes it.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, TimeUnit};
use datafusion::common::{Result, exec_err};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::expr::ScalarFunction;

use super::operators::{Passing, dated};

/// What is cast, without that value, where the cast would make it; with `tries`, null in its place.
pub(super) fn before_cast(expr: Expr, from: &DataType, to: &DataType, tries: bool) -> (Expr, bool) {
    let same_number = matches!(from, DataType::Int64 | DataType::Timestamp(TimeUnit::Millisecond, _));
    let is_done = matches!(&expr, Expr::ScalarFunction(call)
        if call.func.inner().downcast_ref::<Passing>().is_some_and(Passing::is_dated));
    if *to != DataType::Date64 || !same_number || is_done {
        return (expr, false);
    }
    (Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(dated(tries)), vec![expr])), true)
}

/// The values without that one; with `tries`, null in its place.
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
