//! The fields of dates, times of day, timestamps and intervals.

use arrow::array::timezone::Tz;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, IntervalMonthDayNanoArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type, IntervalMonthDayNano, IntervalMonthDayNanoType, IntervalUnit, TimeUnit};
use chrono::{Datelike, NaiveDateTime, Offset, TimeZone, Timelike};
use datafusion::common::{DataFusionError, Result, exec_err};
use salver_model::{Code, Error, SqlFault};

use super::super::text_cast::time;
use super::ExtractField;

/// Values with fields.
pub(super) enum FieldValues {
    /// Microseconds since 1970, of timestamps and dates, with the zone for local time if there is one.
    Moments(Int64Array, Option<Tz>),
    /// Microseconds since midnight.
    Clocks(Int64Array),
    Intervals(IntervalMonthDayNanoArray),
}

const DAY_MICROS: i64 = 86_400_000_000;
/// Julian day of 1970-01-01.
const JULIAN_OF_EPOCH: i64 = 2_440_588;

impl FieldValues {
    /// Refuses a field that values of a type don't have.
    pub(super) fn check(field: ExtractField, of: &DataType, of_extract: bool) -> Result<()> {
        use ExtractField::{
            Dow, Doy, Epoch, Hour, IsoDow, IsoYear, Julian, Microseconds, Milliseconds, Minute, Second, Timezone,
            TimezoneHour, TimezoneMinute, Week,
        };
        let is_of_day = matches!(field, Hour | Microseconds | Milliseconds | Minute | Second);
        let is_of_zone = matches!(field, Timezone | TimezoneHour | TimezoneMinute);
        let has = match of {
            DataType::Date32 => !(is_of_zone || of_extract && is_of_day),
            DataType::Time64(_) => is_of_day || field == Epoch,
            DataType::Timestamp(_, None) => !is_of_zone,
            DataType::Interval(_) | DataType::Duration(_) => {
                !is_of_zone && !matches!(field, Dow | Doy | IsoDow | IsoYear | Julian | Week)
            }
            _ => true,
        };
        if has {
            return Ok(());
        }
        let (name, instead) = match of {
            DataType::Date32 => ("a date", "cast it, as in `d::timestamp`"),
            DataType::Time64(_) => ("a time of day", "ask for `hour`, `minute`, `second` or `epoch`"),
            DataType::Timestamp(..) => ("a timestamp without time zone", "cast it, as in `t::timestamptz`"),
            _ => ("an interval", "add it to a date first"),
        };
        let error = Error::new(Code::InvalidSql, format!("{name} has no field `{}`", field.word())).with_hint(instead);
        Err(DataFusionError::External(Box::new(error.with_sql_fault(SqlFault::InvalidArgument))))
    }

    pub(super) fn of(values: &ArrayRef) -> Result<Self> {
        let whole = |values: &ArrayRef| -> Result<Int64Array> {
            Ok(cast(values, &DataType::Int64)?.as_primitive::<Int64Type>().clone())
        };
        Ok(match values.data_type() {
            DataType::Date32 => {
                let days = whole(values)?;
                Self::Moments(days.unary(|days| days * DAY_MICROS), None)
            }
            DataType::Timestamp(_, zone) => {
                let zone = zone.as_deref().map(str::parse::<Tz>).transpose()?;
                let micros = cast(values, &DataType::Timestamp(TimeUnit::Microsecond, zone.map(|_| "UTC".into())))?;
                Self::Moments(whole(&micros)?, zone)
            }
            DataType::Time64(_) => Self::Clocks(whole(values)?),
            DataType::Duration(_) => {
                let micros = whole(&cast(values, &DataType::Duration(TimeUnit::Microsecond))?)?;
                let interval = |micros: i64| {
                    let days = i32::try_from(micros / DAY_MICROS).ok()?;
                    Some(IntervalMonthDayNano::new(0, days, micros % DAY_MICROS * 1_000))
                };
                Self::Intervals(micros.iter().map(|micros| interval(micros?)).collect())
            }
            DataType::Interval(_) => {
                let intervals = cast(values, &DataType::Interval(IntervalUnit::MonthDayNano))?;
                Self::Intervals(intervals.as_primitive::<IntervalMonthDayNanoType>().clone())
            }
            other => return exec_err!("{other} has no fields"),
        })
    }

    /// Returns a field of each value, with this number of fractional digits.
    pub(super) fn parts(&self, field: ExtractField, scale: i8) -> Result<Vec<Option<i128>>> {
        match self {
            Self::Moments(values, zone) => {
                let part = |micros: i64| {
                    let Some(utc) = time(micros, TimeUnit::Microsecond) else {
                        return exec_err!("a time is too far away to be taken apart");
                    };
                    let offset = zone.map_or(0, |zone| zone.offset_from_utc_datetime(&utc).fix().local_minus_utc());
                    let local = utc + chrono::TimeDelta::seconds(offset.into());
                    Ok(of_moment(field, &local, micros, offset, scale))
                };
                values.iter().map(|micros| micros.map(part).transpose()).collect()
            }
            Self::Clocks(values) => {
                let part = |micros: i64| match field {
                    ExtractField::Epoch => i128::from(micros),
                    field => of_day(field, micros),
                };
                Ok(values.iter().map(|micros| micros.map(part)).collect())
            }
            Self::Intervals(values) => {
                Ok(values.iter().map(|interval| interval.map(|interval| of_interval(field, interval))).collect())
            }
        }
    }
}

/// Returns a field of a time of day; seconds and their fractions with all digits.
fn of_day(field: ExtractField, micros: i64) -> i128 {
    i128::from(match field {
        ExtractField::Hour => micros / 3_600_000_000,
        ExtractField::Minute => micros / 60_000_000 % 60,
        _ => micros % 60_000_000,
    })
}

fn of_moment(field: ExtractField, local: &NaiveDateTime, micros: i64, offset: i32, scale: i8) -> i128 {
    let date = local.date();
    let of_midnight = i64::from(local.num_seconds_from_midnight()) * 1_000_000 + i64::from(local.nanosecond() / 1_000);
    // There is no year 0: the year before 1 is -1.
    let counted = |year: i32| i64::from(if year > 0 { year } else { year - 1 });
    let year = i64::from(date.year());
    // A century begins with year 1, and the one before year 1 ends with year -1.
    let of_years = |years: i64| if year > 0 { (year + years - 1) / years } else { -((years - year) / years) };
    i128::from(match field {
        ExtractField::Century => of_years(100),
        ExtractField::Millennium => of_years(1_000),
        ExtractField::Decade => year.div_euclid(10),
        ExtractField::Year => counted(date.year()),
        ExtractField::IsoYear => counted(date.iso_week().year()),
        ExtractField::Quarter => i64::from(date.month0() / 3 + 1),
        ExtractField::Month => date.month().into(),
        ExtractField::Week => date.iso_week().week().into(),
        ExtractField::Day => date.day().into(),
        ExtractField::Doy => date.ordinal().into(),
        ExtractField::Dow => date.weekday().num_days_from_sunday().into(),
        ExtractField::IsoDow => date.weekday().number_from_monday().into(),
        ExtractField::Timezone => offset.into(),
        ExtractField::TimezoneHour => (offset / 3_600).into(),
        ExtractField::TimezoneMinute => (offset / 60 % 60).into(),
        ExtractField::Epoch if scale == 0 => micros / 1_000_000,
        ExtractField::Epoch => micros,
        ExtractField::Julian => {
            let days = i64::from(date.to_epoch_days()) + JULIAN_OF_EPOCH;
            let one = 10_i128.pow(scale.unsigned_abs().into());
            return i128::from(days) * one + rounded(i128::from(of_midnight) * one, DAY_MICROS.into());
        }
        field => return of_day(field, of_midnight),
    })
}

fn rounded(number: i128, by: i128) -> i128 {
    (number + by / 2) / by
}

fn of_interval(field: ExtractField, interval: IntervalMonthDayNano) -> i128 {
    let (months, days, micros) = (i64::from(interval.months), i64::from(interval.days), interval.nanoseconds / 1_000);
    let years = months / 12;
    i128::from(match field {
        ExtractField::Century => years / 100,
        ExtractField::Millennium => years / 1_000,
        ExtractField::Decade => years / 10,
        ExtractField::Year => years,
        ExtractField::Quarter => months % 12 / 3 + 1,
        ExtractField::Month => months % 12,
        ExtractField::Day => days,
        // A year has 365.25 days, and a month 30.
        ExtractField::Epoch => {
            let quarters = years * 1_461 + (months % 12 * 30 + days) * 4;
            return i128::from(quarters) * i128::from(DAY_MICROS / 4) + i128::from(micros);
        }
        field => return of_day(field, micros),
    })
}
