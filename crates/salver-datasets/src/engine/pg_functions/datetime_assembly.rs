//! Assembles a date and time from the fields of a text, as PostgreSQL does (`do_to_timestamp` there).

use chrono::{Datelike, Duration, NaiveDate, NaiveDateTime, NaiveTime};

use super::datetime_parser::ParsedFields;

/// A parsed time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read {
    pub(super) local: NaiveDateTime,
    /// Offset in minutes east of Greenwich.
    east: i64,
    /// Number of significant fractional digits of the second.
    places: Option<u32>,
}

impl Read {
    /// Returns the time in UTC, in microseconds since 1970.
    pub(super) fn micros(&self) -> i64 {
        let micros = (self.local - Duration::minutes(self.east)).and_utc().timestamp_micros();
        let unit = 10_i64.pow(6_u32.saturating_sub(self.places.unwrap_or(6)));
        (micros + unit / 2).div_euclid(unit) * unit
    }
}

/// Assembles the time from its fields; an error describes the problem. Without a year it is 1 BC, which is the year 0.
pub(super) fn of(fields: &ParsedFields) -> Result<Read, String> {
    let date = date(fields)?;
    if date.num_days_from_ce() < FIRST_DAY {
        return Err(TOO_FAR.to_owned());
    }
    let local = date.and_time(time(fields)?);
    let east = match fields.is_east {
        None => 0,
        Some(is_east) => {
            if !(0..=15).contains(&fields.zone_hours) || !(0..60).contains(&fields.zone_minutes) {
                return Err("there is no such zone".to_owned());
            }
            let minutes = fields.zone_hours * 60 + fields.zone_minutes;
            if is_east { minutes } else { -minutes }
        }
    };
    local.checked_sub_signed(Duration::minutes(east)).ok_or(TOO_FAR)?;
    Ok(Read { local, east, places: fields.places })
}

const TOO_FAR: &str = "the time is too far away";
/// First day that PostgreSQL supports, Julian day 0, counted as chrono does.
const FIRST_DAY: i32 = -1_721_425;
const NO_DAY: &str = "there is no such day";

/// Returns the year, 0 for 1 BC.
fn year(fields: &ParsedFields) -> i64 {
    let century = if fields.before_christ { -fields.century } else { fields.century };
    if fields.year == 0 {
        // The first year of the century.
        return match century {
            0 => 0,
            century if century > 0 => (century - 1) * 100 + 1,
            century => century * 100 + 1,
        };
    }
    if century != 0 && fields.year_digits <= 2 {
        return match (fields.year % 100, century > 0) {
            (0, true) => century * 100,
            (0, false) => century * 100 + 1,
            (year, true) => (century - 1) * 100 + year,
            (year, false) => (century + 1) * 100 - year + 1,
        };
    }
    let year = if fields.before_christ { -fields.year } else { fields.year };
    if year < 0 { year + 1 } else { year }
}

fn date(fields: &ParsedFields) -> Result<NaiveDate, String> {
    let is_by_week = fields.is_by_week == Some(true);
    let year = i32::try_from(year(fields)).map_err(|_| TOO_FAR)?;
    let has_year = year != 0 || fields.before_christ;
    let mut date = (year, 1_i64, 1_i64);
    let mut day_of_year = fields.day_of_year;
    if fields.julian != 0 {
        let days = i32::try_from(fields.julian - JULIAN_OF_YEAR_1).map_err(|_| TOO_FAR)?;
        date = parts(NaiveDate::from_num_days_from_ce_opt(days).ok_or(TOO_FAR)?);
    }
    if fields.week != 0 && is_by_week {
        // Monday if the day is missing.
        let day = (fields.weekday + 5) % 7;
        let day = if fields.weekday == 0 { 0 } else { day };
        date = parts(week_begin(date.0, fields.week)?.checked_add_signed(Duration::days(day)).ok_or(TOO_FAR)?);
    } else if fields.week != 0 {
        day_of_year = (fields.week - 1) * 7 + 1;
    }
    match fields.week_of_month {
        0 if fields.day != 0 => date.2 = fields.day,
        0 => {}
        week => date.2 = (week - 1) * 7 + 1,
    }
    if fields.month != 0 {
        date.1 = fields.month;
    }
    if day_of_year != 0 && (date.1 <= 1 || date.2 <= 1) {
        if !has_year {
            return Err("a day of the year needs the year".to_owned());
        }
        if is_by_week {
            let day = Duration::try_days(day_of_year - 1).ok_or(TOO_FAR)?;
            date = parts(week_begin(date.0, 1)?.checked_add_signed(day).ok_or(TOO_FAR)?);
        } else {
            let ordinal = u32::try_from(day_of_year).map_err(|_| NO_DAY)?;
            let found = parts(NaiveDate::from_yo_opt(date.0, ordinal).ok_or(NO_DAY)?);
            date.1 = if date.1 <= 1 { found.1 } else { date.1 };
            date.2 = if date.2 <= 1 { found.2 } else { date.2 };
        }
    }
    let part = |number: i64| u32::try_from(number).map_err(|_| NO_DAY);
    NaiveDate::from_ymd_opt(date.0, part(date.1)?, part(date.2)?).ok_or_else(|| NO_DAY.to_owned())
}

fn parts(date: NaiveDate) -> (i32, i64, i64) {
    (date.year(), date.month().into(), date.day().into())
}

/// Returns the Monday of an ISO week; the first week contains January 4.
fn week_begin(year: i32, week: i64) -> Result<NaiveDate, String> {
    let fourth = NaiveDate::from_ymd_opt(year, 1, 4).ok_or(TOO_FAR)?;
    let days = (week - 1) * 7 - i64::from(fourth.weekday().num_days_from_monday());
    let days = Duration::try_days(days).ok_or(TOO_FAR)?;
    fourth.checked_add_signed(days).ok_or_else(|| TOO_FAR.to_owned())
}

/// Julian day before the first day of the year 1.
pub(super) const JULIAN_OF_YEAR_1: i64 = 1_721_425;

fn time(fields: &ParsedFields) -> Result<NaiveTime, String> {
    let wrong = || "there is no such time of day".to_owned();
    let whole = fields.second_of_day;
    let either = |told: i64, of_day: i64| if told == 0 { of_day } else { told };
    let second = either(fields.second, whole % 60);
    let minute = either(fields.minute, whole / 60 % 60);
    let mut hour = either(fields.hour, whole / 3_600);
    if fields.is_half_day {
        if !(1..=12).contains(&hour) {
            return Err(format!("hour {hour} is not one of 12"));
        }
        hour = hour % 12 + if fields.afternoon { 12 } else { 0 };
    }
    let part = |number: i64| u32::try_from(number).map_err(|_| wrong());
    let micros = fields.millis * 1_000 + fields.micros;
    if !(0..1_000_000).contains(&micros) {
        return Err(wrong());
    }
    NaiveTime::from_hms_micro_opt(part(hour)?, part(minute)?, part(second)?, part(micros)?).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::super::datetime_parser::fields;
    use super::super::datetime_pattern::parse;
    use super::of;

    fn read(text: &str, pattern: &str) -> Result<String, String> {
        let micros = of(&fields(text, &parse(pattern))?)?.micros();
        Ok(chrono::DateTime::from_timestamp_micros(micros).unwrap().naive_utc().to_string())
    }

    #[test]
    fn as_postgresql_reads_them() {
        for (text, pattern, expected) in [
            ("05 Mar 2024", "DD Mon YYYY", "2024-03-05 00:00:00"),
            ("2024/3/5", "YYYY-MM-DD", "2024-03-05 00:00:00"),
            ("20240305", "YYYYMMDD", "2024-03-05 00:00:00"),
            ("March 5, 99", "Month DD, YY", "1999-03-05 00:00:00"),
            ("2024-03-05 02:07:09.5 PM", "YYYY-MM-DD HH12:MI:SS.MS PM", "2024-03-05 14:07:09.500"),
            ("2024-065", "YYYY-DDD", "2024-03-05 00:00:00"),
            ("2020-53-7", "IYYY-IW-ID", "2021-01-03 00:00:00"),
            ("2020-09", "IYYY-IW", "2020-02-24 00:00:00"),
            ("2024-03-05 10:00 -05:30", "YYYY-MM-DD HH24:MI TZH:TZM", "2024-03-05 15:30:00"),
            ("20 11", "CC YY", "1911-01-01 00:00:00"),
            ("2460375", "J", "2024-03-05 00:00:00"),
            ("13:05", "HH24:MI", "0000-01-01 13:05:00"),
        ] {
            assert_eq!(read(text, pattern).as_deref(), Ok(expected), "{text} by {pattern}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for (text, pattern) in [
            ("2024-02-30", "YYYY-MM-DD"),
            ("x", "YYYY"),
            ("2024 2023", "YYYY YYYY"),
            ("2024-09", "YYYY-IW"),
            ("065", "DDD"),
            ("2024 pm", "YYYY am"),
            ("2024-1", "YYYY-MMDD"),
            ("2024 24", "YYYY HH24"),
        ] {
            assert!(read(text, pattern).is_err(), "{text} by {pattern}: {:?}", read(text, pattern));
        }
    }
}
