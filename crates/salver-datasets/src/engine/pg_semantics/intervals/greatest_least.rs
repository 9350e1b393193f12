//! `greatest` and `least` of intervals.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::{cast, interleave};
use arrow::datatypes::{DataType, Decimal128Type, IntervalUnit};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};

use super::super::super::row_function::{answered, rows_of};
use super::lengths;

const INTERVAL: DataType = DataType::Interval(IntervalUnit::MonthDayNano);

/// Returns the function, which ignores nulls.
pub(in crate::engine::pg_semantics) fn function(is_least: bool) -> ScalarUDF {
    ScalarUDF::new_from_impl(Extreme { is_least, signature: Signature::variadic_any(Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Extreme {
    is_least: bool,
    signature: Signature,
}

impl ScalarUDFImpl for Extreme {
    fn name(&self) -> &'static str {
        if self.is_least { "least" } else { "greatest" }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(INTERVAL)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let (all_scalar, rows) = rows_of(&args);
        let arrays = args
            .args
            .iter()
            .map(|arg| Ok(cast(&arg.to_array(rows)?, &INTERVAL)?))
            .collect::<Result<Vec<ArrayRef>>>()?;
        let lengths = arrays.iter().map(lengths).collect::<Result<Vec<_>>>()?;
        if arrays.is_empty() {
            return internal_err!("of no intervals none is the longest");
        }
        let length = |array: usize, row: usize| {
            let lengths = lengths[array].as_primitive::<Decimal128Type>();
            lengths.is_valid(row).then(|| lengths.value(row))
        };
        let places: Vec<(usize, usize)> = (0..rows)
            .map(|row| {
                let known = (0..arrays.len()).filter_map(|array| Some((length(array, row)?, array)));
                let found = if self.is_least {
                    known.min_by_key(|(length, array)| (*length, *array))
                } else {
                    known.max_by_key(|(length, array)| (*length, std::cmp::Reverse(*array)))
                };
                (found.map_or(0, |(_, array)| array), row)
            })
            .collect();
        let arrays: Vec<&dyn Array> = arrays.iter().map(|array| &**array).collect();
        answered(interleave(&arrays, &places)?, all_scalar)
    }
}
