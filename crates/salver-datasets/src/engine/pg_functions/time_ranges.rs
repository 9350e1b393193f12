//! Conditions on the year or the truncation of a time, as ranges of times by which a reader can skip parts of a file:
//! `extract(year from t) = 2024` is `t >= '2024-01-01' and t < '2025-01-01'`.

use arrow::datatypes::{DataType, TimeUnit};
use chrono::{Months, NaiveDate, NaiveDateTime, TimeDelta};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::interval_arithmetic::Interval;
use datafusion::logical_expr::preimage::PreimageResult;
use datafusion::logical_expr::simplify::SimplifyContext;

/// Returns whether stored times are local times. Otherwise years and days begin at moments that depend on the zone.
fn is_as_shown(of: &DataType) -> bool {
    match of {
        DataType::Date32 | DataType::Timestamp(_, None) => true,
        DataType::Timestamp(_, Some(zone)) => matches!(&**zone, "UTC" | "+00:00" | "Z"),
        _ => false,
    }
}

/// Converts a time to a value of a type; `None` if it is out of range.
fn value(moment: NaiveDateTime, of: &DataType) -> Option<ScalarValue> {
    let moment = moment.and_utc();
    Some(match of {
        DataType::Date32 => ScalarValue::Date32(Some(moment.date_naive().to_epoch_days())),
        DataType::Timestamp(unit, zone) => {
            let zone = zone.clone();
            match unit {
                TimeUnit::Second => ScalarValue::TimestampSecond(Some(moment.timestamp()), zone),
                TimeUnit::Millisecond => ScalarValue::TimestampMillisecond(Some(moment.timestamp_millis()), zone),
                TimeUnit::Microsecond => ScalarValue::TimestampMicrosecond(Some(moment.timestamp_micros()), zone),
                TimeUnit::Nanosecond => ScalarValue::TimestampNanosecond(Some(moment.timestamp_nanos_opt()?), zone),
            }
        }
        _ => return None,
    })
}

/// Returns the range from `first` up to, but without, `end`.
fn within(first: NaiveDateTime, end: NaiveDateTime, times: &Expr, of: &DataType) -> Result<PreimageResult> {
    let (Some(lower), Some(upper)) = (value(first, of), value(end, of)) else { return Ok(PreimageResult::None) };
    Ok(PreimageResult::Range { expr: times.clone(), interval: Box::new(Interval::try_new(lower, upper)?) })
}

/// Returns the range of a year.
pub(super) fn of_year(year: &Expr, times: &Expr, info: &SimplifyContext) -> Result<PreimageResult> {
    let of = info.get_data_type(times)?;
    let year = match year.as_literal() {
        Some(ScalarValue::Decimal128(Some(number), _, scale)) => {
            let one = 10_i128.pow(u32::try_from(*scale).unwrap_or_default());
            (number % one == 0).then_some(number / one)
        }
        Some(ScalarValue::Float64(Some(number))) if number.fract() == 0.0 && number.abs() < 1e6 => {
            Some(*number as i128)
        }
        _ => None,
    };
    // Years before 1 are counted differently.
    let year = year.filter(|year| *year > 0).and_then(|year| i32::try_from(year).ok());
    let begin = |year: i32| NaiveDate::from_ymd_opt(year, 1, 1)?.and_hms_opt(0, 0, 0);
    match year.filter(|_| is_as_shown(&of)).and_then(|year| begin(year).zip(begin(year.checked_add(1)?))) {
        Some((first, end)) => within(first, end, times, &of),
        None => Ok(PreimageResult::None),
    }
}

/// Returns the range of the times that are truncated to a moment.
pub(super) fn of_cut(
    unit: &str,
    moment: &Expr,
    times: &Expr,
    info: &SimplifyContext,
    begin: impl Fn(NaiveDateTime) -> Option<NaiveDateTime>,
) -> Result<PreimageResult> {
    let of = info.get_data_type(times)?;
    let moment = moment.as_literal().filter(|_| is_as_shown(&of)).and_then(read);
    // A moment that is no start of a unit has no times.
    let Some(first) = moment.filter(|moment| begin(*moment) == Some(*moment)) else { return Ok(PreimageResult::None) };
    let end = match unit {
        "year" => first.checked_add_months(Months::new(12)),
        "quarter" => first.checked_add_months(Months::new(3)),
        "month" => first.checked_add_months(Months::new(1)),
        "week" => first.checked_add_signed(TimeDelta::weeks(1)),
        "day" => first.checked_add_signed(TimeDelta::days(1)),
        "hour" => first.checked_add_signed(TimeDelta::hours(1)),
        "minute" => first.checked_add_signed(TimeDelta::minutes(1)),
        _ => None,
    };
    match end {
        Some(end) => within(first, end, times, &of),
        None => Ok(PreimageResult::None),
    }
}

fn read(moment: &ScalarValue) -> Option<NaiveDateTime> {
    let moment = match moment {
        ScalarValue::TimestampSecond(Some(own), _) => chrono::DateTime::from_timestamp(*own, 0),
        ScalarValue::TimestampMillisecond(Some(own), _) => chrono::DateTime::from_timestamp_millis(*own),
        ScalarValue::TimestampMicrosecond(Some(own), _) => chrono::DateTime::from_timestamp_micros(*own),
        ScalarValue::TimestampNanosecond(Some(own), _) => Some(chrono::DateTime::from_timestamp_nanos(*own)),
        _ => None,
    };
    moment.map(|moment| moment.naive_utc())
}
