//! `x::numeric`, without a precision: as many digits as the value has, if its type determines that. A list has those of
//! its elements.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::super::literal_text;
use super::super::row_function::RowFunction;
use super::significant_digits::shortened;

/// Returns the function.
pub(super) fn numeric() -> ScalarUDF {
    let signature = Signature::any(1, Volatility::Immutable);
    RowFunction { name: "numeric", signature, returns, values }.function()
}

fn returns(types: &[DataType]) -> Result<DataType> {
    match types {
        [DataType::List(item)] => {
            let own = returns(std::slice::from_ref(item.data_type()))?;
            Ok(DataType::List(Arc::new(item.as_ref().clone().with_data_type(own))))
        }
        [whole] if whole.is_integer() => Ok(DataType::Decimal128(20, 0)),
        [decimal] if decimal.is_decimal() => Ok(decimal.clone()),
        // Floats and texts keep ten fractional digits.
        [other] if other.is_floating() || other.is_string() || other.is_null() => Ok(DataType::Decimal128(38, 10)),
        _ => plan_err!("a number is cast to `numeric`, or a text"),
    }
}

fn values(arrays: &[ArrayRef], to: &DataType) -> Result<ArrayRef> {
    let [values] = arrays else { return plan_err!("one number is cast") };
    let shortened = if values.data_type().is_floating() { Some(shortened(values)?) } else { None };
    let values = shortened.as_ref().unwrap_or(values);
    let written = if values.data_type().is_string() { with_exponents(values)? } else { None };
    let values = written.as_ref().unwrap_or(values);
    let options = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(values, to, &options)?)
}

/// Returns texts with the exponents of their numbers written out; `None` if there are none.
fn with_exponents(values: &ArrayRef) -> Result<Option<ArrayRef>> {
    let texts = cast(values, &DataType::Utf8)?;
    let texts = texts.as_string::<i32>();
    if !texts.iter().flatten().any(|text| text.contains(['e', 'E'])) {
        return Ok(None);
    }
    let all =
        texts.iter().map(|text| text.map(|text| literal_text::written_out(text.trim()).unwrap_or(text.to_owned())));
    Ok(Some(Arc::new(all.collect::<StringArray>())))
}
