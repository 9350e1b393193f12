//! Dates, times of day and timestamps: `2024-01-31 12:00 CET`, `2024-01-31+01`, `2024-1-5 3:4`.

use std::borrow::Cow;

use chrono::NaiveDate;

use super::zone_abbreviations::offset_of;

/// Least length of a date with a year of four digits.
const DATE_LENGTH: usize = 8;

/// Returns the text of a timestamp with seconds, and with an offset where it names a zone by its abbreviation. Without
/// a zone, a timestamp ignores the offset.
pub(crate) fn timestamp(text: &str, zoned: bool) -> String {
    let text = padded(&with_clock(&with_offset(&by_whole_days(text.trim()))));
    at_midnight(with_seconds(if zoned { &text } else { without_offset(&text) }))
}

/// Rewrites `1:02 PM` to `13:02`.
fn by_whole_days(text: &str) -> Cow<'_, str> {
    let half = text.len().checked_sub(2).and_then(|at| text.get(at..)).map(str::to_ascii_lowercase);
    let after_noon = match half.as_deref() {
        Some("am") => false,
        Some("pm") => true,
        _ => return Cow::Borrowed(text),
    };
    let bare = text[..text.len() - 2].trim_end();
    let Some(colon) = bare.find(':') else { return Cow::Borrowed(text) };
    let begin = bare[..colon].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    match bare[begin..colon].parse::<u8>() {
        Ok(hour @ 1..=12) => {
            let hour = hour % 12 + if after_noon { 12 } else { 0 };
            Cow::Owned(format!("{}{hour:02}{}", &bare[..begin], &bare[colon..]))
        }
        _ => Cow::Borrowed(text),
    }
}

/// Rewrites `2024-02-29 24:00:00` to `2024-03-01 00:00:00`.
fn at_midnight(text: String) -> String {
    let next = text.find(" 24:00:00").or_else(|| text.find("T24:00:00")).and_then(|at| {
        let day = NaiveDate::parse_from_str(&text[..at], "%Y-%m-%d").ok()?.succ_opt()?;
        let behind = &text[at + " 24:00:00".len()..];
        let fraction = behind.strip_prefix('.').map_or(behind, |rest| rest.trim_start_matches('0'));
        let is_whole = !fraction.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        is_whole.then(|| format!("{} 00:00:00{fraction}", day.format("%Y-%m-%d")))
    });
    next.unwrap_or(text)
}

/// Returns the text of a date without the time of day, which counts for nothing.
pub(crate) fn date(text: &str) -> String {
    let text = text.trim();
    let date = match text.find([' ', 'T']).filter(|at| *at >= DATE_LENGTH) {
        Some(at) if is_time(&text[at + 1..]) => &text[..at],
        _ => text,
    };
    padded(date)
}

/// Returns whether a text begins with a time of day that there is.
fn is_time(text: &str) -> bool {
    let (hour, behind) = digits(text);
    let mut fields = behind.split(':').skip(1).map(|field| digits(field).0);
    let is_below = |field: &str, end: u8| field.parse::<u8>().is_ok_and(|number| number < end);
    is_below(hour, 25)
        && fields.next().is_none_or(|field| is_below(field, 60))
        && fields.next().is_none_or(|field| is_below(field, 61))
}

/// Returns the text of a time of day, all parts of which have two digits.
pub(crate) fn time(text: &str) -> String {
    let text = by_whole_days(text.trim());
    let text = text.as_ref();
    let (whole, fraction) = digits(text);
    match whole.len() {
        // The kernels would take nothing but digits for nanoseconds.
        _ if !fraction.is_empty() && !fraction.starts_with('.') => {}
        4 => return format!("{}:{}", &text[..2], &text[2..]),
        6 => return format!("{}:{}:{}", &text[..2], &text[2..4], &text[4..]),
        _ => return format!("{text}:"),
    }
    padded_clock(text).unwrap_or_else(|| text.to_owned())
}

/// Rewrites `2024-1-5 3:4` to `2024-01-05 03:04`.
fn padded(text: &str) -> String {
    let Some((date, behind)) = padded_date(text) else { return text.to_owned() };
    let clock = behind.strip_prefix([' ', 'T', 't']).and_then(|clock| padded_clock(clock.trim_start()));
    match clock {
        Some(clock) => format!("{date}{}{clock}", &behind[..1]),
        None => format!("{date}{behind}"),
    }
}

/// Returns the date at the beginning of a text, and what is behind it.
fn padded_date(text: &str) -> Option<(String, &str)> {
    let (year, behind) = digits(text);
    let (month, behind) = digits(behind.strip_prefix('-')?);
    let (day, behind) = digits(behind.strip_prefix('-')?);
    let is_date = year.len() >= 4 && is_field(month) && is_field(day);
    is_date.then(|| (format!("{year}-{month:0>2}-{day:0>2}"), behind))
}

/// Returns a time of day with all that is behind it.
fn padded_clock(text: &str) -> Option<String> {
    let (hour, behind) = digits(text);
    let (minute, mut behind) = digits(behind.strip_prefix(':')?);
    let mut clock = format!("{hour:0>2}:{minute:0>2}");
    let mut is_clock = is_field(hour) && is_field(minute);
    if let Some(rest) = behind.strip_prefix(':') {
        let (second, rest) = digits(rest);
        is_clock &= is_field(second);
        clock.push_str(&format!(":{second:0>2}"));
        behind = rest;
    }
    // A name of a zone may have a sign, too.
    let sign = behind.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ' '));
    match sign.filter(|at| behind[*at..].starts_with(['+', '-'])) {
        Some(at) if digits(&behind[at + 1..]).0.len() == 1 => {
            clock.push_str(&behind[..=at]);
            clock.push('0');
            clock.push_str(&behind[at + 1..]);
        }
        _ => clock.push_str(behind),
    }
    is_clock.then_some(clock)
}

/// Splits the digits off that a text begins with.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

fn is_field(digits: &str) -> bool {
    matches!(digits.len(), 1 | 2)
}

/// Rewrites `12:00 CET` to `12:00+01:00`: the engine would take the abbreviation for a region with daylight saving
/// time.
fn with_offset(text: &str) -> String {
    let (time, word) = text.split_at(text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len());
    match offset_of(word) {
        Some(offset) if time.contains(':') => format!("{}{offset}", time.trim_end()),
        _ => text.to_owned(),
    }
}

/// Rewrites `2024-01-31+01` to `2024-01-31 00:00:00+01`.
fn with_clock(text: &str) -> String {
    let day = text.match_indices('-').nth(1).map(|(at, _)| at + 1);
    let offset = day.and_then(|day| text[day..].find(['+', '-']).map(|at| day + at));
    match offset {
        Some(at) if !text.contains(':') => format!("{} 00:00:00{}", &text[..at], &text[at..]),
        _ => text.to_owned(),
    }
}

/// Rewrites `12:00+02` to `12:00`.
fn without_offset(text: &str) -> &str {
    let Some(clock) = text.find(':') else { return text };
    let end = text[clock..].find(['+', '-']).map_or(text.len(), |at| clock + at);
    let bare = text[..end].trim_end();
    // The name of a zone, such as `Europe/Berlin`.
    if let Some((bare, _)) = bare.rsplit_once(' ').filter(|(_, word)| word.contains('/')) {
        return bare.trim_end();
    }
    bare.strip_suffix(['Z', 'z']).unwrap_or(bare)
}

/// Adds the missing seconds to `2024-01-31 12:00`.
fn with_seconds(text: &str) -> String {
    let Some(at) = text.find([' ', 'T']).filter(|at| *at >= DATE_LENGTH) else { return text.to_owned() };
    let (date, time) = text.split_at(at + 1);
    let end = time.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(time.len());
    let (clock, zone) = time.split_at(end);
    let seconds = if clock.matches(':').count() == 1 && !zone.starts_with('.') { ":00" } else { "" };
    format!("{date}{clock}{seconds}{zone}")
}

#[cfg(test)]
mod tests {
    use super::{date, time, timestamp};

    #[test]
    fn timestamps_are_written_out() {
        for (text, zoned, bare) in [
            ("2024-01-31 12:00 CET", "2024-01-31 12:00:00+01:00", "2024-01-31 12:00:00"),
            (" 2024-01-31T12:00:05.5-05 ", "2024-01-31T12:00:05.5-05", "2024-01-31T12:00:05.5"),
            ("2024-01-31+01", "2024-01-31 00:00:00+01", "2024-01-31 00:00:00"),
            ("2024-01-31", "2024-01-31", "2024-01-31"),
            ("2024-01-31 12:00Z", "2024-01-31 12:00:00+00:00", "2024-01-31 12:00:00"),
            ("2024-1-5", "2024-01-05", "2024-01-05"),
            ("2024-1-15 3:4", "2024-01-15 03:04:00", "2024-01-15 03:04:00"),
            ("2024-01-5T3:4:5.25", "2024-01-05T03:04:05.25", "2024-01-05T03:04:05.25"),
            ("2024-1-5 1:2:3.5+2", "2024-01-05 01:02:03.5+02", "2024-01-05 01:02:03.5"),
            ("2024-1-5 1:2 -5:30", "2024-01-05 01:02:00 -05:30", "2024-01-05 01:02:00"),
            ("2024-1-5  1:2 CET", "2024-01-05 01:02:00+01:00", "2024-01-05 01:02:00"),
            ("2024-1-5 1:2:3 Europe/Berlin", "2024-01-05 01:02:03 Europe/Berlin", "2024-01-05 01:02:03"),
            ("2024-1-5+2", "2024-01-05 00:00:00+02", "2024-01-05 00:00:00"),
            ("2024-2-29 24:00", "2024-03-01 00:00:00", "2024-03-01 00:00:00"),
            ("2024-02-29 24:00:00.0+02", "2024-03-01 00:00:00+02", "2024-03-01 00:00:00"),
            ("2024-02-29 24:00:01", "2024-02-29 24:00:01", "2024-02-29 24:00:01"),
            ("2024-02-29 12:34 PM", "2024-02-29 12:34:00", "2024-02-29 12:34:00"),
            ("24-1-5", "24-1-5", "24-1-5"),
            ("2024-1-123", "2024-1-123", "2024-1-123"),
            ("infinity", "infinity", "infinity"),
            ("10000-01-01", "10000-01-01", "10000-01-01"),
            ("é", "é", "é"),
        ] {
            assert_eq!((timestamp(text, true).as_str(), timestamp(text, false).as_str()), (zoned, bare), "{text}");
        }
    }

    #[test]
    fn dates_have_no_time_of_day() {
        for (text, wanted) in [
            ("2024-01-31 12:00+02", "2024-01-31"),
            ("2024-01-31T00:00:00", "2024-01-31"),
            (" 2024-01-31 ", "2024-01-31"),
            ("2024-1-5 3:4", "2024-01-05"),
            ("2024-1", "2024-1"),
            ("2024-1-1 25:00", "2024-01-01 25:00"),
            ("2024-01-01 12:61:00", "2024-01-01 12:61:00"),
            ("5 March 2024", "5 March 2024"),
        ] {
            assert_eq!(date(text), wanted, "{text}");
        }
    }

    #[test]
    fn times_of_day_have_two_digits() {
        for (text, wanted) in [
            ("3:4", "03:04"),
            (" 3:4:5.5 ", "03:04:05.5"),
            ("1:2 PM", "13:02"),
            ("12:34:05.5am", "00:34:05.5"),
            ("13:2 PM", "13:02 PM"),
            ("allballs", "allballs"),
            ("3", "3:"),
            ("0304", "03:04"),
            ("030405", "03:04:05"),
            ("030405.25", "03:04:05.25"),
        ] {
            assert_eq!(time(text), wanted, "{text}");
        }
    }
}
