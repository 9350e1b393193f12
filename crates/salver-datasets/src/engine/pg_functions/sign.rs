//! `sign`: a decimal for decimals and a float for other numbers; other types are refused.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::super::row_function::RowFunction;

/// Returns the function.
pub(super) fn sign() -> ScalarUDF {
    let signature = Signature::any(1, Volatility::Immutable);
    RowFunction { name: "sign", signature, returns, values }.function()
}

fn returns(types: &[DataType]) -> Result<DataType> {
    match types {
        [decimal] if decimal.is_decimal() => Ok(DataType::Decimal128(1, 0)),
        [other] if other.is_integer() || other.is_floating() || other.is_string() || other.is_null() => {
            Ok(DataType::Float64)
        }
        _ => plan_err!("`sign` takes a number"),
    }
}

fn values(arrays: &[ArrayRef], to: &DataType) -> Result<ArrayRef> {
    let [numbers] = arrays else { return plan_err!("`sign` takes a number") };
    let numbers = cast(numbers, &DataType::Float64)?;
    let sign = |x: f64| if x == 0.0 || x.is_nan() { 0.0 } else { x.signum() };
    let signs: Float64Array = numbers.as_primitive::<Float64Type>().unary(sign);
    Ok(cast(&(Arc::new(signs) as ArrayRef), to)?)
}
