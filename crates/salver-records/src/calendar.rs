//! Days and moments as databases write them, and as Arrow counts them: days and microseconds since 1970, in the
//! proleptic Gregorian calendar, like PostgreSQL and Arrow.

use salver_text::calendar::{date_of, days_in_month, days_of};

use crate::moment::number;

/// Range of days since 1970 of the calendar functions that use this module: 260,000 years in both directions.
const CALENDAR_DAYS: i64 = 95_000_000;
/// Microseconds per day.
const DAY: i64 = 86_400_000_000;

/// Returns a number of days if it is within the calendar; `infinity` never is.
pub(crate) fn day_within(days: i64) -> Option<i32> {
    if days.abs() <= CALENDAR_DAYS { i32::try_from(days).ok() } else { None }
}

/// Returns a number of microseconds if it is within the calendar; `infinity` never is.
pub(crate) fn moment_within(micros: i64) -> Option<i64> {
    (-CALENDAR_DAYS * DAY..=CALENDAR_DAYS * DAY).contains(&micros).then_some(micros)
}

/// Parses `2024-02-29`, `12024-02-29`, `-0043-03-15` and `0044-03-15 BC`.
pub(crate) fn day(text: &str) -> Option<i32> {
    let (text, before) = era(text.trim());
    let (day, rest) = civil(text, before)?;
    rest.is_empty().then(|| day_within(day)).flatten()
}

/// A moment, and whether it has a remainder below one microsecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) micros: i64,
    pub(crate) beyond: bool,
}

/// Parses a day, and after a space or `T` a time with or without a zone; without one it is UTC.
pub(crate) fn moment(text: &str) -> Option<Moment> {
    let (text, before) = era(text.trim());
    let (day, rest) = civil(text, before)?;
    let (clock, beyond) = match rest.strip_prefix([' ', 'T', 't']) {
        Some(rest) => time(rest)?,
        None if rest.is_empty() => (0, false),
        None => return None,
    };
    let micros = day.checked_mul(DAY)?.checked_add(clock)?;
    Some(Moment { micros: moment_within(micros)?, beyond })
}

/// Formats the moment for SQL, with all its digits; years before the first have a sign.
pub(crate) fn written(micros: i64) -> (i64, String) {
    let (days, clock) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    let (year, month, day) = date_of(days);
    let (seconds, fraction) = (clock / 1_000_000, clock % 1_000_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    (year, format!("-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{fraction:06}"))
}

/// Formats the day for SQL; its year is returned separately.
pub(crate) fn written_day(days: i64) -> (i64, String) {
    let (year, month, day) = date_of(days);
    (year, format!("-{month:02}-{day:02}"))
}

/// Removes ` BC` from the text, and returns whether it was there.
fn era(text: &str) -> (&str, bool) {
    text.strip_suffix(" BC").map_or((text, false), |text| (text, true))
}

/// Parses the day at the beginning of a text, and returns the rest.
fn civil(text: &str, before: bool) -> Option<(i64, &str)> {
    let (sign, unsigned) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let (year, rest) = unsigned.split_once('-')?;
    let (month, rest) = rest.split_once('-')?;
    let (day, rest) = rest.split_at_checked(2)?;
    if year.len() < 4 {
        return None;
    }
    let (year, month, day) = (i64::from(number(year, 1, 7)?), number(month, 1, 2)?, number(day, 1, 2)?);
    // The year before the first is the astronomical year zero.
    let year = if before { 1 - year } else { sign * year };
    (1..=days_in_month(year, month)).contains(&day).then(|| (days_of(year, month, day), rest))
}

/// Returns the microseconds since midnight in UTC, and whether there is a remainder.
fn time(text: &str) -> Option<(i64, bool)> {
    let end = text.find(['+', '-', 'Z', 'z']).unwrap_or(text.len());
    let (clock, zone) = text.split_at(end);
    let (clock, fraction) = clock.trim_end().split_once('.').unwrap_or((clock.trim_end(), ""));
    let mut parts = clock.split(':');
    let (hour, minute) = (number(parts.next()?, 1, 2)?, number(parts.next()?, 1, 2)?);
    let second = parts.next().map_or(Some(0), |second| number(second, 1, 2))?;
    if parts.next().is_some() || hour > 24 || minute > 59 || second > 60 || (hour == 24 && minute + second > 0) {
        return None;
    }
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut micros = 0;
    for at in 0..6 {
        micros = 10 * micros + i64::from(fraction.as_bytes().get(at).map_or(0, |digit| digit - b'0'));
    }
    let beyond = fraction.bytes().skip(6).any(|digit| digit != b'0');
    let seconds = i64::from(hour) * 3_600 + i64::from(minute) * 60 + i64::from(second) - offset(zone)?;
    Some((seconds * 1_000_000 + micros, beyond))
}

/// Returns the offset of a zone from UTC in seconds: ``, `Z`, `+02`, `+0200`, `+02:00`, `+02:00:30`.
fn offset(zone: &str) -> Option<i64> {
    if zone.is_empty() || zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, rest) = zone.split_at_checked(1)?;
    let digits = rest.replace(':', "");
    if digits.len() < 2 || digits.len() > 6 || !digits.len().is_multiple_of(2) {
        return None;
    }
    let part = |at: usize| digits.get(at..at + 2).map_or(Some(0), |part| number(part, 1, 2)).map(i64::from);
    let (hours, minutes, seconds) = (part(0)?, part(2)?, part(4)?);
    if hours > 15 || minutes > 59 || seconds > 59 {
        return None;
    }
    let all = hours * 3_600 + minutes * 60 + seconds;
    match sign {
        "+" => Some(all),
        "-" => Some(-all),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Moment, day, moment, written};

    fn micros(text: &str) -> Option<i64> {
        moment(text).map(|moment| moment.micros)
    }

    #[test]
    fn days() {
        assert_eq!(day("1970-01-01"), Some(0));
        assert_eq!(day("0001-01-01"), Some(-719_162));
        assert_eq!(day("9999-12-31"), Some(2_932_896));
        assert_eq!(day("0001-12-31 BC"), Some(-719_163));
        assert_eq!(day("0000-12-31"), Some(-719_163));
        assert_eq!(day("0044-03-15 BC"), day("-0043-03-15"));
        for none in ["infinity", "-infinity", "0000-00-00", "2024-00-10", "2023-02-29", "999999-01-01", "24-01-01", ""]
        {
            assert_eq!(day(none), None, "{none}");
        }
    }

    #[test]
    fn moments() {
        assert_eq!(micros("1970-01-01 00:00:00"), Some(0));
        assert_eq!(micros("1969-12-31T23:59:59.999999Z"), Some(-1));
        assert_eq!(micros("9999-12-31 23:59:59.999999"), Some(253_402_300_799_999_999));
        assert_eq!(micros("2024-02-29 13:14:15+02"), micros("2024-02-29 11:14:15"));
        assert_eq!(micros("1883-01-01 00:00:00-04:56:02"), micros("1883-01-01 04:56:02"));
        assert_eq!(micros("0044-03-15 12:00:00+00 BC"), micros("-0043-03-15 12:00"));
        assert_eq!(micros("2024-01-01"), micros("2024-01-01 00:00"));
        let nanos = moment("2024-01-01 00:00:00.123456789");
        assert_eq!(nanos, Some(Moment { micros: micros("2024-01-01 00:00:00.123456").unwrap_or(0), beyond: true }));
        for none in ["infinity", "0000-00-00 00:00:00", "2024-01-01x", "2024-01-01 25:00", "2024-01-01 1", "é"] {
            assert_eq!(moment(none), None, "{none}");
        }
    }

    #[test]
    fn written_as_read() {
        for text in ["9999-12-31 23:59:59.999999", "0001-01-01 00:00:00.000000", "1969-12-31 00:00:00.000001"] {
            let (year, rest) = written(micros(text).unwrap_or(0));
            assert_eq!(format!("{year:04}{rest}"), text);
        }
    }
}
