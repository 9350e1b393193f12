//! Dates, times, timestamps and intervals (`src/backend/utils/adt/datetime.c` in PostgreSQL's sources). Texts are read
//! as ISO 8601 has them, and as PostgreSQL writes them; other styles, which depend on settings there, are refused.

use salver_model::pg_parameter::PgDatum;
use salver_text::calendar::{days_in_month, days_of};
use salver_text::interval;

use super::super::refusal::Refusal;

/// Days from 1970 to 2000, from which PostgreSQL counts.
const EPOCH_DAYS: i32 = 10_957;
/// Microseconds of a day, and of shorter times.
const DAY_US: i64 = 86_400_000_000;
const HOUR_US: i64 = 3_600_000_000;
const MINUTE_US: i64 = 60_000_000;
const SECOND_US: i64 = 1_000_000;
/// Bound of the seconds by which a zone is ahead or behind.
const ZONE_BOUND: i64 = 16 * 3_600;
/// Most digits of a year.
const YEAR_DIGITS: usize = 7;

/// Why a text is none.
enum Wrong {
    Syntax,
    Range,
    Zone,
}

/// A date and a time of day with a zone, as far as they are written.
#[derive(Default)]
struct Written {
    days: Option<i64>,
    micros: Option<i64>,
    /// Seconds that the zone is ahead.
    zone: Option<i64>,
}

/// Reads a date in text; a time behind it says nothing.
pub(super) fn date(text: &str) -> Result<PgDatum, Refusal> {
    let days = written(text).and_then(|own| own.days.ok_or(Wrong::Syntax));
    let days = days.and_then(|days| i32::try_from(days).map_err(|_| Wrong::Range));
    days.map(PgDatum::Days).map_err(|wrong| refused(text, "date", &wrong))
}

/// Reads a time of day in text; a zone behind it says nothing.
pub(super) fn time(text: &str) -> Result<PgDatum, Refusal> {
    let refused = |wrong: Wrong| refused(text, "time", &wrong);
    let micros = written(text).and_then(|own| own.micros.ok_or(Wrong::Syntax)).map_err(refused)?;
    time_of_day(micros)
}

/// Reads a timestamp in text; without a zone it is in UTC, and one without a zone ignores it.
pub(super) fn moment(text: &str, has_zone: bool) -> Result<PgDatum, Refusal> {
    let name = if has_zone { "timestamp with time zone" } else { "timestamp" };
    let read = || {
        let Written { days, micros, zone } = written(text)?;
        let days = days.ok_or(Wrong::Syntax)?;
        let ahead = if has_zone { zone.unwrap_or_default() * SECOND_US } else { 0 };
        let micros = days.checked_mul(DAY_US).and_then(|day| day.checked_add(micros.unwrap_or_default() - ahead));
        micros.ok_or(Wrong::Range)
    };
    read().map(PgDatum::Micros).map_err(|wrong| refused(text, name, &wrong))
}

/// Reads an interval in text.
pub(super) fn interval(text: &str) -> Result<PgDatum, Refusal> {
    let span = interval::read(text).filter(|_| !text.trim().is_empty());
    let span = span.ok_or_else(|| refused(text, "interval", &Wrong::Syntax))?;
    match (i32::try_from(span.months), i32::try_from(span.days)) {
        (Ok(months), Ok(days)) => Ok(PgDatum::Interval { months, days, micros: span.micros }),
        _ => Err(Refusal::new("22015", format!("interval field value out of range: \"{text}\""))),
    }
}

/// Returns a date by its days since 2000.
pub(super) fn date_of_binary(days: i32) -> Result<PgDatum, Refusal> {
    let own = days.checked_add(EPOCH_DAYS).filter(|_| days != i32::MIN);
    own.map(PgDatum::Days).ok_or_else(|| Refusal::new("22008", "date out of range"))
}

/// Returns a time of day by its microseconds.
pub(super) fn time_of_binary(micros: i64) -> Result<PgDatum, Refusal> {
    time_of_day(micros)
}

/// Returns a timestamp by its microseconds since 2000.
pub(super) fn moment_of_binary(micros: i64) -> Result<PgDatum, Refusal> {
    let own = micros.checked_add(i64::from(EPOCH_DAYS) * DAY_US).filter(|_| micros != i64::MIN);
    own.map(PgDatum::Micros).ok_or_else(|| Refusal::new("22008", "timestamp out of range"))
}

/// Returns a time of day. PostgreSQL also has the end of the day, as 24:00.
fn time_of_day(micros: i64) -> Result<PgDatum, Refusal> {
    if (0..DAY_US).contains(&micros) {
        Ok(PgDatum::Micros(micros))
    } else {
        Err(Refusal::new("22008", "time out of range"))
    }
}

fn refused(text: &str, name: &str, wrong: &Wrong) -> Refusal {
    let unsigned = text.trim().trim_start_matches(['+', '-']);
    if unsigned.eq_ignore_ascii_case("infinity") {
        return Refusal::new("22008", format!("{name} out of range: \"{text}\""));
    }
    match wrong {
        Wrong::Syntax => Refusal::new("22007", format!("invalid input syntax for type {name}: \"{text}\""))
            .with_hint("write it as in `2024-01-31 12:30:00+01`"),
        Wrong::Range => Refusal::new("22008", format!("date/time field value out of range: \"{text}\"")),
        Wrong::Zone => Refusal::new("22009", format!("time zone displacement out of range: \"{text}\"")),
    }
}

/// Reads what is written of a date, a time of day, a zone, and the era.
fn written(text: &str) -> Result<Written, Wrong> {
    let lower = text.trim().to_ascii_lowercase();
    if lower == "epoch" {
        return Ok(Written { days: Some(0), micros: Some(0), zone: Some(0) });
    }
    let (lower, is_before) = match lower.strip_suffix("bc") {
        Some(rest) => (rest.trim_end(), true),
        None => (lower.strip_suffix("ad").unwrap_or(&lower).trim_end(), false),
    };
    let mut written = Written::default();
    let mut rest = lower;
    // A time of day has a colon behind its first digits.
    let is_time = rest.find(|char: char| !char.is_ascii_digit()).is_some_and(|at| rest[at..].starts_with(':'));
    if !is_time {
        let (days, behind) = day(rest, is_before)?;
        written.days = Some(days);
        rest = behind.strip_prefix('t').unwrap_or(behind).trim_start();
    }
    if rest.starts_with(|char: char| char.is_ascii_digit()) {
        let (micros, behind) = clock(rest)?;
        written.micros = Some(micros);
        rest = behind.trim_start();
    }
    if !rest.is_empty() {
        written.zone = Some(zone(rest)?);
    }
    Ok(written)
}

/// Reads a date as days since 1970; returns it with the rest.
fn day(text: &str, is_before: bool) -> Result<(i64, &str), Wrong> {
    let (year, rest) = digits(text);
    let (year, month, day, rest) = match rest.strip_prefix('-') {
        Some(rest) => {
            let (month, rest) = digits(rest);
            let (day, rest) = digits(rest.strip_prefix('-').ok_or(Wrong::Syntax)?);
            (year, month, day, rest)
        }
        None if year.len() == 8 => (&year[..4], &year[4..6], &year[6..], rest),
        None => return Err(Wrong::Syntax),
    };
    let is_written = (3..=YEAR_DIGITS).contains(&year.len()) && (1..=2).contains(&month.len());
    if !is_written || !(1..=2).contains(&day.len()) {
        return Err(Wrong::Syntax);
    }
    let (year, month, day) = (number(year)?, number(month)?, number(day)?);
    let counted = if is_before { 1 - year } else { year };
    let (month, day) = (u32::try_from(month), u32::try_from(day));
    let (Ok(month), Ok(day)) = (month, day) else { return Err(Wrong::Range) };
    if year == 0 || !(1..=12).contains(&month) || day == 0 || day > days_in_month(counted, month) {
        return Err(Wrong::Range);
    }
    Ok((days_of(counted, month, day), rest))
}

/// Reads a time of day as microseconds; returns it with the rest.
fn clock(text: &str) -> Result<(i64, &str), Wrong> {
    let (hour, rest) = digits(text);
    let (minute, rest) = digits(rest.strip_prefix(':').ok_or(Wrong::Syntax)?);
    let (second, rest) = rest.strip_prefix(':').map_or(("0", rest), digits);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if [hour, minute, second].iter().any(|part| part.is_empty() || part.len() > 2) {
        return Err(Wrong::Syntax);
    }
    let (hour, minute, second) = (number(hour)?, number(minute)?, number(second)?);
    // Digits beyond microseconds round.
    let fraction = format!("0.{fraction}0").parse::<f64>().map_err(|_| Wrong::Syntax)?;
    let fraction = (fraction * SECOND_US as f64).round_ties_even() as i64;
    let micros = hour * HOUR_US + minute * MINUTE_US + second * SECOND_US + fraction;
    if minute > 59 || second > 60 || micros > DAY_US { Err(Wrong::Range) } else { Ok((micros, rest)) }
}

/// Reads a zone as the seconds that it is ahead.
fn zone(text: &str) -> Result<i64, Wrong> {
    if matches!(text, "z" | "utc" | "gmt" | "zulu") {
        return Ok(0);
    }
    let sign = match text.as_bytes().first() {
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return Err(Wrong::Syntax),
    };
    let mut parts = text[1..].split(':');
    let hours = parts.next().unwrap_or_default();
    // Four digits are hours and minutes.
    let (hours, mut minutes) = match hours.len() {
        1 | 2 => (number(hours)?, 0),
        4 if !text.contains(':') && hours.is_ascii() => (number(&hours[..2])?, number(&hours[2..])?),
        _ => return Err(Wrong::Syntax),
    };
    let mut part = || {
        parts.next().map_or(Ok(None), |part| if part.len() == 2 { number(part).map(Some) } else { Err(Wrong::Syntax) })
    };
    if let Some(written) = part()? {
        minutes = written;
    }
    let seconds = part()?.unwrap_or_default();
    if parts.next().is_some() {
        return Err(Wrong::Syntax);
    }
    let ahead = hours * 3_600 + minutes * 60 + seconds;
    if minutes > 59 || seconds > 59 || ahead >= ZONE_BOUND { Err(Wrong::Zone) } else { Ok(sign * ahead) }
}

/// Splits digits off the beginning of a text.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len()))
}

/// Reads a few digits.
fn number(digits: &str) -> Result<i64, Wrong> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { digits.parse().map_err(|_| Wrong::Range) } else { Err(Wrong::Syntax) }
}
