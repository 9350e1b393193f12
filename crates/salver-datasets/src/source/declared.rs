//! Text as the type that a column is declared to have: the whole of a value, or the row of the first that does not fit.
//! Arrow's casts round decimals and cut fractions of a second and times of a day; here such a value does not fit.

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

/// Values of the type that is `wanted`, whose nulls are those of `texts`.
///
/// # Errors
/// The row of the first text that is no such value, or of which a part would be lost.
pub(crate) fn from_text(texts: &StringArray, wanted: &DataType) -> Result<ArrayRef, usize> {
    if wanted.is_temporal() {
        // Arrow cuts what is finer than nanoseconds.
        all(texts, |text| !to_nanos(text).1)?;
    }
    match wanted {
        wanted if decimal::scale_of(wanted).is_some() => decimal::decimals(texts, wanted),
        wanted if wanted.is_floating() => floats(texts, wanted),
        DataType::Timestamp(_, zone) => coarser(&moments(texts, zone.as_deref())?, wanted),
        DataType::Date64 => coarser(&moments(texts, None)?, wanted),
        DataType::Date32 => {
            // Longer text has a time of the day, which must be midnight.
            let is_long = |text: &str| text.len() > 10 && !text.starts_with(['+', '-']);
            if texts.iter().flatten().any(is_long) {
                return coarser(&moments(texts, None)?, wanted);
            }
            cast(texts, wanted)
        }
        DataType::Time32(_) | DataType::Time64(_) => {
            // Arrow takes a bare number for nanoseconds.
            all(texts, |text| text.contains(':'))?;
            coarser(&cast(texts, &DataType::Time64(TimeUnit::Nanosecond))?, wanted)
        }
        DataType::Interval(_) => {
            // Arrow takes a bare number for months.
            all(texts, |text| text.contains(char::is_alphabetic))?;
            cast(texts, wanted)
        }
        DataType::Duration(_) => durations(texts, wanted),
        // Arrow makes a list of one item of anything.
        wanted if wanted.is_nested() => {
            all(texts, |_| false)?;
            Ok(new_null_array(wanted, texts.len()))
        }
        wanted => cast(texts, wanted),
    }
}

/// That every text is one `is_good` says so of.
fn all(texts: &StringArray, is_good: impl Fn(&str) -> bool) -> Result<(), usize> {
    match texts.iter().position(|text| text.is_some_and(|text| !is_good(text))) {
        Some(row) => Err(row),
        None => Ok(()),
    }
}

/// Durations as answers have them (`PT90S`, `-PT0.5S`, `P0D`), or as whole numbers of the type's unit.
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

/// A cast that tells what it can't read.
fn cast(texts: &dyn Array, wanted: &DataType) -> Result<ArrayRef, usize> {
    let options = CastOptions { safe: true, ..CastOptions::default() };
    let cast = cast_with_options(texts, wanted, &options).map_err(|_| 0_usize)?;
    if cast.logical_null_count() > texts.logical_null_count() {
        return Err((0..texts.len()).find(|row| cast.is_null(*row) && !texts.is_null(*row)).unwrap_or(0));
    }
    Ok(cast)
}

/// A cast to a type with larger units, which must lose nothing.
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

/// Floats; a number beyond the type's is none, where `inf` is.
fn floats(texts: &StringArray, wanted: &DataType) -> Result<ArrayRef, usize> {
    let floats = cast(texts, wanted)?;
    let is_beyond = |row: &usize| !texts.is_null(*row) && !is_finite(&floats, *row) && has_digits(texts.value(*row));
    match (0..texts.len()).find(is_beyond) {
        Some(row) => Err(row),
        None => Ok(floats),
    }
}

/// Whether one of an array of floats is neither infinite nor none.
pub(crate) fn is_finite(floats: &ArrayRef, row: usize) -> bool {
    match floats.data_type() {
        DataType::Float16 => floats.as_primitive::<Float16Type>().value(row).is_finite(),
        DataType::Float32 => floats.as_primitive::<Float32Type>().value(row).is_finite(),
        _ => floats.as_primitive::<Float64Type>().value(row).is_finite(),
    }
}

/// Whether text that was read as a float was a number, and no word such as `inf` or `NaN`.
pub(super) fn has_digits(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Moments, as nanoseconds, or as microseconds where those do not reach them. Text without an offset is of `zone`.
fn moments(texts: &StringArray, zone: Option<&str>) -> Result<ArrayRef, usize> {
    if let Some(moments) = plain_moments(texts, zone) {
        return Ok(moments);
    }
    // Arrow knows more forms, and zones by their names.
    let of = |unit| DataType::Timestamp(unit, zone.map(Arc::from));
    cast(texts, &of(TimeUnit::Nanosecond)).or_else(|_| cast(texts, &of(TimeUnit::Microsecond)))
}

/// Moments as ISO 8601 writes them; `None` where another form or zone is among them.
fn plain_moments(texts: &StringArray, zone: Option<&str>) -> Option<ArrayRef> {
    let is_utc = zone.is_none_or(|zone| matches!(zone, UTC | "+00:00" | "Z"));
    let parse = |text: &str| parse_timestamp(text).filter(|at| at.zoned || is_utc);
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
