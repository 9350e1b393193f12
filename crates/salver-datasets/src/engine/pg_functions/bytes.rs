//! Functions of bytes: their number, one of them, one of their bits, and two values joined.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, Int32Array, PrimitiveArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int32Type, Int64Type};
use datafusion::common::{DataFusionError, Result, exec_err, internal_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};
use salver_model::{Code, Error, SqlFault};

use super::super::row_function::RowFunction;

/// `octet_length(x)` of a text or of bytes.
pub(in crate::engine) fn octet_length() -> ScalarUDF {
    RowFunction::of_one("octet_length", counted, |arrays, _| lengths(&arrays[0], 1))
}

/// `bit_length(x)` of a text or of bytes.
pub(super) fn bit_length() -> ScalarUDF {
    RowFunction::of_one("bit_length", counted, |arrays, _| lengths(&arrays[0], 8))
}

/// `get_byte(x, n)`, counted from 0.
pub(super) fn get_byte() -> ScalarUDF {
    of_place("get_byte", |arrays, _| at(arrays, 1, |bytes, place| bytes.get(place).map(|byte| i32::from(*byte))))
}

/// `get_bit(x, n)`, counted from 0, which is the least bit of the first byte.
pub(super) fn get_bit() -> ScalarUDF {
    of_place("get_bit", |arrays, _| {
        at(arrays, 8, |bytes, place| bytes.get(place / 8).map(|byte| i32::from(byte >> (place % 8) & 1)))
    })
}

/// `x || y` of bytes.
pub(in crate::engine) fn joined_bytes() -> ScalarUDF {
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        let [one, other] = arrays else { return internal_err!("two values are joined") };
        let (one, other) = (cast(one, &DataType::Binary)?, cast(other, &DataType::Binary)?);
        let pairs = one.as_binary::<i32>().iter().zip(other.as_binary::<i32>());
        let joined: BinaryArray = pairs.map(|(one, other)| Some([one?, other?].concat())).collect();
        Ok(Arc::new(joined))
    };
    let signature = Signature::any(2, Volatility::Immutable);
    RowFunction { name: "joined_bytes", signature, returns: |_| Ok(DataType::Binary), values }.function()
}

fn of_place(name: &'static str, values: fn(&[ArrayRef], &DataType) -> Result<ArrayRef>) -> ScalarUDF {
    let returns = |types: &[DataType]| match types {
        [bytes, place] if bytes.is_binary() && place.is_integer() => Ok(DataType::Int32),
        _ => plan_err!("a part of bytes is one of a `bytea`, as in `get_byte(x, 0)`"),
    };
    RowFunction { name, signature: Signature::any(2, Volatility::Immutable), returns, values }.function()
}

fn counted(types: &[DataType]) -> Result<DataType> {
    match types {
        [own] if own.is_binary() || own.is_string() || own.is_null() => Ok(DataType::Int32),
        [DataType::Dictionary(_, values)] => counted(std::slice::from_ref(values)),
        [own] => plan_err!("the length of {own} in bytes is that of its text, as in `octet_length(x::text)`"),
        _ => internal_err!("a length is that of one value"),
    }
}

/// Returns the number of bytes of each value, times `units`.
fn lengths(values: &ArrayRef, units: i32) -> Result<ArrayRef> {
    let bytes = cast(&cast_text(values)?, &DataType::Binary)?;
    let bytes = bytes.as_binary::<i32>();
    let length = |bytes: &[u8]| i32::try_from(bytes.len()).ok().and_then(|length| length.checked_mul(units));
    let lengths: Result<Int32Array> = bytes
        .iter()
        .map(|value| match value.map(length) {
            Some(None) => exec_err!("the length is out of the range of integer"),
            known => Ok(known.flatten()),
        })
        .collect();
    Ok(Arc::new(lengths?))
}

/// Returns texts and nulls as texts of one kind, which can be cast to bytes.
fn cast_text(values: &ArrayRef) -> Result<ArrayRef> {
    Ok(if values.data_type().is_binary() { Arc::clone(values) } else { cast(values, &DataType::Utf8)? })
}

/// Returns a part of each value, which has `units` in each byte.
fn at(arrays: &[ArrayRef], units: usize, part: impl Fn(&[u8], usize) -> Option<i32>) -> Result<ArrayRef> {
    let [values, places] = arrays else { return internal_err!("a part of bytes has a place") };
    let (values, places) = (cast(values, &DataType::Binary)?, cast(places, &DataType::Int64)?);
    let pairs = values.as_binary::<i32>().iter().zip(places.as_primitive::<Int64Type>());
    let parts: Result<PrimitiveArray<Int32Type>> = pairs
        .map(|(bytes, place)| {
            let (Some(bytes), Some(place)) = (bytes, place) else { return Ok(None) };
            let found = usize::try_from(place).ok().and_then(|place| part(bytes, place));
            found.map(Some).ok_or_else(|| {
                let message = format!("there is no place {place} in a value with {}", bytes.len() * units);
                let error = Error::new(Code::Execution, message).with_hint("places are counted from 0");
                DataFusionError::External(Box::new(error.with_sql_fault(SqlFault::InvalidArgument)))
            })
        })
        .collect();
    Ok(Arc::new(parts?))
}
