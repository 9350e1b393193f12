//! Parses text as the declared type of a column, without loss; the error is the row of the first value that does not
//! fit. Arrow's casts round decimals, and truncate fractions of a second and times of day; here such a value does not
//! fit.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, StringArray, TimestampMicrosecondArray, TimestampMicrosecondBuilder,
    TimestampNanosecondBuilder, new_null_array,
};
use arrow::compute::kernels::cmp::distinct;
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Float16Type, Float32Type, Float64Type, TimeUnit};

use super::decimal;
use crate::infer::{UTC, parse_timestamp, to_nanos};

/// Bytes of `2026-01-31`.
const DATE_BYTES: usize = 10;

/// Parses values of the type `wanted`, with the nulls of `texts`.
///
/// # Errors
/// The row of the first text that is invalid, or would lose a part.
pub(crate) fn from_text(texts: &StringArray, wanted: &DataType) -> Result<ArrayRef, usize> {
    if wanted.is_temporal() {
        // Arrow truncates to nanoseconds.
        all(texts, |text| !to_nanos(text).1)?;
    }
    match wanted {
        wanted if decimal::scale_of(wanted).is_some() => decimal::decimals(texts, wanted),
        wanted if wanted.is_floating() => floats(texts, wanted),
        DataType::Timestamp(_, zone) => coarser(&moments(texts, zone.as_deref())?, wanted),
        DataType::Date64 => coarser(&moments(texts, None)?, wanted),
        DataType::Date32 => {
            // Longer text has a time of day, which must be midnight.
            let is_long = |text: &str| text.len() > DATE_BYTES && !text.starts_with(['+', '-']);
            if texts.iter().flatten().any(is_long) {
                return coarser(&moments(texts, None)?, wanted);
            }
            cast(texts, wanted)
        }
        DataType::Time32(_) | DataType::Time64(_) => {
            // Arrow parses a bare number as nanoseconds.
            all(texts, |text| text.contains(':'))?;
            coarser(&cast(texts, &DataType::Time64(TimeUnit::Nanosecond))?, wanted)
        }
        DataType::Interval(_) => {
            // Arrow parses a bare number as months.
            all(texts, |text| text.contains(char::is_alphabetic))?;
            cast(texts, wanted)
        }
        DataType::Duration(_) => durations(texts, wanted),
        // Arrow casts any value to a list of one item.
        wanted if wanted.is_nested() => {
            all(texts, |_| false)?;
            Ok(new_null_array(wanted, texts.len()))
        }
        wanted => cast(texts, wanted),
    }
}

/// Checks that `is_good` holds for every text; the error is the row of the first other one.
fn all(texts: &StringArray, is_good: impl Fn(&str) -> bool) -> Result<(), usize> {
    match texts.iter().position(|text| text.is_some_and(|text| !is_good(text))) {
        Some(row) => Err(row),
        None => Ok(()),
    }
}

/// Parses durations as in responses (`PT90S`, `-PT0.5S`, `P0D`), or as integers in the type's unit.
fn durations(texts: &StringArray, wanted: &DataType) -> Result<ArrayRef, usize> {
    let mut counts = Vec::with_capacity(texts.len());
    for (row, text) in texts.iter().enumerate() {
        counts.push(text.map(|text| duration(text, wanted).ok_or(row)).transpose()?);
    }
    cast(&Int64Array::from(counts), wanted)
}

fn duration(text: &str, wanted: &DataType) -> Option<i64> {
    let places = match wanted {
        DataType::Duration(TimeUnit::Second) => 0,
        DataType::Duration(TimeUnit::Millisecond) => 3,
        DataType::Duration(TimeUnit::Microsecond) => 6,
        _ => 9,
    };
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |unsigned| ("-", unsigned));
    if unsigned == "P0D" {
        return Some(0);
    }
    let Some(seconds) = unsigned.strip_prefix("PT").and_then(|rest| rest.strip_suffix('S')) else {
        return text.parse().ok();
    };
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let fraction = fraction.trim_end_matches('0');
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) || fraction.len() > places {
        return None;
    }
    format!("{sign}{whole}{fraction:0<places$}").parse().ok()
}

/// Casts; the error is the row of the first invalid value.
fn cast(texts: &dyn Array, wanted: &DataType) -> Result<ArrayRef, usize> {
    let options = CastOptions { safe: true, ..CastOptions::default() };
    let cast = cast_with_options(texts, wanted, &options).map_err(|_| 0_usize)?;
    if cast.logical_null_count() > texts.logical_null_count() {
        return Err((0..texts.len()).find(|row| cast.is_null(*row) && !texts.is_null(*row)).unwrap_or(0));
    }
    Ok(cast)
}

/// Casts to a type with larger units, without loss.
fn coarser(fine: &ArrayRef, wanted: &DataType) -> Result<ArrayRef, usize> {
    let coarse = cast(fine, wanted)?;
    if fine.data_type() == wanted {
        return Ok(coarse);
    }
    let back = cast(&coarse, fine.data_type())?;
    let differs = distinct(fine, &back).map_err(|_| 0_usize)?;
    match (0..differs.len()).find(|row| differs.value(*row)) {
        Some(row) => Err(row),
        None => Ok(coarse),
    }
}

/// Parses floats; a number out of range is invalid, but `inf` is valid.
fn floats(texts: &StringArray, wanted: &DataType) -> Result<ArrayRef, usize> {
    let floats = cast(texts, wanted)?;
    let is_beyond = |row: &usize| !texts.is_null(*row) && !is_finite(&floats, *row) && has_digits(texts.value(*row));
    match (0..texts.len()).find(is_beyond) {
        Some(row) => Err(row),
        None => Ok(floats),
    }
}

/// Returns whether a float is finite.
pub(crate) fn is_finite(floats: &ArrayRef, row: usize) -> bool {
    match floats.data_type() {
        DataType::Float16 => floats.as_primitive::<Float16Type>().value(row).is_finite(),
        DataType::Float32 => floats.as_primitive::<Float32Type>().value(row).is_finite(),
        _ => floats.as_primitive::<Float64Type>().value(row).is_finite(),
    }
}

/// Returns whether text that was parsed as a float is a number, and not a word such as `inf` or `NaN`.
pub(super) fn has_digits(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Parses timestamps as nanoseconds, or as microseconds if nanoseconds overflow. Text without an offset is in `zone`.
fn moments(texts: &StringArray, zone: Option<&str>) -> Result<ArrayRef, usize> {
    if let Some(moments) = plain_moments(texts, zone) {
        return Ok(moments);
    }
    // Arrow parses more formats, and time zones by name.
    let of = |unit| DataType::Timestamp(unit, zone.map(Arc::from));
    cast(texts, &of(TimeUnit::Nanosecond)).or_else(|_| cast(texts, &of(TimeUnit::Microsecond)))
}

/// Parses timestamps in ISO 8601; `None` if any has another format or zone.
fn plain_moments(texts: &StringArray, zone: Option<&str>) -> Option<ArrayRef> {
    let is_utc = zone.is_none_or(|zone| matches!(zone, UTC | "+00:00" | "Z"));
    let parse = |text: &str| match parse_timestamp(text) {
        Some(at) => Some(at).filter(|at| at.zoned || is_utc),
        // A date among timestamps is its midnight.
        None if text.len() == DATE_BYTES && is_utc => parse_timestamp(&format!("{text}T00:00")),
        None => None,
    };
    let mut nanos = TimestampNanosecondBuilder::with_capacity(texts.len());
    let fits = texts.iter().try_for_each(|text| {
        nanos.append_option(match text {
            Some(text) => Some(parse(text)?.nanos()?),
            None => None,
        });
        Some(())
    });
    if fits.is_some() {
        return Some(Arc::new(nanos.finish().with_timezone_opt(zone.map(Arc::from))));
    }
    let mut micros = TimestampMicrosecondBuilder::with_capacity(texts.len());
    for text in texts {
        micros.append_option(match text {
            Some(text) => Some(parse(text).filter(|at| at.fraction_ns % 1_000 == 0)?.micros()?),
            None => None,
        });
    }
    let micros: TimestampMicrosecondArray = micros.finish();
    Some(Arc::new(micros.with_timezone_opt(zone.map(Arc::from))))
}
