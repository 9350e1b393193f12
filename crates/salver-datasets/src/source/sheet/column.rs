//! Builds an array from one column of cells. A spreadsheet types each cell; a column gets the common type of its cells.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, NullArray, StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, TimeUnit};
use calamine::Data;

use super::{date_format, iso_duration};
use crate::infer::{parse_date, parse_timestamp};

/// The smallest integer that may be another one in the file: a cell is read as a float.
const INEXACT_WHOLE: f64 = 9_007_199_254_740_992.0;
const DAY_US: i64 = 86_400_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellKind {
    Bool,
    Int,
    Float,
    Date,
    Timestamp,
    Text,
}

/// Returns the type and the values.
pub(super) fn build(cells: &mut [Data]) -> (DataType, ArrayRef) {
    date_day_zero(cells);
    let cells = &*cells;
    let mut kind = None;
    for cell in cells {
        if let Some(next) = kind_of(cell) {
            kind = Some(kind.map_or(next, |kind| widened(kind, next)));
        }
    }
    let Some(kind) = kind else { return (DataType::Null, Arc::new(NullArray::new(cells.len()))) };
    let array: ArrayRef = match kind {
        CellKind::Bool => Arc::new(cells.iter().map(boolean).collect::<BooleanArray>()),
        CellKind::Int => Arc::new(cells.iter().map(integer).collect::<Int64Array>()),
        CellKind::Float => Arc::new(cells.iter().map(number).collect::<Float64Array>()),
        CellKind::Date => {
            let days = |cell| i32::try_from(micros(cell)?.div_euclid(DAY_US)).ok();
            Arc::new(cells.iter().map(days).collect::<Date32Array>())
        }
        CellKind::Timestamp => Arc::new(cells.iter().map(micros).collect::<TimestampMicrosecondArray>()),
        CellKind::Text => Arc::new(cells.iter().map(text).collect::<StringArray>()),
    };
    debug_assert!(
        kind != CellKind::Timestamp || *array.data_type() == DataType::Timestamp(TimeUnit::Microsecond, None)
    );
    (array.data_type().clone(), array)
}

/// Makes the first day of 1904 a date among other dates; alone it is a time of day. The formats of xlsx tell which it
/// is, those of the other formats are not known.
fn date_day_zero(cells: &mut [Data]) {
    if cells.iter().any(|cell| micros(cell).is_some()) {
        for cell in cells {
            if let Some(at) = date_format::day_zero(cell) {
                *cell = Data::DateTimeIso(at.format("%Y-%m-%dT%H:%M:%S%.f").to_string());
            }
        }
    }
}

fn kind_of(cell: &Data) -> Option<CellKind> {
    Some(match cell {
        Data::Empty | Data::Error(_) => return None,
        Data::Bool(_) => CellKind::Bool,
        Data::Int(_) => CellKind::Int,
        Data::Float(_) => {
            if integer(cell).is_some() {
                CellKind::Int
            } else {
                CellKind::Float
            }
        }
        Data::DateTime(_) | Data::DateTimeIso(_) => match micros(cell) {
            Some(micros) if micros % DAY_US == 0 => CellKind::Date,
            Some(_) => CellKind::Timestamp,
            None => CellKind::Text,
        },
        Data::String(_) | Data::DurationIso(_) => CellKind::Text,
    })
}

fn widened(a: CellKind, b: CellKind) -> CellKind {
    match (a, b) {
        (a, b) if a == b => a,
        (CellKind::Int, CellKind::Float) | (CellKind::Float, CellKind::Int) => CellKind::Float,
        (CellKind::Date, CellKind::Timestamp) | (CellKind::Timestamp, CellKind::Date) => CellKind::Timestamp,
        _ => CellKind::Text,
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
        Data::Float(value) if value.fract() == 0.0 && value.abs() < INEXACT_WHOLE => Some(*value as i64),
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
            #[allow(clippy::cast_possible_truncation, reason = "`as` saturates")]
            _ => duration(i128::from((value.as_f64() * 86_400_000.0).round() as i64) * 1_000),
        },
        Data::DurationIso(text) => {
            iso_duration::micros(text).map_or_else(|| text.clone(), |micros| duration(micros.into()))
        }
        Data::DateTimeIso(text) | Data::String(text) => text.clone(),
        Data::Bool(value) => value.to_string(),
        Data::Int(value) => value.to_string(),
        Data::Float(value) => value.to_string(),
    })
}

/// Formats a duration as `26:30:00` or `26:30:00.250`.
fn duration(micros: i128) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let (seconds, micros) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
    let fraction = match micros {
        0 => String::new(),
        _ if micros % 1_000 == 0 => format!(".{:03}", micros / 1_000),
        _ => format!(".{micros:06}"),
    };
    format!("{sign}{:02}:{:02}:{:02}{fraction}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}
