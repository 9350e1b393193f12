//! Dates and times as Google stores them: days since 1899-12-30, of which the number format of the cell says what they
//! are.

use calamine::{Data, ExcelDateTime, ExcelDateTimeType};
use chrono::{Duration, NaiveDate, NaiveDateTime};
use serde::Deserialize;

/// Kind of a number format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum NumberKind {
    Date,
    Time,
    DateTime,
    /// Numbers of every kind, and text.
    #[serde(other)]
    Other,
}

/// Returns a number as what its format says, in the form in which workbooks have it. `pattern` tells durations from
/// times of day, which are one kind to Google.
pub(super) fn value_of(number: f64, kind: NumberKind, pattern: Option<&str>) -> Data {
    let is_duration = number < 0.0 || pattern.is_some_and(is_elapsed);
    match kind {
        NumberKind::Other => Data::Float(number),
        NumberKind::Time if is_duration => {
            Data::DateTime(ExcelDateTime::new(number, ExcelDateTimeType::TimeDelta, false))
        }
        NumberKind::Time if number < 1.0 => {
            Data::DateTime(ExcelDateTime::new(number, ExcelDateTimeType::DateTime, false))
        }
        // Not as a number of days: those of workbooks count from another day before March 1900, and have no negative
        // ones.
        NumberKind::Date | NumberKind::DateTime | NumberKind::Time => {
            moment(number).map_or(Data::Float(number), |at| Data::DateTimeIso(text_of(at)))
        }
    }
}

/// Returns whether a pattern shows elapsed time: hours, minutes or seconds in brackets.
fn is_elapsed(pattern: &str) -> bool {
    let (mut is_quoted, mut is_literal, mut is_first) = (false, false, false);
    for c in pattern.chars() {
        let is_inside = std::mem::take(&mut is_first);
        match c {
            _ if std::mem::take(&mut is_literal) => {}
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '\\' => is_literal = true,
            '[' => is_first = true,
            'h' | 'H' | 'm' | 'M' | 's' | 'S' if is_inside => return true,
            _ => {}
        }
    }
    false
}

/// Returns the moment to the millisecond, as workbooks have it.
fn moment(days: f64) -> Option<NaiveDateTime> {
    let ms = (days * 86_400_000.0).round();
    // Far beyond every year that there is.
    if !ms.is_finite() || ms.abs() > 1e16 {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, reason = "whole and in range")]
    let since = Duration::milliseconds(ms as i64);
    NaiveDate::from_ymd_opt(1899, 12, 30)?.and_hms_opt(0, 0, 0)?.checked_add_signed(since)
}

fn text_of(at: NaiveDateTime) -> String {
    let form = if at == at.date().into() { "%Y-%m-%d" } else { "%Y-%m-%dT%H:%M:%S%.f" };
    at.format(form).to_string()
}

#[cfg(test)]
mod tests {
    use super::{NumberKind, is_elapsed, value_of};
    use calamine::Data;

    #[test]
    fn days_count_from_the_end_of_1899() {
        for (number, expected) in [
            (46_053.0, "2026-01-31"),
            (46_053.5, "2026-01-31T12:00:00"),
            (46_053.500_005_787, "2026-01-31T12:00:00.500"),
            // As the reference of the API has it.
            (2.5, "1900-01-01T12:00:00"),
            (33.625, "1900-02-01T15:00:00"),
            (0.0, "1899-12-30"),
            (-18_260.0, "1850-01-01"),
        ] {
            let value = value_of(number, NumberKind::DateTime, None);
            assert_eq!(value, Data::DateTimeIso(expected.to_owned()), "{number}");
        }
        assert_eq!(value_of(1e300, NumberKind::Date, None), Data::Float(1e300));
        assert_eq!(value_of(7.0, NumberKind::Other, Some("yyyy")), Data::Float(7.0));
    }

    #[test]
    fn elapsed_times() {
        for pattern in ["[h]:mm:ss", "[hh]:mm", "[mm]:ss", "[ss].000", "\"t\" [H]"] {
            assert!(is_elapsed(pattern), "{pattern}");
        }
        for pattern in ["h:mm:ss am/pm", "\"[h]\" h:mm", "\\[h]", "[red]h:mm", "[$-409]h:mm", ""] {
            assert!(!is_elapsed(pattern), "{pattern}");
        }
    }
}
