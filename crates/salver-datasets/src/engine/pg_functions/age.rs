//! `age(later, earlier)`: the calendar years, months and days between two times.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, IntervalMonthDayNanoArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, IntervalMonthDayNano, IntervalUnit, TimeUnit, TimestampMicrosecondType};
use chrono::{DateTime, Datelike, NaiveDateTime, Timelike};
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};
use salver_text::calendar::days_in_month;

use super::super::row_function::RowFunction;

/// Returns the function.
pub(super) fn age() -> ScalarUDF {
    let signature = Signature::any(2, Volatility::Immutable);
    RowFunction { name: "age", signature, returns, values }.function()
}

fn returns(types: &[DataType]) -> Result<DataType> {
    let is_time = |data_type: &DataType| {
        matches!(data_type, DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 | DataType::Null)
            || data_type.is_string()
    };
    match types {
        [later, earlier] if is_time(later) && is_time(earlier) => Ok(DataType::Interval(IntervalUnit::MonthDayNano)),
        _ => plan_err!("`age` takes two times, the later one first"),
    }
}

fn values(arrays: &[ArrayRef], _: &DataType) -> Result<ArrayRef> {
    let times = arrays.iter().map(|array| cast(array, &DataType::Timestamp(TimeUnit::Microsecond, None)));
    let times = times.collect::<Result<Vec<_>, _>>()?;
    let [later, earlier] = times.as_slice() else { return plan_err!("`age` takes two times") };
    let later = later.as_primitive::<TimestampMicrosecondType>();
    let earlier = earlier.as_primitive::<TimestampMicrosecondType>();
    let time = |micros: i64| DateTime::from_timestamp_micros(micros).map(|time| time.naive_utc());
    let ages = later.iter().zip(earlier).map(|(later, earlier)| between(time(later?)?, time(earlier?)?));
    Ok(Arc::new(ages.collect::<IntervalMonthDayNanoArray>()))
}

fn between(later: NaiveDateTime, earlier: NaiveDateTime) -> Option<IntervalMonthDayNano> {
    if later < earlier {
        let IntervalMonthDayNano { months, days, nanoseconds } = between(earlier, later)?;
        return Some(IntervalMonthDayNano::new(-months, -days, -nanoseconds));
    }
    let nanos = |time: &NaiveDateTime| {
        i64::from(time.num_seconds_from_midnight()) * 1_000_000_000 + i64::from(time.nanosecond())
    };
    let mut rest = nanos(&later) - nanos(&earlier);
    let mut days = i64::from(later.day()) - i64::from(earlier.day());
    let mut months =
        i64::from(later.year() - earlier.year()) * 12 + i64::from(later.month()) - i64::from(earlier.month());
    if rest < 0 {
        rest += 86_400_000_000_000;
        days -= 1;
    }
    if days < 0 {
        // Days are borrowed from the month of the earlier time.
        days += i64::from(days_in_month(earlier.year().into(), earlier.month()));
        months -= 1;
    }
    Some(IntervalMonthDayNano::new(i32::try_from(months).ok()?, i32::try_from(days).ok()?, rest))
}
