//! Formats dates, times and intervals.

use std::fmt::Write;

use arrow::array::timezone::Tz;
use arrow::array::{ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, IntervalMonthDayNano, TimeUnit};
use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, Offset, TimeZone, Timelike};
use datafusion::common::{Result, exec_err};

use super::TextWriter;

/// Returns a writer of times of a unit, with or without a zone.
pub(super) fn writer(values: &ArrayRef, unit: TimeUnit, zone: Option<&str>) -> Result<TextWriter> {
    let zone = zone.map(str::parse::<Tz>).transpose()?;
    let ticks = cast(values, &DataType::Int64)?.as_primitive::<Int64Type>().clone();
    Ok(Box::new(move |row, text| {
        let Some(utc) = time(ticks.value(row), unit) else {
            return exec_err!("a time is too far away to be written");
        };
        let offset = zone.map(|zone| zone.offset_from_utc_datetime(&utc).fix());
        let local = offset.map_or(utc, |offset| utc + offset);
        day(local.date(), text);
        text.push(' ');
        let seconds = u64::from(local.num_seconds_from_midnight());
        clock(seconds * 1_000_000_000 + u64::from(local.nanosecond()), text);
        if let Some(offset) = offset {
            east(offset.local_minus_utc(), text);
        }
        era(local.date(), text);
        Ok(())
    }))
}

/// Returns the time for a number of ticks since 1970.
pub(in crate::engine::pg_functions) fn time(ticks: i64, unit: TimeUnit) -> Option<NaiveDateTime> {
    let time = match unit {
        TimeUnit::Second => DateTime::from_timestamp_secs(ticks),
        TimeUnit::Millisecond => DateTime::from_timestamp_millis(ticks),
        TimeUnit::Microsecond => DateTime::from_timestamp_micros(ticks),
        TimeUnit::Nanosecond => Some(DateTime::from_timestamp_nanos(ticks)),
    };
    time.map(|time| time.naive_utc())
}

/// Writes a date by its days since 1970.
pub(super) fn date(days: i32, text: &mut String) -> Result<()> {
    let Some(date) = NaiveDate::from_epoch_days(days) else {
        return exec_err!("a date is too far away to be written");
    };
    day(date, text);
    era(date, text);
    Ok(())
}

fn day(date: NaiveDate, text: &mut String) {
    // There is no year 0: the year before 1 is 1 BC.
    let year = if date.year() > 0 { date.year() } else { 1 - date.year() };
    let _ = write!(text, "{year:04}-{:02}-{:02}", date.month(), date.day());
}

fn era(date: NaiveDate, text: &mut String) {
    if date.year() <= 0 {
        text.push_str(" BC");
    }
}

/// Writes a time of day, with as many fractional digits as it has.
pub(super) fn clock(nanos: u64, text: &mut String) {
    let seconds = nanos / 1_000_000_000;
    let _ = write!(text, "{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    let fraction = nanos % 1_000_000_000;
    if fraction > 0 {
        let digits = format!("{fraction:09}");
        let _ = write!(text, ".{}", digits.trim_end_matches('0'));
    }
}

fn east(offset: i32, text: &mut String) {
    let sign = if offset < 0 { '-' } else { '+' };
    let offset = offset.unsigned_abs();
    let _ = write!(text, "{sign}{:02}", offset / 3_600);
    if !offset.is_multiple_of(3_600) {
        let _ = write!(text, ":{:02}", offset / 60 % 60);
    }
    if !offset.is_multiple_of(60) {
        let _ = write!(text, ":{:02}", offset % 60);
    }
}

/// Writes an interval: `1 year 2 mons -3 days +04:05:06`.
pub(super) fn interval(interval: IntervalMonthDayNano, text: &mut String) {
    let IntervalMonthDayNano { months, days, nanoseconds } = interval;
    let begin = text.len();
    let mut was_negative = false;
    for (count, unit) in [(months / 12, "year"), (months % 12, "mon"), (days, "day")] {
        if count == 0 {
            continue;
        }
        let space = if text.len() > begin { " " } else { "" };
        let plus = if was_negative && count > 0 { "+" } else { "" };
        let plural = if count == 1 { "" } else { "s" };
        let _ = write!(text, "{space}{plus}{count} {unit}{plural}");
        was_negative = count < 0;
    }
    if nanoseconds != 0 || text.len() == begin {
        if text.len() > begin {
            text.push(' ');
        }
        if nanoseconds < 0 {
            text.push('-');
        } else if was_negative {
            text.push('+');
        }
        clock(nanoseconds.unsigned_abs(), text);
    }
}
