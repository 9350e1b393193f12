//! `negated(x)`: `-(a - b)`, where the difference may be one of times, which the engine gives no sign.

use arrow::array::ArrayRef;
use arrow::compute::kernels::numeric::neg;
use arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::ScalarUDF;

use super::super::row_function::RowFunction;

/// Returns the function.
pub(super) fn negated() -> ScalarUDF {
    RowFunction::of_one("negated", returns, values)
}

fn returns(types: &[DataType]) -> Result<DataType> {
    match types {
        [own] if own.is_signed_integer() || own.is_floating() || own.is_decimal() || own.is_null() => Ok(own.clone()),
        [own @ (DataType::Duration(_) | DataType::Interval(_))] => Ok(own.clone()),
        _ => plan_err!("`-` takes a number or an interval"),
    }
}

fn values(arrays: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    match arrays {
        [nulls] if nulls.data_type().is_null() => Ok(ArrayRef::clone(nulls)),
        [values] => Ok(neg(values)?),
        _ => plan_err!("`-` takes one value"),
    }
}
