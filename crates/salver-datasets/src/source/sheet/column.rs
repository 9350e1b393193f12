//! Builds an array from one column of cells. A spreadsheet types each cell; a column gets the common type of its cells.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, NullArray, StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, TimeUnit};
use calamine::Data;

use crate::infer::{parse_date, parse_timestamp};

/// The largest integer that a cell stores exactly.
const EXACT_WHOLE: f64 = 9_007_199_254_740_992.0;
const DAY_US: i64 = 86_400_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bool,
    Int,
    Float,
    Date,
    Timestamp,
    Text,
}

/// Returns the type and the values.
pub(super) fn build(cells: &[Data]) -> (DataType, ArrayRef) {
    let mut kind = None;
    for cell in cells {
        if let Some(next) = kind_of(cell) {
            kind = Some(kind.map_or(next, |kind| widened(kind, next)));
        }
    }
    let Some(kind) = kind else { return (DataType::Null, Arc::new(NullArray::new(cells.len()))) };
    let array: ArrayRef = match kind {
        Kind::Bool => Arc::new(cells.iter().map(boolean).collect::<BooleanArray>()),
        Kind::Int => Arc::new(cells.iter().map(integer).collect::<Int64Array>()),
        Kind::Float => Arc::new(cells.iter().map(number).collect::<Float64Array>()),
        Kind::Date => {
            let days = |cell| i32::try_from(micros(cell)?.div_euclid(DAY_US)).ok();
            Arc::new(cells.iter().map(days).collect::<Date32Array>())
        }
        Kind::Timestamp => Arc::new(cells.iter().map(micros).collect::<TimestampMicrosecondArray>()),
        Kind::Text => Arc::new(cells.iter().map(text).collect::<StringArray>()),
    };
    debug_assert!(kind != Kind::Timestamp || *array.data_type() == DataType::Timestamp(TimeUnit::Microsecond, None));
    (array.data_type().clone(), array)
}

fn kind_of(cell: &Data) -> Option<Kind> {
    Some(match cell {
        Data::Empty | Data::Error(_) => return None,
        Data::Bool(_) => Kind::Bool,
        Data::Int(_) => Kind::Int,
        Data::Float(_) => {
            if integer(cell).is_some() {
                Kind::Int
            } else {
                Kind::Float
            }
        }
        Data::DateTime(_) | Data::DateTimeIso(_) => match micros(cell) {
            Some(micros) if micros % DAY_US == 0 => Kind::Date,
            Some(_) => Kind::Timestamp,
            None => Kind::Text,
        },
        Data::String(_) | Data::DurationIso(_) => Kind::Text,
    })
}

fn widened(a: Kind, b: Kind) -> Kind {
    match (a, b) {
        (a, b) if a == b => a,
        (Kind::Int, Kind::Float) | (Kind::Float, Kind::Int) => Kind::Float,
        (Kind::Date, Kind::Timestamp) | (Kind::Timestamp, Kind::Date) => Kind::Timestamp,
        _ => Kind::Text,
    }
}

fn boolean(cell: &Data) -> Option<bool> {
    if let Data::Bool(value) = cell { Some(*value) } else { None }
}

fn number(cell: &Data) -> Option<f64> {
    match cell {
        Data::Float(value) => Some(*value),
        #[allow(clippy::cast_precision_loss, reason = "a column of numbers that are not all whole has no other type")]
        Data::Int(value) => Some(*value as f64),
        _ => None,
    }
}

fn integer(cell: &Data) -> Option<i64> {
    match cell {
        Data::Int(value) => Some(*value),
        #[allow(clippy::cast_possible_truncation, reason = "whole and in range")]
        Data::Float(value) if value.fract() == 0.0 && value.abs() <= EXACT_WHOLE => Some(*value as i64),
        _ => None,
    }
}

/// Returns the microseconds since 1970 of a date or a timestamp; `None` for a time of day or a duration.
fn micros(cell: &Data) -> Option<i64> {
    match cell {
        Data::DateTime(value) if value.is_datetime() && value.as_f64() >= 1.0 => {
            Some(value.as_datetime()?.and_utc().timestamp_micros())
        }
        Data::DateTimeIso(text) => match parse_date(text) {
            Some(days) => Some(i64::from(days) * DAY_US),
            None => parse_timestamp(text)?.micros(),
        },
        _ => None,
    }
}

/// Returns a cell as text; `None` for an empty one.
pub(super) fn text(cell: &Data) -> Option<String> {
    Some(match cell {
        Data::Empty | Data::Error(_) => return None,
        Data::DateTime(value) => match (micros(cell), value.as_datetime()) {
            (Some(micros), Some(at)) if micros % DAY_US == 0 => at.format("%Y-%m-%d").to_string(),
            (Some(_), Some(at)) => at.format("%Y-%m-%dT%H:%M:%S%.f").to_string(),
            (None, Some(at)) if value.is_datetime() => at.format("%H:%M:%S%.f").to_string(),
            _ => duration(value.as_f64()),
        },
        Data::DateTimeIso(text) | Data::DurationIso(text) | Data::String(text) => text.clone(),
        Data::Bool(value) => value.to_string(),
        Data::Int(value) => value.to_string(),
        Data::Float(value) => value.to_string(),
    })
}

/// Formats a duration in days as `26:30:00` or `26:30:00.250`.
fn duration(days: f64) -> String {
    #[allow(clippy::cast_possible_truncation, reason = "`as` saturates")]
    let ms = (days * 86_400_000.0).round() as i64;
    let sign = if ms < 0 { "-" } else { "" };
    let (seconds, ms) = (ms.unsigned_abs() / 1_000, ms.unsigned_abs() % 1_000);
    let fraction = if ms > 0 { format!(".{ms:03}") } else { String::new() };
    format!("{sign}{:02}:{:02}:{:02}{fraction}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}
