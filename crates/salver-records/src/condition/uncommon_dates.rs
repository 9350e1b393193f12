//! Uncommon days and times that databases support all the same: a value that a row shows must be valid in a condition.

/// Returns PostgreSQL's `infinity`, days before the first year and after the year 9999, and midnight at the end of a
/// day.
pub(crate) fn of_postgres(kind: Far, text: &str) -> Option<String> {
    if matches!(text, "infinity" | "-infinity") && kind != Far::Time {
        return Some(text.to_owned());
    }
    let text = if kind == Far::Time { text.to_owned() } else { with_era(text)? };
    let (rest, before) = text.strip_suffix(" BC").map_or((text.as_str(), false), |rest| (rest, true));
    let good = match kind {
        Far::Time => is_last_midnight(rest) && !before,
        Far::Date => is_day(rest, before, if before { 4_713 } else { 5_874_897 }),
        Far::Timestamp => rest.split_once(' ').is_some_and(|(day, time)| {
            is_day(day, before, if before { 4_713 } else { 294_276 }) && super::instant::is_clock(time)
        }),
    };
    good.then_some(text)
}

/// Converts the sign of a year, which other doors write, to an era, and puts a space before the time.
fn with_era(text: &str) -> Option<String> {
    let text = text.strip_prefix('+').unwrap_or(text).replacen('T', " ", 1);
    let signed = text.strip_prefix('-').or_else(|| Some(text.as_str()).filter(|text| text.starts_with("0000-")));
    let Some((year, rest)) = signed.and_then(|rest| rest.split_once('-')) else { return Some(text) };
    // The year before the first is the astronomical year zero.
    let year = year.parse::<u32>().ok()?.checked_add(1)?;
    Some(format!("{year:04}-{rest} BC"))
}

/// Returns MySQL's nonexistent days: `0000-00-00`, `2024-00-00`, `2023-02-31`.
pub(super) fn of_mysql(kind: Far, text: &str) -> Option<String> {
    let (day, time) = text.split_once(' ').unwrap_or((text, ""));
    let parts: Vec<&str> = day.split('-').collect();
    let number = |at: usize, length: usize| {
        let part = parts.get(at).filter(|part| part.len() == length)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<u32>().ok()).flatten()
    };
    let is_day = parts.len() == 3 && number(0, 4).is_some() && number(1, 2)? <= 12 && number(2, 2)? <= 31;
    let is_time = match kind {
        Far::Date => time.is_empty(),
        Far::Time => return None,
        Far::Timestamp => time.is_empty() || super::instant::is_clock(time) && !time.contains(['+', 'Z', 'z']),
    };
    (is_day && is_time).then(|| text.to_owned())
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Far {
    Date,
    Time,
    Timestamp,
}

/// Returns whether it is a day of a year with four digits or more, up to `year_max`.
fn is_day(text: &str, before: bool, year_max: u32) -> bool {
    let Some((year, rest)) = text.split_once('-') else { return false };
    let (Ok(number), Some(rest)) = (year.parse::<u32>(), rest.get(..).filter(|rest| rest.len() == 5)) else {
        return false;
    };
    let digits = (4..=7).contains(&year.len()) && year.bytes().all(|byte| byte.is_ascii_digit());
    // Leap years repeat after four hundred years; before the first, the count is off by one.
    let year = if before { 2_001 - number.min(4_713) % 400 } else { 2_000 + number % 400 };
    digits && (1..=year_max).contains(&number) && super::instant::is_day(&format!("{year:04}-{rest}"))
}

/// Returns whether it is `24:00:00`, optionally with a zone.
fn is_last_midnight(text: &str) -> bool {
    let end = text.find(['+', '-']).unwrap_or(text.len());
    let (clock, zone) = text.split_at(end);
    matches!(clock, "24:00" | "24:00:00") && super::instant::is_clock(&format!("00:00:00{zone}"))
}

#[cfg(test)]
mod tests {
    use super::{Far, of_mysql, of_postgres};

    #[test]
    fn what_databases_write() {
        for (kind, text) in [
            (Far::Date, "infinity"),
            (Far::Date, "0044-03-15 BC"),
            (Far::Date, "12024-02-29"),
            (Far::Date, "5874897-12-31"),
            (Far::Timestamp, "12024-01-01 00:00:00+00"),
            (Far::Timestamp, "0044-03-15 12:00:00.5 BC"),
            (Far::Time, "24:00:00"),
            (Far::Time, "24:00:00+00"),
        ] {
            assert_eq!(of_postgres(kind, text).as_deref(), Some(text), "{text}");
        }
        for (kind, text, as_written) in [
            (Far::Date, "-0043-03-15", "0044-03-15 BC"),
            (Far::Date, "0000-12-31", "0001-12-31 BC"),
            (Far::Date, "+12024-02-29", "12024-02-29"),
            (Far::Timestamp, "-0043-03-15T12:00:00", "0044-03-15 12:00:00 BC"),
        ] {
            assert_eq!(of_postgres(kind, text).as_deref(), Some(as_written), "{text}");
        }
        for (kind, text) in [
            (Far::Date, "0044-03-32 BC"),
            (Far::Date, "-0043-03-15 BC"),
            (Far::Date, "--"),
            (Far::Date, "12023-02-29"),
            (Far::Date, "99999999-01-01"),
            (Far::Date, "0000-00-00"),
            (Far::Date, "'; --"),
            (Far::Timestamp, "12024-01-01 25:00:00"),
            (Far::Timestamp, "300000-01-01 00:00:00"),
            (Far::Time, "24:00:01"),
            (Far::Time, "infinity"),
        ] {
            assert_eq!(of_postgres(kind, text), None, "{text}");
        }
        for text in ["0000-00-00", "2024-00-10", "2023-02-31"] {
            assert_eq!(of_mysql(Far::Date, text).as_deref(), Some(text));
        }
        assert!(of_mysql(Far::Timestamp, "2024-01-00 01:02:03.500000").is_some());
        for text in ["0000-13-00", "2023-02-32", "now", "2024-1-1", "2024-01-01 x"] {
            assert_eq!(of_mysql(Far::Timestamp, text), None, "{text}");
        }
    }
}
