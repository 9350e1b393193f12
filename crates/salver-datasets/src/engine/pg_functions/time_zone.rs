//! `timezone(zone, time)`, which is `time at time zone zone`: a timestamp with a zone becomes the local time there, and
//! one without a zone is taken as such a local time and becomes a moment.

use std::sync::Arc;

use arrow::array::timezone::Tz;
use arrow::array::{ArrayRef, AsArray, TimestampMicrosecondArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType};
use chrono::{DateTime, Duration, MappedLocalTime, NaiveDateTime, Offset, TimeZone};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::super::literal_text::offset_of;
use super::super::row_function::RowFunction;

/// Returns the function.
pub(super) fn timezone() -> ScalarUDF {
    let signature = Signature::any(2, Volatility::Immutable);
    RowFunction { name: "timezone", signature, returns, values }.function()
}

const UNIT: TimeUnit = TimeUnit::Microsecond;

fn returns(types: &[DataType]) -> Result<DataType> {
    match types {
        [_, DataType::Timestamp(_, None) | DataType::Null] => Ok(DataType::Timestamp(UNIT, Some("UTC".into()))),
        // Untyped values and dates are moments, as in PostgreSQL.
        [_, DataType::Timestamp(_, Some(_)) | DataType::Date32 | DataType::Date64] => {
            Ok(DataType::Timestamp(UNIT, None))
        }
        [_, text] if text.is_string() => Ok(DataType::Timestamp(UNIT, None)),
        _ => plan_err!("`at time zone` takes a timestamp; cast what is before it, as in `x::timestamp`"),
    }
}

fn values(arrays: &[ArrayRef], to: &DataType) -> Result<ArrayRef> {
    let [zones, times] = arrays else { return plan_err!("`timezone` takes a zone and a time") };
    let zones = cast(zones, &DataType::Utf8)?;
    let zones = zones.as_string::<i32>();
    let shows_clock = matches!(to, DataType::Timestamp(_, None));
    let kept = DataType::Timestamp(UNIT, shows_clock.then(|| "UTC".into()));
    let times = cast(times, &kept)?;
    let times = times.as_primitive::<TimestampMicrosecondType>();
    let mut known: Option<(&str, Tz)> = None;
    let mut moved = Vec::with_capacity(times.len());
    for (time, name) in times.iter().zip(zones) {
        let (Some(time), Some(name)) = (time, name) else {
            moved.push(None);
            continue;
        };
        let zone = match known {
            Some((other, zone)) if other == name => zone,
            _ => known.insert((name, zone_of(name)?)).1,
        };
        let Some(given) = DateTime::from_timestamp_micros(time).map(|time| time.naive_utc()) else {
            return exec_err!("a time is too far away for a time zone");
        };
        let seconds = match shows_clock {
            true => i64::from(zone.offset_from_utc_datetime(&given).fix().local_minus_utc()),
            false => -i64::from(offset_at(zone, &given)),
        };
        moved.push(time.checked_add(seconds * 1_000_000));
    }
    let moved = TimestampMicrosecondArray::from(moved);
    Ok(Arc::new(moved.with_data_type(to.clone())))
}

/// Returns the zone of a name. An offset such as `+02:00` has the sign of POSIX: `+` is west of Greenwich. An
/// abbreviation takes precedence over a region of the same name.
fn zone_of(name: &str) -> Result<Tz> {
    if let Some(offset) = offset_of(name) {
        return Ok(offset.parse()?);
    }
    let offset = match name.strip_prefix('+') {
        Some(digits) => Some(format!("-{digits}")),
        None => name.strip_prefix('-').map(|digits| format!("+{digits}")),
    };
    let known = offset.as_deref().unwrap_or(name);
    match known.parse::<Tz>().or_else(|_| name.to_uppercase().parse::<Tz>()) {
        Ok(zone) => Ok(zone),
        Err(_) => exec_err!("there is no time zone `{name}`; names are as in 'Europe/Berlin', 'UTC' or '+02:00'"),
    }
}

/// Returns the offset of a local time in seconds east of Greenwich: for an ambiguous time the later one, for a skipped
/// time the one before the change.
fn offset_at(zone: Tz, clock: &NaiveDateTime) -> i32 {
    match zone.offset_from_local_datetime(clock) {
        MappedLocalTime::Single(offset) | MappedLocalTime::Ambiguous(_, offset) => offset.fix().local_minus_utc(),
        MappedLocalTime::None => {
            let before = clock.checked_sub_signed(Duration::days(1)).unwrap_or(*clock);
            zone.offset_from_utc_datetime(&before).fix().local_minus_utc()
        }
    }
}
