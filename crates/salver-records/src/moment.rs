//! Dates and times as text: parsed, validated against the calendar, and formatted as databases print them. Any text
//! that would make a database round, shift or guess is rejected.

use salver_text::calendar::{date_of, days_in_month, days_of};

/// A time with its fraction and zone.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// `HH:MM:SS`
    pub(crate) text: String,
    /// Digits of the fraction of a second, without trailing zeros.
    pub(crate) fraction: String,
    /// The zone as written: empty, `Z`, or an offset.
    pub(crate) zone: String,
}

impl Clock {
    /// Returns whether the zone, if there is one, is UTC.
    pub(crate) fn is_utc(&self) -> bool {
        self.zone.is_empty() || self.zone == "Z" || self.zone[1..].bytes().all(|byte| matches!(byte, b'0' | b':'))
    }

    /// Returns the time with its fraction.
    pub(crate) fn digits(&self) -> String {
        if self.fraction.is_empty() { self.text.clone() } else { format!("{}.{}", self.text, self.fraction) }
    }
}

/// Converts a moment to UTC.
pub(crate) fn in_utc(date: &str, clock: Clock) -> Option<(String, Clock)> {
    if clock.is_utc() {
        return Some((date.to_owned(), clock));
    }
    let (days, clock) = shifted(clock)?;
    Some((next_day(date, days)?, clock))
}

/// Converts a time of day to UTC.
pub(crate) fn clock_in_utc(clock: Clock) -> Option<Clock> {
    if clock.is_utc() { Some(clock) } else { shifted(clock).map(|(_, clock)| clock) }
}

/// Returns the time in UTC, and by how many days it moves: at most one.
fn shifted(clock: Clock) -> Option<(i64, Clock)> {
    let seconds = |text: &str| {
        let mut parts = text.split(':').map(|part| part.parse::<i64>().ok());
        let mut part = || parts.next().unwrap_or(Some(0));
        Some(part()? * 3600 + part()? * 60 + part()?)
    };
    let offset = seconds(&clock.zone[1..])? * if clock.zone.starts_with('-') { -1 } else { 1 };
    let moved = seconds(&clock.text)? - offset;
    let second = moved.rem_euclid(86_400);
    let text = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    Some((moved.div_euclid(86_400), Clock { text, fraction: clock.fraction, zone: String::new() }))
}

/// Returns the day that is `by` days after this one, or before if negative.
fn next_day(date: &str, by: i64) -> Option<String> {
    let part = |from: usize, to: usize| date.get(from..to)?.parse::<u32>().ok();
    let (year, month, day_of_month) = date_of(days_of(part(0, 4)?.into(), part(5, 7)?, part(8, 10)?) + by);
    day(u32::try_from(year).ok()?, month.into(), day_of_month.into())
}

/// Parses a number of `min` to `max` digits.
pub(crate) fn number(text: &str, min: usize, max: usize) -> Option<u32> {
    let fits = (min..=max).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

/// Formats a day of the calendar as `YYYY-MM-DD`.
pub(crate) fn day(year: u32, month: u32, day: u32) -> Option<String> {
    let real = (1..=9999).contains(&year) && (1..=days_in_month(year.into(), month)).contains(&day);
    real.then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// Parses `YYYY-MM-DD`; month and day may have one digit.
pub(crate) fn date(text: &str) -> Option<String> {
    let mut parts = text.splitn(3, '-');
    let (year, month, last) = (parts.next()?, parts.next()?, parts.next()?);
    day(number(year, 4, 4)?, number(month, 1, 2)?, number(last, 1, 2)?)
}

/// Parses `HH:MM`, `HH:MM:SS`, `HH:MM:SS.fff`, each with or without a zone. With `span` it may be a span of time like
/// MySQL's, up to 838 hours in both directions.
pub(crate) fn time(text: &str, span: bool) -> Option<Clock> {
    let (sign, body) = match text.strip_prefix('-') {
        Some(rest) if span => ("-", rest),
        _ => ("", text),
    };
    let end = body.find(['Z', 'z', '+', '-']).unwrap_or(body.len());
    let (clock, zone) = body.split_at(end);
    let (clock, fraction) = clock.trim_end().split_once('.').unwrap_or((clock.trim_end(), ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) || fraction.len() > 9 {
        return None;
    }
    let mut parts = clock.splitn(3, ':');
    let (hours, minutes) = (number(parts.next()?, 1, if span { 3 } else { 2 })?, number(parts.next()?, 2, 2)?);
    let seconds = parts.next().map_or(Some(0), |text| number(text, 2, 2))?;
    if hours > if span { 838 } else { 23 } || minutes > 59 || seconds > 59 {
        return None;
    }
    Some(Clock {
        text: format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
        fraction: fraction.trim_end_matches('0').to_owned(),
        zone: offset(zone)?,
    })
}

/// Returns whether `text` is a span of time that SQLite may store as a time: like `25:00:00`, with any number of hours,
/// in both directions.
pub(crate) fn is_long_span(text: &str) -> bool {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = clock.strip_prefix(['-', '+']).unwrap_or(clock).split(':');
    let hours = parts.next().is_some_and(|hours| number(hours, 1, 9).is_some());
    let rest: Vec<bool> = parts.map(|part| number(part, 2, 2).is_some_and(|part| part <= 60)).collect();
    let fraction = fraction.len() <= 9 && !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    hours && fraction && matches!(rest.as_slice(), [true] | [true, true])
}

/// Parses a zone and formats it for databases.
fn offset(zone: &str) -> Option<String> {
    if zone.is_empty() {
        return Some(String::new());
    }
    if zone.eq_ignore_ascii_case("z") {
        return Some("Z".to_owned());
    }
    let (sign, digits) = zone.split_at(1);
    let digits = digits.replace(':', "");
    // Offsets may have seconds: historical ones do.
    let part = |from: usize| match digits.get(from..).filter(|rest| !rest.is_empty()) {
        Some(rest) => number(rest.get(..2)?, 2, 2),
        None => Some(0),
    };
    let (hours, minutes, seconds) = (part(0)?, part(2)?, part(4)?);
    let good = (2..=6).contains(&digits.len()) && hours <= 15 && minutes <= 59 && seconds <= 59;
    let seconds = if seconds == 0 { String::new() } else { format!(":{seconds:02}") };
    good.then(|| format!("{sign}{hours:02}:{minutes:02}{seconds}"))
}

/// Parses a date and a time with a space or `T` between; a date alone is its midnight.
pub(crate) fn timestamp(text: &str) -> Option<(String, Clock)> {
    match text.find(['T', 't', ' ']) {
        Some(at) => Some((date(&text[..at])?, time(&text[at + 1..], false)?)),
        None => Some((date(text)?, time("00:00:00", false)?)),
    }
}

/// Returns whether `text` has the layout `YYYY-MM-DD HH:MM:SS` already, whatever its digits.
pub(crate) fn is_laid_out(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 19
        && bytes[4] == b'-'
        && bytes[7] == b'-'
        && bytes[10] == b' '
        && bytes[13] == b':'
        && bytes[16] == b':'
}

#[cfg(test)]
mod tests {
    use super::{date, time, timestamp};

    #[test]
    fn days_of_the_calendar_only() {
        assert_eq!(date("2012-1-1").as_deref(), Some("2012-01-01"));
        assert_eq!(date("2024-02-29").as_deref(), Some("2024-02-29"));
        for bad in ["2023-02-29", "0000-00-00", "2020-13-01", "20-01-01", "2020-01-01x", "still-no-date", "2020-01", ""]
        {
            assert_eq!(date(bad), None, "{bad}");
        }
    }

    #[test]
    fn times_with_fractions_and_zones() {
        let clock = time("13:15", false).unwrap();
        assert_eq!((clock.text.as_str(), clock.zone.as_str()), ("13:15:00", ""));
        assert_eq!(time("13:15:16-00:44:30", false).unwrap().zone, "-00:44:30");
        let clock = time("13:15:16.250+0200", false).unwrap();
        assert_eq!((clock.digits().as_str(), clock.zone.as_str()), ("13:15:16.25", "+02:00"));
        assert!(!clock.is_utc() && time("13:15:16-00", false).unwrap().is_utc());
        assert_eq!(time("-120:00:00", true).unwrap().text, "-120:00:00");
        for bad in
            ["999:999:999", "still:no:time", "24:00:00", "12", "12:60", "12:00:00.x", "-01:00:00", "12:00:00+9999"]
        {
            assert_eq!(time(bad, false), None, "{bad}");
        }
    }

    #[test]
    fn moments_in_utc() {
        for (text, utc) in [
            ("2024-02-29T12:00:00+02:00", "2024-02-29 10:00:00"),
            ("2024-03-01T01:00:00.5+02:00", "2024-02-29 23:00:00.5"),
            ("2023-12-31 23:00:00-01:30", "2024-01-01 00:30:00"),
            ("2024-01-01 00:00:00+00:00:01", "2023-12-31 23:59:59"),
            ("2024-02-28 23:00:00-05", "2024-02-29 04:00:00"),
            ("2024-02-29T12:00:00Z", "2024-02-29 12:00:00"),
        ] {
            let (date, clock) = timestamp(text).unwrap();
            let (date, clock) = super::in_utc(&date, clock).unwrap();
            assert_eq!(format!("{date} {}", clock.digits()), utc, "{text}");
        }
        let last = timestamp("9999-12-31 23:00:00-02:00").unwrap();
        assert_eq!(super::in_utc(&last.0, last.1), None);
    }

    #[test]
    fn timestamps() {
        let (date, clock) = timestamp("2020-01-02T03:04:05.000Z").unwrap();
        assert_eq!((date.as_str(), clock.digits().as_str(), clock.is_utc()), ("2020-01-02", "03:04:05", true));
        assert_eq!(timestamp("2020-01-02").unwrap().1.text, "00:00:00");
        assert_eq!(timestamp("2001-01-01 999:999:999"), None);
    }
}
