//! Parses dates and times in common notations, for tables whose values are sanitized: ISO, `20 December 2020`,
//! `December 20th, 2020`, `12/20/2020`, `20.12.2020`, each with or without a time of day, and `@` with seconds since
//! 1970. Unlike PHP's `strtotime` it knows no relative words, like `tomorrow`.

use salver_text::calendar::{DAY_SECONDS, date_of};

use crate::moment;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// Parses a moment and returns its day and time of day, formatted.
pub(crate) fn read(text: &str) -> Option<(String, String)> {
    if let Some(seconds) = text.strip_prefix('@') {
        return epoch(seconds.parse().ok()?);
    }
    if let Some((date, clock)) = moment::timestamp(text) {
        // A zone is left to the checks: the column may support one.
        return clock.is_utc().then_some((date, clock.text));
    }
    // The time is the last part with a colon.
    let (day, clock) = match text.rsplit_once([' ', 'T']) {
        Some((day, clock)) if clock.contains(':') => (day.trim_end(), clock),
        _ => (text, "00:00:00"),
    };
    Some((date(day)?, moment::time(clock, false).filter(moment::Clock::is_utc)?.text))
}

/// Parses a time of day and formats it.
pub(crate) fn clock(text: &str) -> Option<String> {
    moment::time(text, false).map(|clock| clock.text).or_else(|| read(text).map(|(_, clock)| clock))
}

fn date(text: &str) -> Option<String> {
    if let Some(date) = moment::date(text) {
        return Some(date);
    }
    let number = |text: &str| text.parse::<u32>().ok();
    let three = |separator: char| {
        let parts: Vec<&str> = text.split(separator).collect();
        <[&str; 3]>::try_from(parts).ok()
    };
    if let Some([month, day, year]) = three('/') {
        return moment::day(number(year)?, number(month)?, number(day)?);
    }
    if let Some([day, month, year]) = three('.') {
        return moment::day(number(year)?, number(month)?, number(day)?);
    }
    written(text)
}

/// Parses `December 20th, 2020` and `20 Dec 2020`.
fn written(text: &str) -> Option<String> {
    let parts: Vec<&str> = text.split([' ', ',', '-']).filter(|part| !part.is_empty()).collect();
    let [first, second, year] = <[&str; 3]>::try_from(parts).ok()?;
    let (month, day) = match (month(first), month(second)) {
        (Some(month), None) => (month, second),
        (None, Some(month)) => (month, first),
        _ => return None,
    };
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| day.strip_suffix(end)).unwrap_or(day);
    moment::day(year.parse().ok()?, month, digits.parse().ok()?)
}

fn month(word: &str) -> Option<u32> {
    let word = word.trim_end_matches('.').to_ascii_lowercase();
    let long = [
        "january",
        "february",
        "march",
        "april",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "sept",
    ];
    let known = word.len() == 3 || long.contains(&word.as_str());
    let at = MONTHS.iter().position(|short| known && word.starts_with(short))?;
    u32::try_from(at + 1).ok()
}

/// Converts seconds since 1970.
fn epoch(seconds: i64) -> Option<(String, String)> {
    let (days, second) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS));
    let (year, month, day) = date_of(days);
    let date = moment::day(u32::try_from(year).ok()?, month.into(), day.into())?;
    Some((date, format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)))
}

#[cfg(test)]
mod tests {
    use super::{clock, read};

    #[test]
    fn usual_writings() {
        for (text, date, time) in [
            ("December 20th, 2020", "2020-12-20", "00:00:00"),
            ("20 Dec 2020 13:15", "2020-12-20", "13:15:00"),
            ("12/31/2020", "2020-12-31", "00:00:00"),
            ("31.12.2020 1:02:03", "2020-12-31", "01:02:03"),
            ("2012-1-1 23:46", "2012-01-01", "23:46:00"),
            ("1 May 2021", "2021-05-01", "00:00:00"),
            ("@0", "1970-01-01", "00:00:00"),
            ("@1709210096", "2024-02-29", "12:34:56"),
            ("@-1", "1969-12-31", "23:59:59"),
        ] {
            assert_eq!(read(text), Some((date.to_owned(), time.to_owned())), "{text}");
        }
        for bad in ["", "string", "Smarch 1st, 2020", "2020-02-30", "13/13/2020", "@x", "1 2 3"] {
            assert_eq!(read(bad), None, "{bad}");
        }
        assert_eq!(clock("13:15").as_deref(), Some("13:15:00"));
    }
}
