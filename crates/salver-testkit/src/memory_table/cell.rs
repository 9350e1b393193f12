//! One value of a column, and the comparison of two.

use std::cmp::Ordering;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{DataType, Decimal256Type, Float64Type, Int64Type};
use arrow::util::display::array_value_to_string;
use salver_model::{Code, Error, Result, Value};

use super::broken;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Null,
    Bool(bool),
    /// Whole numbers, and decimals as units of their last digit.
    Int(arrow::datatypes::i256),
    Float(f64),
    Text(String),
    /// Dates and times as counts of their unit; anything else as its text.
    Count(i64),
}

impl Cell {
    /// The value of `column` at `row`.
    pub(crate) fn at(column: &ArrayRef, row: usize) -> Result<Self> {
        let one = column.slice(row, 1);
        if one.is_null(0) {
            return Ok(Self::Null);
        }
        let as_type = |to: &DataType| cast(&one, to).map_err(broken);
        Ok(match column.data_type() {
            DataType::Dictionary(_, value) => return Self::at(&as_type(value)?, 0),
            DataType::Boolean => Self::Bool(one.as_boolean().value(0)),
            t if t.is_integer() => {
                Self::Int(as_type(&DataType::Decimal256(20, 0))?.as_primitive::<Decimal256Type>().value(0))
            }
            DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => {
                Self::Int(as_type(&DataType::Decimal256(76, *scale))?.as_primitive::<Decimal256Type>().value(0))
            }
            t if t.is_floating() => Self::Float(as_type(&DataType::Float64)?.as_primitive::<Float64Type>().value(0)),
            DataType::Date32 | DataType::Time32(_) => {
                let days = as_type(&DataType::Int32)?;
                Self::Count(cast(&days, &DataType::Int64).map_err(broken)?.as_primitive::<Int64Type>().value(0))
            }
            DataType::Date64 | DataType::Time64(_) | DataType::Timestamp(..) => {
                Self::Count(as_type(&DataType::Int64)?.as_primitive::<Int64Type>().value(0))
            }
            _ => Self::Text(array_value_to_string(&one, 0).map_err(broken)?),
        })
    }

    /// Less, equal or greater, of two values of one type that are not null. NaN is the largest number.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) if a == b => Ordering::Equal,
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Count(a), Self::Count(b)) => a.cmp(b),
            _ => Ordering::Equal,
        }
    }

    /// `value` as a value of a column of type `to`; `None` for null.
    pub(crate) fn of(value: &Value, to: &DataType) -> Result<Self> {
        let mismatch = || Error::new(Code::InvalidValue, format!("{value} can't be compared with {to}"));
        if let DataType::Dictionary(_, inner) = to {
            return Self::of(value, inner);
        }
        let is_text = matches!(to, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        let text = match value {
            Value::Null => return Ok(Self::Null),
            Value::Bool(value) if *to == DataType::Boolean => return Ok(Self::Bool(*value)),
            Value::Float(value) if to.is_floating() => return Ok(Self::Float(*value)),
            Value::Text(text) if is_text || !matches!(to, DataType::Boolean) => text.clone(),
            Value::Bare(text) => text.clone(),
            Value::Int(_) | Value::UInt(_) | Value::Float(_) if to.is_numeric() => value.to_string(),
            _ => return Err(mismatch()),
        };
        if matches!(to, DataType::Struct(_) | DataType::List(_) | DataType::Map(..)) {
            return Err(mismatch());
        }
        let options = CastOptions { safe: false, ..CastOptions::default() };
        let array = cast_with_options(&StringArray::from(vec![text]), to, &options)
            .map_err(|error| mismatch().with_source(error))?;
        Self::at(&array, 0)
    }
}
