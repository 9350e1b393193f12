//! Converts the literals of a request to the type of the column that they are compared with. This is the one place that
//! defines how a column and a value compare, so that every execution path gives the same result.
//!
//! The conversion is exact. A number that the column's type can't hold (a fraction against an integer, a value out of
//! range) changes the comparison and is not rounded.

mod datetime;
mod fixed_binary;
mod number;

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Decimal256Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, LargeStringArray, StringArray, StringViewArray, UInt8Array, UInt16Array, UInt32Array,
    UInt64Array,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, i256};
use salver_model::{Code, Comparison, Error, Result, Value, hexadecimal};

use number::Position;

/// A comparison after conversion of its literal.
#[derive(Clone, Debug)]
pub(crate) enum Literal {
    /// Compares with this one value, of the column's type.
    Scalar(Comparison, ArrayRef),
    /// The same result for every value that is not null, and null for null.
    Constant(bool),
    /// Null for every row.
    Null,
}

/// Converts `value` for `column op value`, where the column's values have `data_type`.
pub(crate) fn convert(
    data_type: &DataType,
    op: Comparison,
    value: &Value,
    column: &dyn std::fmt::Display,
) -> Result<Literal> {
    if matches!(value, Value::Null) || matches!(data_type, DataType::Null) {
        return Ok(Literal::Null);
    }
    let wrong = |hint: &str| {
        Error::new(Code::InvalidValue, format!("{value} can't be compared with `{column}`, which is {data_type}"))
            .with_hint(hint)
    };
    let scalar = match data_type {
        DataType::Dictionary(_, values) => return convert(values, op, value, column),
        DataType::RunEndEncoded(_, values) => return convert(values.data_type(), op, value, column),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => match value {
            Value::Text(text) | Value::Bare(text) => string(data_type, text),
            _ => return Err(wrong("the column holds text: put the value in quotes")),
        },
        DataType::Boolean => match value {
            Value::Bool(b) => boolean(*b),
            Value::Text(text) | Value::Bare(text) if text.eq_ignore_ascii_case("true") => boolean(true),
            Value::Text(text) | Value::Bare(text) if text.eq_ignore_ascii_case("false") => boolean(false),
            _ => return Err(wrong("write `true` or `false`")),
        },
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            return float(data_type, op, number::float(value).ok_or_else(|| wrong("write a number"))?);
        }
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale)
            if *scale >= 0 =>
        {
            let power = i256::from_i128(10).checked_pow(u32::from(*precision));
            let max = power.map_or(i256::MAX, |power| power.wrapping_sub(i256::ONE));
            let position = number::position(value, u32::from(scale.unsigned_abs()), max.wrapping_neg(), max);
            return place(op, position.ok_or_else(|| wrong("write a number"))?, |scaled| {
                let wide = Decimal256Array::from(vec![scaled]).with_precision_and_scale(76, *scale);
                cast(&(Arc::new(wide.map_err(crate::fault::arrow)?) as ArrayRef), data_type)
            });
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            let bytes = bytes(value).ok_or_else(|| wrong("write the bytes in hexadecimal, as in '0x1f8b'"))?;
            return binary(data_type, op, bytes);
        }
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => {
            let hint = match data_type {
                DataType::Timestamp(..) => "write a time as '2026-01-31T12:00:00' or '2026-01-31T12:00:00Z'",
                DataType::Time32(_) | DataType::Time64(_) => "write a time of day as '12:00:00'",
                _ => "write a date as '2026-01-31'",
            };
            let (Value::Text(text) | Value::Bare(text)) = value else { return Err(wrong(hint)) };
            let position = datetime::position(data_type, text).ok_or_else(|| wrong(hint))?;
            return place(op, position, |number| datetime::scalar(data_type, number));
        }
        _ => match whole_bounds(data_type) {
            Some((min, max)) => {
                let bounds = (i256::from_i128(min), i256::from_i128(max));
                let position = number::position(value, 0, bounds.0, bounds.1).ok_or_else(|| wrong("write a number"))?;
                return place(op, position, |number| whole(data_type, number.to_i128().unwrap_or_default()));
            }
            None => {
                return Err(Error::new(
                    Code::InvalidFilter,
                    format!("`{column}` is {data_type} and can't be compared with a value"),
                )
                .with_hint("only tests for null work on it"));
            }
        },
    };
    Ok(Literal::Scalar(op, scalar))
}

/// Returns the comparison with a number that the column's type may not be able to hold.
fn place<T>(op: Comparison, position: Position<T>, scalar: impl FnOnce(T) -> Result<ArrayRef>) -> Result<Literal> {
    use Comparison::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    Ok(match (position, op) {
        (Position::At(number), _) => Literal::Scalar(op, scalar(number)?),
        (Position::Behind(number), Lt | LtEq) => Literal::Scalar(LtEq, scalar(number)?),
        (Position::Behind(number), Gt | GtEq) => Literal::Scalar(Gt, scalar(number)?),
        (Position::Behind(_), Eq) => Literal::Constant(false),
        (Position::Behind(_), NotEq) => Literal::Constant(true),
        (Position::Below, _) => Literal::Constant(matches!(op, Gt | GtEq | NotEq)),
        (Position::Above, _) => Literal::Constant(matches!(op, Lt | LtEq | NotEq)),
    })
}

/// Returns the comparison with bytes, which may not have the length of a fixed-size column.
fn binary(data_type: &DataType, op: Comparison, bytes: Vec<u8>) -> Result<Literal> {
    let (op, bytes) = match data_type {
        DataType::FixedSizeBinary(size) => match fixed_binary::compared(op, bytes, usize::try_from(*size).unwrap_or(0))
        {
            Ok(compared) => compared,
            Err(always) => return Ok(Literal::Constant(always)),
        },
        _ => (op, bytes),
    };
    let one = Arc::new(BinaryArray::from(vec![bytes.as_slice()])) as ArrayRef;
    Ok(Literal::Scalar(op, cast(&one, data_type)?))
}

fn boolean(b: bool) -> ArrayRef {
    Arc::new(BooleanArray::from(vec![b]))
}

/// Returns text as one value of a string type.
pub(crate) fn string(data_type: &DataType, text: &str) -> ArrayRef {
    match data_type {
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from(vec![text])),
        DataType::Utf8View => Arc::new(StringViewArray::from(vec![text])),
        _ => Arc::new(StringArray::from(vec![text])),
    }
}

/// Returns the comparison with a float.
fn float(data_type: &DataType, op: Comparison, number: f64) -> Result<Literal> {
    if *data_type == DataType::Float32 {
        return place(op, number::single(number), |number| Ok(Arc::new(Float32Array::from(vec![number]))));
    }
    let number = Arc::new(Float64Array::from(vec![number])) as ArrayRef;
    Ok(Literal::Scalar(op, if *data_type == DataType::Float64 { number } else { cast(&number, data_type)? }))
}

/// Returns the range of a type that is stored as an integer.
fn whole_bounds(data_type: &DataType) -> Option<(i128, i128)> {
    Some(match data_type {
        DataType::Int8 => (i128::from(i8::MIN), i128::from(i8::MAX)),
        DataType::Int16 => (i128::from(i16::MIN), i128::from(i16::MAX)),
        DataType::Int32 => (i128::from(i32::MIN), i128::from(i32::MAX)),
        DataType::Int64 | DataType::Duration(_) => (i128::from(i64::MIN), i128::from(i64::MAX)),
        DataType::UInt8 => (0, i128::from(u8::MAX)),
        DataType::UInt16 => (0, i128::from(u16::MAX)),
        DataType::UInt32 => (0, i128::from(u32::MAX)),
        DataType::UInt64 => (0, i128::from(u64::MAX)),
        _ => return None,
    })
}

fn whole(data_type: &DataType, number: i128) -> Result<ArrayRef> {
    Ok(match data_type {
        DataType::Int8 => Arc::new(Int8Array::from(vec![number as i8])),
        DataType::Int16 => Arc::new(Int16Array::from(vec![number as i16])),
        DataType::Int32 => Arc::new(Int32Array::from(vec![number as i32])),
        DataType::Int64 => Arc::new(Int64Array::from(vec![number as i64])),
        DataType::UInt8 => Arc::new(UInt8Array::from(vec![number as u8])),
        DataType::UInt16 => Arc::new(UInt16Array::from(vec![number as u16])),
        DataType::UInt32 => Arc::new(UInt32Array::from(vec![number as u32])),
        DataType::UInt64 => Arc::new(UInt64Array::from(vec![number as u64])),
        _ => cast(&(Arc::new(Int64Array::from(vec![number as i64])) as ArrayRef), data_type)?,
    })
}

fn cast(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, data_type, &options).map_err(crate::fault::arrow)
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    let (Value::Text(text) | Value::Bare(text)) = value else { return None };
    hexadecimal::decode(text.strip_prefix("0x").or_else(|| text.strip_prefix("\\x")).unwrap_or(text))
}

/// Converts the values of an `in` list to one array of the column's type; also returns whether there was a null. Values
/// that the type can't hold equal nothing and are dropped.
pub(crate) fn convert_list(
    data_type: &DataType,
    values: &[Value],
    column: &dyn std::fmt::Display,
) -> Result<(Option<ArrayRef>, bool)> {
    let mut has_null = false;
    let mut scalars = Vec::with_capacity(values.len());
    for value in values {
        match convert(data_type, Comparison::Eq, value, column)? {
            Literal::Scalar(_, scalar) => scalars.push(scalar),
            Literal::Constant(_) => {}
            Literal::Null => has_null = true,
        }
    }
    let list = match scalars.len() {
        0 => None,
        1 => scalars.pop(),
        _ => {
            let parts: Vec<&dyn Array> = scalars.iter().map(|scalar| &**scalar).collect();
            Some(arrow::compute::concat(&parts).map_err(crate::fault::arrow)?)
        }
    };
    Ok((list, has_null))
}
