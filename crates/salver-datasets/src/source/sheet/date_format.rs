//! Tells dates from times of day by the number format of a cell.
//!
//! A workbook stores both as days, and numbers below 1 are times of day: day 0 is not a date. But in a workbook that
//! counts from 1904, as those of old Macs do, day 0 is 1904-01-01.

use calamine::{Data, ExcelDateTime, ExcelDateTimeType, Style};
use chrono::{Datelike, NaiveDateTime};

/// Returns the time of day 0 that a cell of a workbook that counts from 1904 may contain.
pub(super) fn day_zero(value: &Data) -> Option<NaiveDateTime> {
    match value {
        Data::DateTime(value) if value.is_datetime() && (0.0..1.0).contains(&value.as_f64()) => {
            value.as_datetime().filter(|at| at.year() == 1904)
        }
        _ => None,
    }
}

/// Returns a value of day 0 as what its number format shows: a date or a time of day.
pub(super) fn settled(value: Data, style: Option<&Style>) -> Data {
    let (Some(at), Data::DateTime(stored)) = (day_zero(&value), &value) else { return value };
    let format = style.and_then(|style| style.number_format.as_ref());
    let has_date = format.is_some_and(|format| match format.format_id {
        // The formats of East Asia have no text.
        Some(27..=31 | 36 | 50..=54 | 57 | 58) => true,
        _ => shows_date(&format.format_code),
    });
    match has_date {
        true if stored.as_f64() == 0.0 => Data::DateTimeIso(at.format("%Y-%m-%d").to_string()),
        true => Data::DateTimeIso(at.format("%Y-%m-%dT%H:%M:%S%.f").to_string()),
        // Counted from 1900, day 0 can't be taken for a date.
        false => Data::DateTime(ExcelDateTime::new(stored.as_f64(), ExcelDateTimeType::DateTime, false)),
    }
}

/// Returns whether a number format shows a day, a month or a year. An `m` beside hours or seconds is minutes.
fn shows_date(format: &str) -> bool {
    let (mut is_quoted, mut is_bracket, mut is_literal) = (false, false, false);
    let (mut has_date, mut has_month, mut has_time) = (false, false, false);
    for c in format.chars() {
        match c {
            _ if std::mem::take(&mut is_literal) => {}
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '\\' | '_' | '*' => is_literal = true,
            '[' => is_bracket = true,
            ']' => is_bracket = false,
            _ if is_bracket => {}
            ';' => break,
            'd' | 'D' | 'y' | 'Y' => has_date = true,
            'm' | 'M' => has_month = true,
            'h' | 'H' | 's' | 'S' => has_time = true,
            _ => {}
        }
    }
    has_date || (has_month && !has_time)
}

#[cfg(test)]
mod tests {
    use super::shows_date;

    #[test]
    fn formats() {
        for date in ["yyyy-mm-dd", "[$-407]d. mmm yy;@", "mmm", "m/d/yy h:mm", "dd\\h"] {
            assert!(shows_date(date), "{date}");
        }
        for time in ["hh:mm", "mm:ss.0", "[h]:mm:ss", "h:mm AM/PM", "\"day\" h", "General", "h\\d;yyyy"] {
            assert!(!shows_date(time), "{time}");
        }
    }
}
