//! `to_hex` and `~`, which use as many bits as the type of the number has.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringArray, downcast_integer_array};
use arrow::compute::cast;
use arrow::compute::kernels::bitwise::bitwise_not;
use arrow::datatypes::{DataType, Int32Type, Int64Type, UInt64Type};
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::super::row_function::RowFunction;

/// `to_hex(number)`: a negative number in two's complement, of which an `integer` has 32 bits.
pub(super) fn to_hex() -> ScalarUDF {
    let returns = |types: &[DataType]| whole(types, "to_hex").map(|_| DataType::Utf8);
    RowFunction { name: "to_hex", signature: one(), returns, values: hexadecimal }.function()
}

/// `bit_not(number)`, which is `~number`.
pub(super) fn bit_not() -> ScalarUDF {
    RowFunction { name: "bit_not", signature: one(), returns: |types| whole(types, "~"), values: turned }.function()
}

fn one() -> Signature {
    Signature::any(1, Volatility::Immutable)
}

/// Returns the integer type of the argument.
fn whole(types: &[DataType], name: &str) -> Result<DataType> {
    match types {
        [DataType::Null] => Ok(DataType::Int64),
        [whole] if whole.is_integer() => Ok(whole.clone()),
        _ => plan_err!("`{name}` takes a whole number; cast it, as in `x::bigint`"),
    }
}

fn hexadecimal(arrays: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let [numbers] = arrays else { return plan_err!("`to_hex` takes a whole number") };
    let texts: StringArray = match numbers.data_type() {
        DataType::Int8 | DataType::Int16 | DataType::Int32 => {
            let numbers = cast(numbers, &DataType::Int32)?;
            numbers.as_primitive::<Int32Type>().iter().map(|number| number.map(|x| format!("{x:x}"))).collect()
        }
        DataType::UInt64 => {
            numbers.as_primitive::<UInt64Type>().iter().map(|number| number.map(|x| format!("{x:x}"))).collect()
        }
        _ => {
            let numbers = cast(numbers, &DataType::Int64)?;
            numbers.as_primitive::<Int64Type>().iter().map(|number| number.map(|x| format!("{x:x}"))).collect()
        }
    };
    Ok(Arc::new(texts))
}

fn turned(arrays: &[ArrayRef], to: &DataType) -> Result<ArrayRef> {
    let [numbers] = arrays else { return plan_err!("`~` takes a whole number") };
    let numbers = cast(numbers, to)?;
    let numbers = &*numbers;
    downcast_integer_array! {
        numbers => Ok(Arc::new(bitwise_not(numbers)?) as ArrayRef),
        _ => plan_err!("`~` takes a whole number")
    }
}
