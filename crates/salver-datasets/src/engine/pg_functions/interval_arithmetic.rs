//! Intervals: multiplied by a number, justified to days and months, and truncated to a unit.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, IntervalMonthDayNanoArray, Time64NanosecondArray};
use arrow::compute::cast;
use arrow::datatypes::{
    DataType, DurationMicrosecondType, Float64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit,
    TimeUnit,
};
use datafusion::common::{Result, exec_datafusion_err, exec_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::super::row_function::RowFunction;

const INTERVAL: DataType = DataType::Interval(IntervalUnit::MonthDayNano);
const DAY_MICROS: f64 = 86_400e6;
const DAY_WHOLE_MICROS: i64 = 86_400_000_000;
const DAY_NANOS: i64 = 86_400_000_000_000;

/// `interval * number`.
pub(in crate::engine) fn interval_times() -> ScalarUDF {
    function("interval_times", 2, |arrays, _| scaled(arrays, |x, by| x * by))
}

/// `clock_of_span(interval)`: its time of day, without its months and days.
pub(in crate::engine) fn clock_of_span() -> ScalarUDF {
    let returns = |_: &[DataType]| Ok(DataType::Time64(TimeUnit::Nanosecond));
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        let [spans] = arrays else { return plan_err!("one interval has a time of day") };
        let spans = cast(spans, &INTERVAL)?;
        let spans = spans.as_primitive::<IntervalMonthDayNanoType>().iter();
        let clocks = spans.map(|span| span.map(|span| span.nanoseconds.rem_euclid(DAY_NANOS)));
        Ok(Arc::new(clocks.collect::<Time64NanosecondArray>()))
    };
    RowFunction::of_one("clock_of_span", returns, values)
}

/// `interval / number`.
pub(in crate::engine) fn interval_divided() -> ScalarUDF {
    function("interval_divided", 2, |arrays, _| scaled(arrays, |x, by| x / by))
}

/// `time_span(duration)`: the difference of two times as an interval with days and hours.
pub(in crate::engine) fn time_span() -> ScalarUDF {
    function("time_span", 1, |arrays, _| {
        let [durations] = arrays else { return plan_err!("`time_span` takes a duration") };
        // A `case` with an interval as well was planned as the duration that is its first result.
        if let DataType::Interval(_) = durations.data_type() {
            return Ok(cast(durations, &DataType::Interval(IntervalUnit::MonthDayNano))?);
        }
        let micros = cast(durations, &DataType::Duration(TimeUnit::Microsecond))?;
        let spans = micros.as_primitive::<DurationMicrosecondType>().iter().map(|micros| {
            let Some(micros) = micros else { return Ok(None) };
            let days = i32::try_from(micros / DAY_WHOLE_MICROS);
            let days = days.map_err(|_| exec_datafusion_err!("an interval has at most {} days", i32::MAX))?;
            Ok(Some(IntervalMonthDayNano::new(0, days, micros % DAY_WHOLE_MICROS * 1_000)))
        });
        Ok(Arc::new(spans.collect::<Result<IntervalMonthDayNanoArray>>()?))
    })
}

/// `justify_hours(interval)`: 24 hours become a day.
pub(super) fn justify_hours() -> ScalarUDF {
    function("justify_hours", 1, |arrays, _| each(arrays, |span| hours(span, 0)))
}

/// `justify_days(interval)`: 30 days become a month.
pub(super) fn justify_days() -> ScalarUDF {
    function("justify_days", 1, |arrays, _| each(arrays, days))
}

/// `justify_interval(interval)`: both.
pub(super) fn justify_interval() -> ScalarUDF {
    function("justify_interval", 1, |arrays, _| each(arrays, |span| both(hours(span, 0)?)))
}

/// Truncates intervals to a unit.
pub(super) fn cut(spans: &ArrayRef, unit: &str) -> Result<ArrayRef> {
    let spans = cast(spans, &INTERVAL)?;
    let cut = spans.as_primitive::<IntervalMonthDayNanoType>().iter().map(|span| span.map(|span| trunc(unit, span)));
    Ok(Arc::new(cut.map(Option::transpose).collect::<Result<IntervalMonthDayNanoArray>>()?))
}

fn function(name: &'static str, takes: usize, values: fn(&[ArrayRef], &DataType) -> Result<ArrayRef>) -> ScalarUDF {
    let signature = Signature::any(takes, Volatility::Immutable);
    RowFunction { name, signature, returns: |_| Ok(INTERVAL), values }.function()
}

fn each(arrays: &[ArrayRef], make: impl Fn(IntervalMonthDayNano) -> Option<IntervalMonthDayNano>) -> Result<ArrayRef> {
    let [spans] = arrays else { return plan_err!("one interval is taken") };
    let spans = cast(spans, &INTERVAL)?;
    let made = spans.as_primitive::<IntervalMonthDayNanoType>().iter().map(|span| match span.map(&make) {
        Some(None) => exec_err!("the interval is out of range"),
        made => Ok(made.flatten()),
    });
    Ok(Arc::new(made.collect::<Result<IntervalMonthDayNanoArray>>()?))
}

fn scaled(arrays: &[ArrayRef], by: fn(f64, f64) -> f64) -> Result<ArrayRef> {
    let [spans, factors] = arrays else { return plan_err!("an interval and a number are taken") };
    let (spans, factors) = (cast(spans, &INTERVAL)?, cast(factors, &DataType::Float64)?);
    let pairs = spans.as_primitive::<IntervalMonthDayNanoType>().iter().zip(factors.as_primitive::<Float64Type>());
    let made = pairs.map(|(span, factor)| {
        let (Some(span), Some(factor)) = (span, factor) else { return Ok(None) };
        match scale(span, |x| by(x, factor)) {
            Some(made) => Ok(Some(made)),
            None => exec_err!("the interval is out of range"),
        }
    });
    Ok(Arc::new(made.collect::<Result<IntervalMonthDayNanoArray>>()?))
}

/// Multiplies an interval: a fraction of a month becomes days, and one of a day becomes time.
fn scale(span: IntervalMonthDayNano, by: impl Fn(f64) -> f64) -> Option<IntervalMonthDayNano> {
    let rounded = |x: f64| (x * 1e6).round_ties_even() / 1e6;
    let small = |x: f64| (x.is_finite() && x.abs() < 2_147_483_648.0).then_some(x as i32);
    let (months, days) = (by(span.months.into()), by(span.days.into()));
    let left_days = rounded((months - months.trunc()) * 30.0);
    let left = rounded((days - days.trunc() + left_days - left_days.trunc()) * 86_400.0);
    let over = (left / 86_400.0).trunc();
    let micros = (by(span.nanoseconds as f64 / 1e3) + (left - over * 86_400.0) * 1e6).round_ties_even();
    let nanos = (micros.abs() < 9e15 + DAY_MICROS).then_some(micros as i64 * 1_000)?;
    let days = days.trunc() + left_days.trunc() + over;
    Some(IntervalMonthDayNano::new(small(months.trunc())?, small(days)?, nanos))
}

/// Moves whole days out of the time; both get the sign of the days and months together.
fn hours(span: IntervalMonthDayNano, sign: i64) -> Option<IntervalMonthDayNano> {
    let mut days = i64::from(span.days) + span.nanoseconds / DAY_NANOS;
    let mut nanos = span.nanoseconds % DAY_NANOS;
    let sign = if sign == 0 { days } else { sign };
    if sign > 0 && nanos < 0 {
        (days, nanos) = (days - 1, nanos + DAY_NANOS);
    } else if sign < 0 && nanos > 0 {
        (days, nanos) = (days + 1, nanos - DAY_NANOS);
    }
    Some(IntervalMonthDayNano::new(span.months, i32::try_from(days).ok()?, nanos))
}

fn days(span: IntervalMonthDayNano) -> Option<IntervalMonthDayNano> {
    let (mut months, mut days) = (span.months.checked_add(span.days / 30)?, span.days % 30);
    if months > 0 && days < 0 {
        (months, days) = (months - 1, days + 30);
    } else if months < 0 && days > 0 {
        (months, days) = (months + 1, days - 30);
    }
    Some(IntervalMonthDayNano::new(months, days, span.nanoseconds))
}

fn both(span: IntervalMonthDayNano) -> Option<IntervalMonthDayNano> {
    let span = days(span)?;
    let sign = if span.months == 0 { span.days } else { span.months };
    days(hours(span, sign.into())?)
}

fn trunc(unit: &str, span: IntervalMonthDayNano) -> Result<IntervalMonthDayNano> {
    let IntervalMonthDayNano { months, days, nanoseconds } = span;
    let of_months = |size: i32| IntervalMonthDayNano::new(months / size * size, 0, 0);
    let of_time = |size: i64| IntervalMonthDayNano::new(months, days, nanoseconds / size * size);
    Ok(match unit {
        "millennium" => of_months(12_000),
        "century" => of_months(1_200),
        "decade" => of_months(120),
        "year" => of_months(12),
        "quarter" => of_months(3),
        "month" => of_months(1),
        "day" => IntervalMonthDayNano::new(months, days, 0),
        "hour" => of_time(3_600_000_000_000),
        "minute" => of_time(60_000_000_000),
        "second" => of_time(1_000_000_000),
        "millisecond" => of_time(1_000_000),
        "microsecond" => of_time(1_000),
        other => return exec_err!("an interval is not cut to `{other}`"),
    })
}
