//! Intervals compare by how long they are, with 24 hours to a day and 30 days to a month, as in PostgreSQL; the kernels
//! compare months first.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Decimal128Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, IntervalMonthDayNanoType, IntervalUnit};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::call;

const DAY_NANOS: i128 = 86_400_000_000_000;
const MONTH_DAYS: i128 = 30;
const LENGTH: DataType = DataType::Decimal128(38, 0);

/// How long an interval is, in nanoseconds.
pub(super) fn length(expr: Expr) -> Expr {
    call(ScalarUDF::new_from_impl(Length { signature: Signature::any(1, Volatility::Immutable) }), vec![expr])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Length {
    signature: Signature,
}

impl ScalarUDFImpl for Length {
    fn name(&self) -> &'static str {
        "length"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(LENGTH)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.as_slice() {
            [ColumnarValue::Array(array)] => Ok(ColumnarValue::Array(lengths(array)?)),
            [ColumnarValue::Scalar(value)] => {
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&lengths(&value.to_array()?)?, 0)?))
            }
            _ => internal_err!("one interval has a length"),
        }
    }
}

fn lengths(array: &ArrayRef) -> Result<ArrayRef> {
    let intervals = cast(array, &DataType::Interval(IntervalUnit::MonthDayNano))?;
    let lengths: Decimal128Array =
        intervals.as_primitive::<IntervalMonthDayNanoType>().unary::<_, Decimal128Type>(|interval| {
            let days = i128::from(interval.months) * MONTH_DAYS + i128::from(interval.days);
            days * DAY_NANOS + i128::from(interval.nanoseconds)
        });
    Ok(Arc::new(lengths.with_data_type(LENGTH)))
}
