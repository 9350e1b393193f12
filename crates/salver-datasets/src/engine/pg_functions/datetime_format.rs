//! Formats dates and times by a pattern.

use chrono::{Datelike, NaiveDateTime, Timelike};

use super::datetime_assembly::JULIAN_OF_YEAR_1;
use super::datetime_pattern::{Case, DAYS, DatetimeElement, DatetimeField, MONTHS, ROMAN};

/// A time with its zone.
pub(super) struct Moment<'z> {
    pub(super) local: NaiveDateTime,
    /// Offset in seconds east of Greenwich.
    pub(super) offset: i32,
    pub(super) zone: &'z str,
}

/// Formats a time.
pub(super) fn show(moment: &Moment<'_>, parts: &[DatetimeElement]) -> String {
    let mut shown = String::new();
    for part in parts {
        match part {
            DatetimeElement::Text(text) | DatetimeElement::Between(text) => shown.push_str(text),
            DatetimeElement::Field(DatetimeField { word: "FX", .. }) => {}
            DatetimeElement::Field(field) => shown.push_str(&one(moment, *field)),
        }
    }
    shown
}

fn one(moment: &Moment<'_>, field: DatetimeField) -> String {
    let local = &moment.local;
    let date = local.date();
    let week = date.iso_week();
    let ordered = |digits: String, number: i64| match field.ordinal {
        Some(case) => digits + &cased(ordinal(number), case),
        None => digits,
    };
    let number = |number: i64, digits: usize| {
        let width = if field.bare { 0 } else { digits };
        let sign = if number < 0 { "-" } else { "" };
        ordered(format!("{sign}{:0width$}", number.unsigned_abs()), number)
    };
    let name = |name: &str, width: usize| {
        let width = if field.bare { 0 } else { width };
        format!("{:width$}", cased(name, field.case))
    };
    // There is no year 0: the year before 1 is 1 BC.
    let year = if date.year() > 0 { i64::from(date.year()) } else { 1 - i64::from(date.year()) };
    let week_year = if week.year() > 0 { i64::from(week.year()) } else { 1 - i64::from(week.year()) };
    let hour12 = i64::from((local.hour() + 11) % 12 + 1);
    let micros = i64::from(local.nanosecond() / 1_000);
    match field.word {
        "HH24" => number(local.hour().into(), 2),
        "HH12" | "HH" => number(hour12, 2),
        "MI" => number(local.minute().into(), 2),
        "SS" => number(local.second().into(), 2),
        "SSSS" | "SSSSS" => number(local.num_seconds_from_midnight().into(), 0),
        "AM" | "PM" => cased(if local.hour() < 12 { "AM" } else { "PM" }, field.case),
        "A.M." | "P.M." => cased(if local.hour() < 12 { "A.M." } else { "P.M." }, field.case),
        "AD" | "BC" => cased(if date.year() > 0 { "AD" } else { "BC" }, field.case),
        "A.D." | "B.C." => cased(if date.year() > 0 { "A.D." } else { "B.C." }, field.case),
        "YYYY" => number(year, 4),
        "Y,YYY" => ordered(format!("{},{:03}", year / 1_000, year % 1_000), year),
        "YYY" => number(year % 1_000, 3),
        "YY" => number(year % 100, 2),
        "Y" => number(year % 10, 1),
        "IYYY" => number(week_year, 4),
        "IYY" => number(week_year % 1_000, 3),
        "IY" => number(week_year % 100, 2),
        "I" => number(week_year % 10, 1),
        "IW" => number(week.week().into(), 2),
        "ID" => number(date.weekday().number_from_monday().into(), 1),
        "IDDD" => number(i64::from(week.week0()) * 7 + i64::from(date.weekday().number_from_monday()), 3),
        "MONTH" => name(MONTHS[date.month0() as usize], 9),
        "MON" => name(&MONTHS[date.month0() as usize][..3], 0),
        "MM" => number(date.month().into(), 2),
        "RM" => name(ROMAN[date.month0() as usize], 4),
        "DAY" => name(DAYS[date.weekday().num_days_from_sunday() as usize], 9),
        "DY" => name(&DAYS[date.weekday().num_days_from_sunday() as usize][..3], 0),
        "DDD" => number(date.ordinal().into(), 3),
        "DD" => number(date.day().into(), 2),
        "D" => number(i64::from(date.weekday().num_days_from_sunday()) + 1, 1),
        "CC" => number((year + 99) / 100, 2),
        "J" => number(i64::from(date.num_days_from_ce()) + JULIAN_OF_YEAR_1, 0),
        "Q" => number(i64::from(date.month0() / 3) + 1, 1),
        "WW" => number(i64::from(date.ordinal0() / 7) + 1, 2),
        "W" => number(i64::from(date.day0() / 7) + 1, 1),
        "TZ" | "TZH" | "TZM" | "OF" => zone(moment, field),
        other => match fraction(other, micros) {
            Some((number, digits)) => ordered(format!("{number:0digits$}"), number),
            None => other.to_owned(),
        },
    }
}

/// Returns the fraction of a second that a field shows, and its digits: leading zeros are significant.
pub(super) fn fraction(word: &str, micros: i64) -> Option<(i64, usize)> {
    let digits = match word {
        "MS" => 3,
        "US" => 6,
        _ => word.strip_prefix("FF")?.parse().ok().filter(|digits| (1..=6).contains(digits))?,
    };
    Some((micros / 10_i64.pow(6 - digits), digits as usize))
}

/// Formats a field of the zone.
fn zone(moment: &Moment<'_>, field: DatetimeField) -> String {
    let offset = moment.offset.unsigned_abs();
    let sign = if moment.offset < 0 { '-' } else { '+' };
    match field.word {
        "TZ" => match field.case {
            Case::Lower => moment.zone.to_lowercase(),
            _ => moment.zone.to_owned(),
        },
        "TZH" => format!("{sign}{:02}", offset / 3_600),
        "TZM" => format!("{:02}", offset / 60 % 60),
        _ => {
            let width = if field.bare { 0 } else { 2 };
            let hours = format!("{sign}{:0width$}", offset / 3_600);
            match offset / 60 % 60 {
                0 => hours,
                minutes => format!("{hours}:{minutes:02}"),
            }
        }
    }
}

/// Returns a name in a case.
pub(super) fn cased(name: &str, case: Case) -> String {
    match case {
        Case::Upper => name.to_uppercase(),
        Case::Lower => name.to_lowercase(),
        Case::Title => {
            let mut chars = name.chars();
            chars.next().map_or_else(String::new, |first| first.to_string() + &chars.as_str().to_lowercase())
        }
    }
}

/// Returns the suffix of an ordinal number.
pub(super) fn ordinal(number: i64) -> &'static str {
    match (number.abs() % 100, number.abs() % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::super::datetime_pattern::parse;
    use super::{Moment, show};

    #[test]
    fn as_postgresql_writes_them() {
        let local = NaiveDate::from_ymd_opt(2024, 3, 5).and_then(|day| day.and_hms_micro_opt(14, 7, 9, 12_300));
        let moment = Moment { local: local.unwrap_or_default(), offset: 0, zone: "UTC" };
        for (pattern, expected) in [
            ("YYYY-MM-DD HH24:MI:SS.US", "2024-03-05 14:07:09.012300"),
            ("FMDay, DDth FMMonth YYYY", "Tuesday, 05th March 2024"),
            ("Day|mon|DY", "Tuesday  |mar|TUE"),
            ("HH12:MI am", "02:07 pm"),
            ("\"YYYY is\" YYYY Q WW IW J", "YYYY is 2024 1 10 10 2460375"),
            ("D ID DDD CC OF", "3 2 065 21 +00"),
        ] {
            assert_eq!(show(&moment, &parse(pattern)), expected, "{pattern}");
        }
    }
}
