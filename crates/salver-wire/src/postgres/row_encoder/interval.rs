//! Values of intervals, in the style `postgres` (<https://www.postgresql.org/docs/16/datatype-datetime.html>).

use std::io::Write;

use arrow::array::Array;
use arrow::array::cast::AsArray;
use arrow::array::types::{
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType, IntervalDayTimeType,
    IntervalMonthDayNanoType, IntervalYearMonthType,
};
use arrow::datatypes::{DataType, IntervalDayTime, IntervalMonthDayNano, IntervalUnit, TimeUnit};
use salver_model::{Error, Result};

use super::datetime;

/// Microseconds of a day.
const DAY_US: i64 = 24 * HOUR_US;
/// Microseconds of an hour.
const HOUR_US: i64 = 3_600_000_000;

/// A column of intervals.
pub(super) enum Intervals<'a> {
    Months(&'a [i32]),
    Days(&'a [IntervalDayTime]),
    All(&'a [IntervalMonthDayNano]),
    Duration(&'a [i64], TimeUnit),
}

/// An interval, whose parts don't convert to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Interval {
    months: i32,
    days: i32,
    us: i64,
}

impl<'a> Intervals<'a> {
    /// Resolves a column.
    pub(super) fn of(array: &'a dyn Array) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Interval(unit) => match unit {
                IntervalUnit::YearMonth => Self::Months(array.as_primitive::<IntervalYearMonthType>().values()),
                IntervalUnit::DayTime => Self::Days(array.as_primitive::<IntervalDayTimeType>().values()),
                IntervalUnit::MonthDayNano => Self::All(array.as_primitive::<IntervalMonthDayNanoType>().values()),
            },
            DataType::Duration(unit) => {
                let values = match unit {
                    TimeUnit::Second => array.as_primitive::<DurationSecondType>().values(),
                    TimeUnit::Millisecond => array.as_primitive::<DurationMillisecondType>().values(),
                    TimeUnit::Microsecond => array.as_primitive::<DurationMicrosecondType>().values(),
                    TimeUnit::Nanosecond => array.as_primitive::<DurationNanosecondType>().values(),
                };
                Self::Duration(values, *unit)
            }
            other => return Err(Error::internal(format!("{other} is no interval"))),
        })
    }

    /// Returns a value.
    ///
    /// # Errors
    /// `Execution` for a duration that PostgreSQL does not know, of more than 292,000 years.
    pub(super) fn at(&self, row: usize) -> Result<Interval> {
        Ok(match self {
            Self::Months(values) => Interval { months: values[row], ..Interval::default() },
            Self::Days(values) => {
                let IntervalDayTime { days, milliseconds } = values[row];
                Interval { days, us: i64::from(milliseconds) * 1_000, ..Interval::default() }
            }
            Self::All(values) => {
                let IntervalMonthDayNano { months, days, nanoseconds } = values[row];
                Interval { months, days, us: nanoseconds / 1_000 }
            }
            Self::Duration(values, unit) => {
                let us = match unit {
                    TimeUnit::Second => values[row].checked_mul(1_000_000),
                    TimeUnit::Millisecond => values[row].checked_mul(1_000),
                    TimeUnit::Microsecond => Some(values[row]),
                    TimeUnit::Nanosecond => Some(values[row] / 1_000),
                };
                let us = us.ok_or_else(|| datetime::out_of_range("interval"))?;
                // The difference of two times has days there, and less than one of hours.
                let days = i32::try_from(us / DAY_US).map_err(|_| datetime::out_of_range("interval"))?;
                Interval { days, us: us % DAY_US, ..Interval::default() }
            }
        })
    }
}

/// Writes an interval as text.
pub(super) fn text(interval: Interval, out: &mut Vec<u8>) {
    let Interval { months, days, us } = interval;
    let (mut is_first, mut is_after_negative) = (true, false);
    for (value, unit) in [(months / 12, "year"), (months % 12, "mon"), (days, "day")] {
        if value == 0 {
            continue;
        }
        let space = if is_first { "" } else { " " };
        let sign = if is_after_negative && value > 0 { "+" } else { "" };
        let plural = if value == 1 { "" } else { "s" };
        let _ = write!(out, "{space}{sign}{value} {unit}{plural}");
        (is_first, is_after_negative) = (false, value < 0);
    }
    if !is_first && us == 0 {
        return;
    }
    if !is_first {
        out.push(b' ');
    }
    if us < 0 {
        out.push(b'-');
    } else if is_after_negative {
        out.push(b'+');
    }
    let us = us.unsigned_abs();
    let (hours, rest) = (us / HOUR_US as u64, (us % HOUR_US as u64) as i64);
    let _ = write!(out, "{hours:02}:{:02}:{:02}", rest / 60_000_000, rest / 1_000_000 % 60);
    datetime::fraction_text(rest % 1_000_000, out);
}

/// Writes an interval in its binary form.
pub(super) fn binary(interval: Interval, out: &mut Vec<u8>) {
    out.extend(interval.us.to_be_bytes());
    out.extend(interval.days.to_be_bytes());
    out.extend(interval.months.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::{Interval, text};

    #[test]
    fn as_postgresql_writes_them() {
        for (months, days, us, wanted) in [
            (0, 0, 0, "00:00:00"),
            (14, 3, 4_500_000, "1 year 2 mons 3 days 00:00:04.5"),
            (-14, 3, -1, "-1 years -2 mons +3 days -00:00:00.000001"),
            (0, -1, 3_600_000_000, "-1 days +01:00:00"),
            (1, 1, 0, "1 mon 1 day"),
            (0, 0, 360_000_000_000_000, "100000:00:00"),
        ] {
            let mut out = Vec::new();
            text(Interval { months, days, us }, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), wanted);
        }
    }
}
