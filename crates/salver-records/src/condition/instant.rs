//! Converts days and times of clients to the one form that every system parses; returns `None` for anything else.

use crate::moment;

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

/// Returns whether it is a day of the calendar, with all of its digits.
pub(super) fn is_day(text: &str) -> bool {
    moment::date(text).is_some_and(|day| day == text)
}

/// Returns whether it is a time of day.
pub(super) fn is_clock(text: &str) -> bool {
    clock(text).is_some()
}

/// Returns the time of day with its seconds, a fraction without trailing zeros, and the zone as an offset.
fn clock(text: &str) -> Option<String> {
    if text.find(':') != Some(2) {
        return None;
    }
    // The `+` of a zone may have become a space in a query.
    let clock = match text.split_once(' ') {
        Some((clock, zone)) => moment::time(&format!("{clock}+{zone}"), false)?,
        None => moment::time(text, false)?,
    };
    let zone = if clock.zone == "Z" { "+00:00" } else { &clock.zone };
    Some(format!("{}{zone}", clock.digits()))
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
