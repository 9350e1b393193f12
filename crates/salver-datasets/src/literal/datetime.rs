//! Converts text to dates, times of day and timestamps: a number of the column's units, and whether there is a
//! remainder.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, StringArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Date32Type, Int64Type, TimeUnit, i256};
use salver_model::Result;

use super::cast;
use super::number::Position;
use crate::infer::{UTC, parse_timestamp, to_nanos};

const DAY_NS: i128 = 86_400_000_000_000;

/// Returns the position of text among the values of a type; `None` if it is not a date or time.
pub(super) fn position(data_type: &DataType, text: &str) -> Option<Position> {
    let (text, is_finer) = to_nanos(text.trim());
    let nanos = match data_type {
        DataType::Time32(_) | DataType::Time64(_) => i128::from(read(&text, &DataType::Time64(TimeUnit::Nanosecond))?),
        DataType::Timestamp(_, zone) => moment(&text, zone.as_deref())?,
        _ => moment(&text, None)?,
    };
    let unit = match data_type {
        DataType::Date32 => DAY_NS,
        DataType::Date64 => per(TimeUnit::Millisecond),
        DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) => per(*unit),
        _ => return None,
    };
    let is_narrow = matches!(data_type, DataType::Date32 | DataType::Time32(_));
    let range = if is_narrow {
        i128::from(i32::MIN)..=i128::from(i32::MAX)
    } else {
        i128::from(i64::MIN)..=i128::from(i64::MAX)
    };
    let number = nanos.div_euclid(unit);
    Some(match number {
        number if number < *range.start() => Position::Below,
        number if number > *range.end() => Position::Above,
        number if nanos.rem_euclid(unit) == 0 && !is_finer => Position::At(i256::from_i128(number)),
        number => Position::Behind(i256::from_i128(number)),
    })
}

/// Returns a number of a type's units as a value of the type.
///
/// # Errors
/// A type that is not a date or time.
pub(super) fn scalar(data_type: &DataType, number: i256) -> Result<ArrayRef> {
    let number = number.to_i128().and_then(|number| i64::try_from(number).ok()).unwrap_or_default();
    let one: ArrayRef = match (data_type, i32::try_from(number)) {
        (DataType::Date32 | DataType::Time32(_), Ok(number)) => Arc::new(Int32Array::from(vec![number])),
        _ => Arc::new(Int64Array::from(vec![number])),
    };
    cast(&one, data_type)
}

/// Parses a timestamp as nanoseconds since 1970. A year of more than four digits is written with a sign.
fn moment(text: &str, zone: Option<&str>) -> Option<i128> {
    let is_utc = zone.is_none_or(|zone| matches!(zone, UTC | "+00:00" | "Z"));
    if let Some(instant) = parse_timestamp(text).filter(|instant| instant.zoned || is_utc) {
        return Some(i128::from(instant.seconds) * per(TimeUnit::Second) + i128::from(instant.fraction_ns));
    }
    // Arrow parses more formats, and time zones by name.
    let of = |unit| DataType::Timestamp(unit, zone.map(Arc::from));
    if let Some(nanos) = read(text, &of(TimeUnit::Nanosecond)) {
        return Some(i128::from(nanos));
    }
    if let Some(micros) = read(text, &of(TimeUnit::Microsecond)) {
        return Some(i128::from(micros) * 1_000);
    }
    if !is_utc || !text.starts_with(['+', '-']) {
        return None;
    }
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, "00:00"));
    let days = one(date, &DataType::Date32)?.as_primitive::<Date32Type>().value(0);
    let time = parse_timestamp(&format!("1970-01-01T{time}"))?;
    Some(i128::from(days) * DAY_NS + i128::from(time.seconds) * per(TimeUnit::Second) + i128::from(time.fraction_ns))
}

fn read(text: &str, data_type: &DataType) -> Option<i64> {
    let number = cast_with_options(&one(text, data_type)?, &DataType::Int64, &CastOptions::default()).ok()?;
    Some(number.as_primitive::<Int64Type>().value(0))
}

fn one(text: &str, data_type: &DataType) -> Option<ArrayRef> {
    let text = StringArray::from(vec![text]);
    cast_with_options(&text, data_type, &CastOptions::default()).ok().filter(|value| value.is_valid(0))
}

fn per(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_lies_between_values_where_something_is_left_over() {
        let at = |number: i64| Some(Position::At(i256::from(number)));
        let behind = |number: i64| Some(Position::Behind(i256::from(number)));
        let seconds = DataType::Timestamp(TimeUnit::Second, None);
        for (data_type, text, expected) in [
            (DataType::Date32, "1970-01-02", at(1)),
            (DataType::Date32, " 1970-01-02T00:00 ", at(1)),
            (DataType::Date32, "1970-01-02T00:00:01", behind(1)),
            (DataType::Date32, "1969-12-31T23:00", behind(-1)),
            (DataType::Date32, "+10000-01-01", at(2_932_897)),
            (DataType::Date32, "-0001-12-31", at(-719_529)),
            (DataType::Date32, "x", None),
            (seconds.clone(), "1970-01-01T00:00:01", at(1)),
            (seconds.clone(), "1970-01-01T00:00:01.5", behind(1)),
            (seconds.clone(), "1969-12-31T23:59:59.5", behind(-1)),
            (seconds.clone(), "+10000-01-01T00:00:01", at(253_402_300_801)),
            (seconds, "9999-12-31T23:59:59", at(253_402_300_799)),
            (DataType::Timestamp(TimeUnit::Nanosecond, None), "9999-12-31", Some(Position::Above)),
            (DataType::Timestamp(TimeUnit::Second, Some("Europe/Berlin".into())), "1970-01-01T01:00:01", at(1)),
            (DataType::Timestamp(TimeUnit::Nanosecond, None), "1970-01-01T00:00:00.0000000010", at(1)),
            (DataType::Timestamp(TimeUnit::Nanosecond, None), "1969-12-31T23:59:59.9999999981Z", behind(-2)),
            (DataType::Time64(TimeUnit::Nanosecond), "00:00:00.0000000011", behind(1)),
            (DataType::Time32(TimeUnit::Second), "00:00:01.5", behind(1)),
            (DataType::Time64(TimeUnit::Nanosecond), "00:00:00.000000001", at(1)),
        ] {
            assert_eq!(position(&data_type, text), expected, "{data_type} {text}");
        }
    }
}
