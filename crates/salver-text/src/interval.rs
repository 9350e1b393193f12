//! Intervals in PostgreSQL's syntax: `1 day 02:00`, `1 month - 1 day`, `P1Y2M3DT4H`, `2 weeks ago`.

/// An interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Months.
    pub months: i64,
    /// Days.
    pub days: i64,
    /// Microseconds.
    pub micros: i64,
}

/// Units by the prefixes of their names, in months, days or microseconds.
const UNITS: &[(&[&str], Span)] = &[
    (&["millennium", "millennia", "mil", "mils"], months(12_000)),
    (&["century", "centuries", "c", "cent"], months(1_200)),
    (&["decade", "decades", "dec", "decs"], months(120)),
    (&["year", "years", "y", "yr", "yrs"], months(12)),
    (&["month", "months", "mon", "mons"], months(1)),
    (&["week", "weeks", "w"], days(7)),
    (&["day", "days", "d"], days(1)),
    (&["hour", "hours", "h", "hr", "hrs"], micros(3_600_000_000)),
    (&["minute", "minutes", "m", "min", "mins"], micros(60_000_000)),
    (&["second", "seconds", "s", "sec", "secs"], micros(1_000_000)),
    (&["millisecond", "milliseconds", "ms", "msec", "msecs"], micros(1_000)),
    (&["microsecond", "microseconds", "us", "usec", "usecs"], micros(1)),
];

const fn months(months: i64) -> Span {
    Span { months, days: 0, micros: 0 }
}

const fn days(days: i64) -> Span {
    Span { months: 0, days, micros: 0 }
}

const fn micros(micros: i64) -> Span {
    Span { months: 0, days: 0, micros }
}

impl Span {
    /// Adds a number of units; a fraction is carried to the next smaller unit, with 30 days to a month.
    fn add(&mut self, count: f64, unit: &Self) -> Option<()> {
        let months = unit.months as f64 * count;
        let days = unit.days as f64 * count;
        let rest = (months - months.trunc()) * 30.0;
        let rest = if unit.months > 1 { 0.0 } else { rest };
        let months = if unit.months > 1 { months.round() } else { months };
        let days = days + rest;
        let micros = unit.micros as f64 * count + (days - days.trunc()) * 86_400e6;
        self.months = self.months.checked_add(whole(months.trunc())?)?;
        self.days = self.days.checked_add(whole(days.trunc())?)?;
        self.micros = self.micros.checked_add(whole(micros.round())?)?;
        Some(())
    }
}

/// Returns a whole number that a float holds exactly.
fn whole(x: f64) -> Option<i64> {
    (x.abs() < 9e15).then_some(x as i64)
}

fn unit(word: &str) -> Option<&'static Span> {
    UNITS.iter().find(|(names, _)| names.contains(&word)).map(|(_, unit)| unit)
}

/// Parses an interval; `None` for what is none.
#[must_use]
pub fn read(text: &str) -> Option<Span> {
    let lower = text.trim().to_ascii_lowercase();
    if let Some(rest) = lower.strip_prefix('p') {
        return iso(rest);
    }
    let mut span = Span::default();
    let mut rest = lower.as_str();
    let mut is_ago = false;
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix("ago") {
            (is_ago, rest) = (true, behind.trim_start());
            continue;
        }
        let (sign, behind) = match rest.as_bytes().first()? {
            b'-' => (-1.0, rest[1..].trim_start()),
            b'+' => (1.0, rest[1..].trim_start()),
            _ => (1.0, rest),
        };
        let end = behind.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | ':'))).unwrap_or(behind.len());
        let (number, behind) = behind.split_at(end);
        if number.contains(':') {
            span.micros = span.micros.checked_add(whole((sign * clock(number)?).round())?)?;
            rest = behind.trim_start();
            continue;
        }
        if let Some((years, after)) = of_years(number, behind) {
            span.months = span.months.checked_add(sign as i64 * years)?;
            rest = after;
            continue;
        }
        let count = sign * number.parse::<f64>().ok()?;
        let behind = behind.trim_start();
        let end = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
        let (word, behind) = behind.split_at(end);
        rest = behind.trim_start();
        match word {
            // A number without a unit is seconds at the end, and days before a time.
            "" if rest.is_empty() => span.add(count, &micros(1_000_000))?,
            "" if rest.contains(':') => span.add(count, &days(1))?,
            word => span.add(count, unit(word)?)?,
        }
    }
    if !is_ago {
        return Some(span);
    }
    let Span { months, days, micros } = span;
    Some(Span { months: months.checked_neg()?, days: days.checked_neg()?, micros: micros.checked_neg()? })
}

/// Parses `years-months` into months; returns them with the rest.
fn of_years<'t>(years: &str, behind: &'t str) -> Option<(i64, &'t str)> {
    let rest = behind.strip_prefix('-')?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (months, after) = rest.split_at(end);
    let (years, months) = (years.parse::<i64>().ok()?, months.parse::<i64>().ok()?);
    Some((years.checked_mul(12)?.checked_add(months)?, after.trim_start()))
}

/// Parses `hours:minutes:seconds` into microseconds.
fn clock(text: &str) -> Option<f64> {
    let parts: Vec<f64> = text.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match parts.as_slice() {
        [hours, minutes] => Some((hours * 3_600.0 + minutes * 60.0) * 1e6),
        [hours, minutes, seconds] => Some((hours * 3_600.0 + minutes * 60.0 + seconds) * 1e6),
        _ => None,
    }
}

/// Parses `1y2m3dt4h5m6s` after its `p`.
fn iso(text: &str) -> Option<Span> {
    let mut span = Span::default();
    let (date, time) = text.split_once('t').unwrap_or((text, ""));
    for (part, units) in [(date, [("y", "year"), ("m", "month"), ("w", "week"), ("d", "day")]), (time, OF_DAY)] {
        let mut rest = part;
        while !rest.is_empty() {
            let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
            let (number, behind) = rest.split_at(end);
            let (_, name) = units.iter().find(|(sign, _)| behind.starts_with(sign))?;
            span.add(number.parse().ok()?, unit(name)?)?;
            rest = &behind[1..];
        }
    }
    Some(span)
}

const OF_DAY: [(&str, &str); 4] = [("h", "hour"), ("m", "minute"), ("s", "second"), ("s", "second")];

#[cfg(test)]
mod tests {
    use super::{Span, read};

    #[test]
    fn as_postgresql_reads_them() {
        let span = |months, days, micros| Some(Span { months, days, micros });
        assert_eq!(read("1 day 02:00"), span(0, 1, 7_200_000_000));
        assert_eq!(read("1 month - 1 day"), span(1, -1, 0));
        assert_eq!(read("-1 month 3 days -04:05:06.789"), span(-1, 3, -14_706_789_000));
        assert_eq!(read("P1Y2M3DT4H5M6.5S"), span(14, 3, 14_706_500_000));
        assert_eq!(read("2 weeks ago"), span(0, -14, 0));
        assert_eq!(read("1.5 months"), span(1, 15, 0));
        assert_eq!(read("1.5 years"), span(18, 0, 0));
        assert_eq!(read("3 4:05"), span(0, 3, 14_700_000_000));
        assert_eq!(read("12"), span(0, 0, 12_000_000));
        assert_eq!(read("-1-2"), span(-14, 0, 0));
        for wrong in
            ["1 parsec", "9223372036854775807-1", "1-9223372036854775807 1-1", "99999999999999999:00", "1e999 s"]
        {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
