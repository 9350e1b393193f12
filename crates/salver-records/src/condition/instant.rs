//! Converts days and times of clients to the one form that every system parses; returns `None` for anything else.

use salver_text::calendar::days_in_month;

use crate::moment::{self, number};

/// Parses `2026-11-21`. A moment is accepted only at midnight in UTC.
pub(super) fn date(text: &str) -> Option<String> {
    if text.len() == 10 {
        return is_day(text).then(|| text.to_owned());
    }
    timestamp_in_utc(text)?.strip_suffix(" 00:00:00").map(str::to_owned)
}

/// Returns the moment in UTC, for a column that stores no zone.
pub(super) fn timestamp_in_utc(text: &str) -> Option<String> {
    let (day, clock) = moment::timestamp(&timestamp(text)?)?;
    let (day, clock) = moment::in_utc(&day, clock)?;
    Some(format!("{day} {}", clock.digits()))
}

/// Returns the time of day in UTC, for a column that stores no zone.
pub(super) fn time_in_utc(text: &str) -> Option<String> {
    moment::clock_in_utc(moment::time(&time(text)?, false)?).map(|clock| clock.digits())
}

/// Parses `12:30`, `12:30:00`, `12:30:00.5`, optionally with a zone.
pub(super) fn time(text: &str) -> Option<String> {
    clock(text)
}

/// Parses a day and time, separated by a space or `T`; a day alone means its midnight.
pub(super) fn timestamp(text: &str) -> Option<String> {
    let day = text.get(..10)?;
    if !is_day(day) {
        return None;
    }
    match text[10..].strip_prefix([' ', 'T', 't']) {
        Some(rest) => Some(format!("{day} {}", clock(rest)?)),
        None if text.len() == 10 => Some(format!("{day} 00:00:00")),
        None => None,
    }
}

pub(super) fn is_day(text: &str) -> bool {
    let [year, month, day] = *text.split('-').collect::<Vec<_>>().as_slice() else { return false };
    let (Some(year), Some(month), Some(day)) = (number(year, 4, 4), number(month, 2, 2), number(day, 2, 2)) else {
        return false;
    };
    year > 0 && (1..=days_in_month(i64::from(year), month)).contains(&day)
}

/// Returns whether it is a time of day.
pub(super) fn is_clock(text: &str) -> bool {
    clock(text).is_some()
}

/// Returns the time of day with its seconds, a fraction without trailing zeros, and the zone as written.
fn clock(text: &str) -> Option<String> {
    let end = text.find(['+', '-', 'Z', 'z', ' ']).unwrap_or(text.len());
    let (clock, zone) = text.split_at(end);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let parts: Vec<u32> = clock.split(':').map(|part| number(part, 2, 2)).collect::<Option<_>>()?;
    let (hour, minute, second) = match parts.as_slice() {
        [hour, minute] => (*hour, *minute, 0),
        [hour, minute, second] => (*hour, *minute, *second),
        _ => return None,
    };
    if hour > 23 || minute > 59 || second > 59 || fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{hour:02}:{minute:02}:{second:02}{point}{fraction}{}", offset(zone)?))
}

/// Parses a zone as an offset; a `+` in a query may have become a space.
fn offset(zone: &str) -> Option<String> {
    let Some(sign) = zone.chars().next() else { return Some(String::new()) };
    let rest = &zone[1..];
    if matches!(sign, 'Z' | 'z') {
        return rest.is_empty().then(|| "+00:00".to_owned());
    }
    let (hours, minutes) = match rest.split_once(':') {
        Some(parts) => parts,
        None => rest.split_at_checked(2)?,
    };
    let minutes = if minutes.is_empty() { "00" } else { minutes };
    // Historical offsets have seconds.
    let (minutes, seconds) = match minutes.split_once(':') {
        Some(parts) => parts,
        None => minutes.split_at_checked(2)?,
    };
    let (colon, seconds) = if seconds.is_empty() { ("", "00") } else { (":", seconds) };
    let good = number(hours, 2, 2)? <= 15 && number(minutes, 2, 2)? <= 59 && number(seconds, 2, 2)? <= 59;
    let seconds = if colon.is_empty() { "" } else { seconds };
    good.then(|| format!("{}{hours}:{minutes}{colon}{seconds}", if sign == '-' { '-' } else { '+' }))
}

#[cfg(test)]
mod tests {
    use super::{date, time, time_in_utc, timestamp, timestamp_in_utc};

    #[test]
    fn days_and_times() {
        for (text, expected) in [
            ("2016-01-01 13:01:01", Some("2016-01-01 13:01:01")),
            ("2016-01-01T13:01", Some("2016-01-01 13:01:00")),
            ("2016-01-01", Some("2016-01-01 00:00:00")),
            ("2016-01-01 13:01:01.500", Some("2016-01-01 13:01:01.5")),
            ("2016-01-01 13:01:01Z", Some("2016-01-01 13:01:01+00:00")),
            ("2016-01-01 13:01:01 02", Some("2016-01-01 13:01:01+02:00")),
            ("2016-01-01 13:01:01-03:30:15", Some("2016-01-01 13:01:01-03:30:15")),
            ("2016-01-01 13:01:01-03:30:99", None),
            ("2016-02-29 00:00", Some("2016-02-29 00:00:00")),
            ("2015-02-29 00:00", None),
            ("2016-13-01", None),
            ("0000-00-00", None),
            ("2016-01-01 25:00", None),
            ("2016-01-01x", None),
            ("yesterday", None),
            ("é016-01-01", None),
            ("", None),
        ] {
            assert_eq!(timestamp(text).as_deref(), expected, "{text}");
        }
        assert_eq!(date("2016-01-31").as_deref(), Some("2016-01-31"));
        for (text, day) in [
            ("2016-01-31T00:00:00Z", Some("2016-01-31")),
            ("2016-02-01 02:00:00+02:00", Some("2016-02-01")),
            ("2016-01-31T22:00-02:00", Some("2016-02-01")),
            ("2016-01-31 10:00", None),
            ("2016-01-31 00:00:00.5", None),
        ] {
            assert_eq!(date(text).as_deref(), day, "{text}");
        }
        assert_eq!(timestamp_in_utc("2024-03-01T01:00:00.5+02:00").as_deref(), Some("2024-02-29 23:00:00.5"));
        assert_eq!(timestamp_in_utc("2024-03-01 01:00:00 02").as_deref(), Some("2024-02-29 23:00:00"));
        assert_eq!(timestamp_in_utc("2024-03-01 01:00").as_deref(), Some("2024-03-01 01:00:00"));
        assert_eq!(time_in_utc("01:00:00+02:00").as_deref(), Some("23:00:00"));
        assert_eq!(date("2016-01-32"), None);
        assert_eq!(time("9:00"), None);
        assert_eq!(time("09:00").as_deref(), Some("09:00:00"));
    }
}
