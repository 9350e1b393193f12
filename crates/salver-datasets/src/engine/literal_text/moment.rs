//! Dates and timestamps: `2024-01-31 12:00 CET`, `2024-01-31+01`.

use super::super::pg_functions::offset_of;

/// Least length of a date with a year of four digits.
const DATE_LENGTH: usize = 8;

/// Returns the text of a timestamp with seconds, and with an offset where it names a zone by its abbreviation. Without
/// a zone, a timestamp ignores the offset.
pub(crate) fn timestamp(text: &str, zoned: bool) -> String {
    let text = with_clock(&with_offset(text.trim()));
    with_seconds(if zoned { &text } else { without_offset(&text) })
}

/// Returns the text of a date without the time of day, which counts for nothing.
pub(crate) fn date(text: &str) -> &str {
    let text = text.trim();
    match text.find([' ', 'T']).filter(|at| *at >= DATE_LENGTH) {
        Some(at) if text[at + 1..].starts_with(|c: char| c.is_ascii_digit()) => &text[..at],
        _ => text,
    }
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
    use super::{date, timestamp};

    #[test]
    fn timestamps_are_written_out() {
        for (text, zoned, bare) in [
            ("2024-01-31 12:00 CET", "2024-01-31 12:00:00+01:00", "2024-01-31 12:00:00"),
            (" 2024-01-31T12:00:05.5-05 ", "2024-01-31T12:00:05.5-05", "2024-01-31T12:00:05.5"),
            ("2024-01-31+01", "2024-01-31 00:00:00+01", "2024-01-31 00:00:00"),
            ("2024-01-31", "2024-01-31", "2024-01-31"),
            ("2024-01-31 12:00Z", "2024-01-31 12:00:00+00:00", "2024-01-31 12:00:00"),
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
            ("5 March 2024", "5 March 2024"),
        ] {
            assert_eq!(date(text), wanted, "{text}");
        }
    }
}
