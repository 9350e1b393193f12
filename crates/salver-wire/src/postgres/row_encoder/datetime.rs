//! Values of dates and times (<https://www.postgresql.org/docs/16/datatype-datetime.html>). PostgreSQL knows
//! microseconds; what is finer is cut off, towards the past.

use std::io::Write;

use arrow::array::Array;
use arrow::array::cast::AsArray;
use arrow::array::types::{
    ArrowPrimitiveType, Date64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow::datatypes::{DataType, TimeUnit};
use salver_model::{Code, Error, Result};
use salver_text::calendar::{date_of, days_of};

/// Microseconds of a day.
const DAY_US: i64 = 86_400_000_000;
/// Days from 1970 to 2000, from which PostgreSQL counts.
const EPOCH_DAYS: i64 = 10_957;

/// A column of times of day, or of points in time.
pub(super) struct Instants<'a> {
    values: Ticks<'a>,
    unit: TimeUnit,
    shown: Shown,
}

enum Ticks<'a> {
    Short(&'a [i32]),
    Long(&'a [i64]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Time,
    Timestamp,
    /// With the zone, which is UTC in every answer.
    Zoned,
}

impl<'a> Instants<'a> {
    /// Resolves a column.
    pub(super) fn of(array: &'a dyn Array) -> Result<Self> {
        use DataType as D;
        let long = |unit, values, shown| Self { values: Ticks::Long(values), unit, shown };
        let short = |unit, values| Self { values: Ticks::Short(values), unit, shown: Shown::Time };
        let shown = match array.data_type() {
            D::Timestamp(_, Some(_)) => Shown::Zoned,
            D::Timestamp(_, None) | D::Date64 => Shown::Timestamp,
            _ => Shown::Time,
        };
        Ok(match array.data_type() {
            D::Date64 => long(TimeUnit::Millisecond, values::<Date64Type>(array), shown),
            D::Time32(TimeUnit::Second) => short(TimeUnit::Second, array.as_primitive::<Time32SecondType>().values()),
            D::Time32(_) => short(TimeUnit::Millisecond, array.as_primitive::<Time32MillisecondType>().values()),
            D::Time64(TimeUnit::Nanosecond) => long(TimeUnit::Nanosecond, values::<Time64NanosecondType>(array), shown),
            D::Time64(_) => long(TimeUnit::Microsecond, values::<Time64MicrosecondType>(array), shown),
            D::Timestamp(unit, _) => match unit {
                TimeUnit::Second => long(*unit, values::<TimestampSecondType>(array), shown),
                TimeUnit::Millisecond => long(*unit, values::<TimestampMillisecondType>(array), shown),
                TimeUnit::Microsecond => long(*unit, values::<TimestampMicrosecondType>(array), shown),
                TimeUnit::Nanosecond => long(*unit, values::<TimestampNanosecondType>(array), shown),
            },
            other => return Err(Error::internal(format!("{other} is no time"))),
        })
    }

    /// Returns a value as days since 1970 and microseconds of the day.
    fn at(&self, row: usize) -> (i64, i64) {
        let value = match &self.values {
            Ticks::Short(values) => i64::from(values[row]),
            Ticks::Long(values) => values[row],
        };
        let (per_day, us) = match self.unit {
            TimeUnit::Second => (86_400, 1_000_000),
            TimeUnit::Millisecond => (86_400_000, 1_000),
            TimeUnit::Microsecond => (DAY_US, 1),
            TimeUnit::Nanosecond => {
                return (value.div_euclid(1_000 * DAY_US), value.rem_euclid(1_000 * DAY_US) / 1_000);
            }
        };
        (value.div_euclid(per_day), value.rem_euclid(per_day) * us)
    }

    /// Writes a value as text.
    pub(super) fn text(&self, row: usize, out: &mut Vec<u8>) {
        let (days, us) = self.at(row);
        if self.shown == Shown::Time {
            return time_text(us, out);
        }
        let is_before = date_only(days, out);
        out.push(b' ');
        time_text(us, out);
        if self.shown == Shown::Zoned {
            out.extend(b"+00");
        }
        if is_before {
            out.extend(b" BC");
        }
    }

    /// Returns a value in its binary form: microseconds since 2000, or of the day.
    ///
    /// # Errors
    /// `Execution` for a point in time that PostgreSQL does not know.
    pub(super) fn binary(&self, row: usize) -> Result<i64> {
        let (days, us) = self.at(row);
        if self.shown == Shown::Time {
            return Ok(us);
        }
        // Its last day, and the two numbers that stand for infinity.
        if days > days_of(294_276, 12, 31) {
            return Err(out_of_range("timestamp"));
        }
        let since = (days - EPOCH_DAYS).checked_mul(DAY_US).and_then(|day_us| day_us.checked_add(us));
        since.filter(|us| *us > i64::MIN).ok_or_else(|| out_of_range("timestamp"))
    }
}

fn values<T: ArrowPrimitiveType<Native = i64>>(array: &dyn Array) -> &[i64] {
    array.as_primitive::<T>().values()
}

/// Writes a date, by the days since 1970, as text.
pub(super) fn date_text(days: i64, out: &mut Vec<u8>) {
    if date_only(days, out) {
        out.extend(b" BC");
    }
}

/// Returns a date in its binary form: days since 2000.
///
/// # Errors
/// `Execution` for a date that PostgreSQL does not know.
pub(super) fn date_binary(days: i32) -> Result<i32> {
    let since = i64::from(days) - EPOCH_DAYS;
    i32::try_from(since).ok().filter(|days| (i32::MIN + 1..i32::MAX).contains(days)).ok_or_else(|| out_of_range("date"))
}

/// Writes a date without its era; returns whether it is before the year 1.
fn date_only(days: i64, out: &mut Vec<u8>) -> bool {
    let (year, month, day) = date_of(days);
    let is_before = year <= 0;
    let shown = if is_before { 1 - year } else { year };
    let _ = write!(out, "{shown:04}-{month:02}-{day:02}");
    is_before
}

/// Writes a time of day, with as many decimals as it has.
pub(super) fn time_text(us: i64, out: &mut Vec<u8>) {
    let (seconds, fraction) = (us / 1_000_000, us % 1_000_000);
    let _ = write!(out, "{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    fraction_text(fraction, out);
}

/// Writes the decimals of a second without zeros at their end.
pub(super) fn fraction_text(us: i64, out: &mut Vec<u8>) {
    if us > 0 {
        let _ = write!(out, ".{us:06}");
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

/// Returns the error for a value that PostgreSQL's type does not have.
pub(super) fn out_of_range(what: &str) -> Error {
    Error::new(Code::Execution, format!("{what} out of range: PostgreSQL's protocol can't say it"))
        .with_hint("ask for the value as text, with `cast(... as text)`")
}
