//! `make_time`, `make_timestamp` and `make_interval`: times from their parts.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, IntervalMonthDayNanoArray, Time64NanosecondArray, TimestampMicrosecondArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type, Int64Type, IntervalMonthDayNano, IntervalUnit, TimeUnit};
use chrono::NaiveDate;
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::super::row_function::RowFunction;

/// `make_time(hour, minute, seconds)`.
pub(super) fn make_time() -> ScalarUDF {
    let signature = Signature::any(3, Volatility::Immutable);
    let returns = |_: &[DataType]| Ok(DataType::Time64(TimeUnit::Nanosecond));
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        Ok(Arc::new(rows(arrays, clock)?.into_iter().collect::<Time64NanosecondArray>()))
    };
    RowFunction { name: "make_time", signature, returns, values }.function()
}

/// `make_timestamp(year, month, day, hour, minute, seconds)`.
pub(super) fn make_timestamp() -> ScalarUDF {
    let signature = Signature::any(6, Volatility::Immutable);
    let returns = |_: &[DataType]| Ok(DataType::Timestamp(TimeUnit::Microsecond, None));
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        Ok(Arc::new(rows(arrays, moment)?.into_iter().collect::<TimestampMicrosecondArray>()))
    };
    RowFunction { name: "make_timestamp", signature, returns, values }.function()
}

/// `make_interval(years, months, weeks, days, hours, minutes, seconds)`.
pub(super) fn make_interval() -> ScalarUDF {
    let signature = Signature::any(7, Volatility::Immutable);
    let returns = |_: &[DataType]| Ok(DataType::Interval(IntervalUnit::MonthDayNano));
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        Ok(Arc::new(rows(arrays, interval)?.into_iter().collect::<IntervalMonthDayNanoArray>()))
    };
    RowFunction { name: "make_interval", signature, returns, values }.function()
}

/// Computes a value from the integers and the seconds of each row; `None` if one of them is null.
fn rows<T>(arrays: &[ArrayRef], make: fn(&[i64], f64) -> Option<T>) -> Result<Vec<Option<T>>> {
    let Some((seconds, whole)) = arrays.split_last() else { return plan_err!("a time is made of its parts") };
    let seconds = cast(seconds, &DataType::Float64)?;
    let seconds = seconds.as_primitive::<Float64Type>();
    let whole = whole.iter().map(|part| cast(part, &DataType::Int64)).collect::<Result<Vec<_>, _>>()?;
    let row = |row: usize| {
        if seconds.is_null(row) || whole.iter().any(|part| part.is_null(row)) {
            return Ok(None);
        }
        let parts: Vec<i64> = whole.iter().map(|part| part.as_primitive::<Int64Type>().value(row)).collect();
        match make(&parts, seconds.value(row)) {
            Some(made) => Ok(Some(made)),
            None => exec_err!("no time has the parts {parts:?} and {} seconds", seconds.value(row)),
        }
    };
    (0..seconds.len()).map(row).collect()
}

fn clock(parts: &[i64], seconds: f64) -> Option<i64> {
    let &[hour, minute] = parts else { return None };
    let is_of_day = (0..24).contains(&hour) && (0..60).contains(&minute) && (0.0..60.0).contains(&seconds);
    is_of_day.then(|| ((hour * 60 + minute) * 60_000_000 + (seconds * 1e6).round_ties_even() as i64) * 1_000)
}

fn moment(parts: &[i64], seconds: f64) -> Option<i64> {
    let &[year, month, day, hour, minute] = parts else { return None };
    let small = |number: i64| u32::try_from(number).ok();
    // There is no year 0: the year before 1 is -1.
    let year = i32::try_from(if year < 0 { year + 1 } else { year }).ok().filter(|_| year != 0)?;
    let date = NaiveDate::from_ymd_opt(year, small(month)?, small(day)?)?;
    let is_of_day = (0..24).contains(&hour) && (0..60).contains(&minute) && (0.0..=60.0).contains(&seconds);
    let of_day = (hour * 60 + minute) * 60_000_000 + (seconds * 1e6).round_ties_even() as i64;
    let midnight = date.and_hms_opt(0, 0, 0)?.and_utc().timestamp_micros();
    is_of_day.then_some(midnight + of_day)
}

fn interval(parts: &[i64], seconds: f64) -> Option<IntervalMonthDayNano> {
    let &[years, months, weeks, days, hours, minutes] = parts else { return None };
    let months = years.checked_mul(12)?.checked_add(months)?;
    let days = weeks.checked_mul(7)?.checked_add(days)?;
    let minutes = hours.checked_mul(60)?.checked_add(minutes)?;
    let micros = (seconds * 1e6).round_ties_even();
    let nanos = minutes.checked_mul(60_000_000_000)?.checked_add((micros as i64).checked_mul(1_000)?)?;
    Some(IntervalMonthDayNano::new(i32::try_from(months).ok()?, i32::try_from(days).ok()?, nanos))
}
