//! Text as dates and times by a pattern.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};

use super::pattern::{DAYS, Field, MONTHS, Part, ROMAN};

/// What was read so far.
#[derive(Default)]
struct Read {
    year: Option<i64>,
    before_christ: bool,
    month: Option<u32>,
    day: Option<u32>,
    day_of_year: Option<u32>,
    hour: Option<u32>,
    afternoon: Option<bool>,
    minute: Option<u32>,
    second: Option<u32>,
    micros: u32,
    offset_minutes: i64,
    east: bool,
}

/// The time that a text is by a pattern; an error says what is wrong with it.
pub(super) fn read(text: &str, parts: &[Part]) -> Result<NaiveDateTime, String> {
    let mut found = Read { east: true, ..Read::default() };
    let mut rest = text.trim_start();
    for (number, part) in parts.iter().enumerate() {
        match part {
            Part::Text(literal) => {
                for c in literal.chars() {
                    // Separators stand for each other, and may be missing; letters must be there.
                    let next = rest.chars().next();
                    let skips = next.is_some_and(|next| match c.is_alphanumeric() {
                        true => next == c,
                        false => !next.is_alphanumeric() && !matches!(next, '+' | '-') || next == c,
                    });
                    if skips {
                        rest = &rest[next.map_or(0, char::len_utf8)..];
                    }
                }
            }
            Part::Field(field) => {
                rest = rest.trim_start();
                let ends = matches!(parts.get(number + 1), None | Some(Part::Text(_)));
                rest = one(&mut found, *field, rest, ends)?;
            }
        }
    }
    time(&found)
}

#[expect(clippy::too_many_lines, reason = "an arm for each word of patterns")]
fn one<'t>(found: &mut Read, field: Field, rest: &'t str, ends: bool) -> Result<&'t str, String> {
    let word = field.word;
    let digits = |most: usize| -> Result<(i64, &'t str, usize), String> {
        let most = if ends || field.bare { usize::MAX } else { most };
        let length = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, after) = rest.split_at(length);
        let number = digits.parse().map_err(|_| format!("`{rest}` is not a number for `{word}`"))?;
        let ordinal = field.ordinal.is_some() && after.is_char_boundary(2) && after.len() >= 2;
        Ok((number, if ordinal { &after[2..] } else { after }, length))
    };
    let small = |most: usize| -> Result<(u32, &'t str), String> {
        let (number, after, _) = digits(most)?;
        let number = u32::try_from(number).map_err(|_| format!("`{number}` is too large for `{word}`"))?;
        Ok((number, after))
    };
    let fraction = |places: usize| -> Result<(u32, &'t str), String> {
        let length = rest.bytes().take(places).take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return Err(format!("`{rest}` is not a number for `{word}`"));
        }
        let micros = format!("{:0<6}", &rest[..length]);
        Ok((micros.parse().unwrap_or(0), &rest[length..]))
    };
    let after;
    match word {
        "YYYY" | "IYYY" => {
            let negative = rest.starts_with('-');
            let unsigned = rest.trim_start_matches('-');
            let length =
                unsigned.bytes().take(if ends { usize::MAX } else { 4 }).take_while(u8::is_ascii_digit).count();
            let year: i64 = unsigned[..length].parse().map_err(|_| format!("`{rest}` is not a number for `{word}`"))?;
            found.year = Some(if negative { 1 - year } else { year });
            after = &unsigned[length..];
        }
        "YY" | "YYY" | "Y" => {
            let (year, behind, length) = digits(word.len())?;
            after = behind;
            // The year that is nearest to 2020.
            found.year = Some(match length {
                1 | 2 if year < 70 => 2000 + year,
                1 | 2 => 1900 + year,
                3 if year < 520 => 2000 + year,
                3 => 1000 + year,
                _ => year,
            });
        }
        "MM" => (found.month, after) = small(2).map(|(n, after)| (Some(n), after))?,
        "DD" => (found.day, after) = small(2).map(|(n, after)| (Some(n), after))?,
        "DDD" => (found.day_of_year, after) = small(3).map(|(n, after)| (Some(n), after))?,
        "HH24" | "HH12" | "HH" => {
            (found.hour, after) = small(2).map(|(n, after)| (Some(n), after))?;
            if word != "HH24" {
                if !(1..=12).contains(&found.hour.unwrap_or(0)) {
                    return Err(format!("hour {} is not one of 12", found.hour.unwrap_or(0)));
                }
                found.afternoon = found.afternoon.or(Some(false));
            }
        }
        "MI" => (found.minute, after) = small(2).map(|(n, after)| (Some(n), after))?,
        "SS" => (found.second, after) = small(2).map(|(n, after)| (Some(n), after))?,
        "MS" => (found.micros, after) = fraction(3)?,
        "US" => (found.micros, after) = fraction(6)?,
        fractions if fractions.starts_with("FF") => {
            (found.micros, after) = fraction(usize::from(fractions.as_bytes()[2] - b'0'))?;
        }
        "AM" | "PM" | "A.M." | "P.M." => {
            let length = word.len();
            let given = rest.get(..length).unwrap_or("");
            found.afternoon = Some(match given.to_ascii_uppercase().as_str() {
                "AM" | "A.M." => false,
                "PM" | "P.M." => true,
                _ => return Err(format!("`{rest}` is neither `AM` nor `PM`")),
            });
            after = &rest[length..];
        }
        "AD" | "BC" | "A.D." | "B.C." => {
            let given = rest.get(..word.len()).unwrap_or("");
            found.before_christ = given.to_ascii_uppercase().starts_with('B');
            after = &rest[given.len()..];
        }
        "MONTH" | "MON" => {
            let (month, length) = named(rest, &MONTHS, word == "MON").ok_or(format!("`{rest}` is no month"))?;
            (found.month, after) = (u32::try_from(month + 1).ok(), &rest[length..]);
        }
        "RM" => {
            let (month, length) = named(rest, &ROMAN, false).ok_or(format!("`{rest}` is no month"))?;
            (found.month, after) = (u32::try_from(month + 1).ok(), &rest[length..]);
        }
        "DAY" | "DY" => {
            let (_, length) = named(rest, &DAYS, word == "DY").ok_or(format!("`{rest}` is no day"))?;
            after = &rest[length..];
        }
        "TZH" => {
            found.east = !rest.starts_with('-');
            let unsigned = rest.trim_start_matches(['+', '-']);
            let length = unsigned.bytes().take(2).take_while(u8::is_ascii_digit).count();
            let hours: i64 = unsigned[..length].parse().map_err(|_| format!("`{rest}` is no zone"))?;
            found.offset_minutes += hours * 60;
            after = &unsigned[length..];
        }
        "TZM" => {
            let (minutes, behind) = small(2)?;
            found.offset_minutes += i64::from(minutes);
            after = behind;
        }
        other => return Err(format!("`{other}` can be written by `to_char`, and not be read")),
    }
    Ok(after)
}

/// The name that the text begins with, the longest of several, and how long it is.
fn named(text: &str, names: &[&str], short: bool) -> Option<(usize, usize)> {
    let found = names.iter().enumerate().filter_map(|(number, name)| {
        let name = if short { &name[..3] } else { name };
        let start = text.as_bytes().get(..name.len())?;
        start.eq_ignore_ascii_case(name.as_bytes()).then_some((number, name.len()))
    });
    found.max_by_key(|(_, length)| *length)
}

fn time(found: &Read) -> Result<NaiveDateTime, String> {
    let year = match (found.year.unwrap_or(1), found.before_christ) {
        (year, true) => 1 - year,
        (year, false) => year,
    };
    let year = i32::try_from(year).map_err(|_| format!("the year {year} is too far away"))?;
    let date = match found.day_of_year {
        Some(day) => NaiveDate::from_yo_opt(year, day),
        None => NaiveDate::from_ymd_opt(year, found.month.unwrap_or(1), found.day.unwrap_or(1)),
    };
    let date = date.ok_or("there is no such day")?;
    let hour = match (found.hour.unwrap_or(0), found.afternoon) {
        (hour, Some(true)) if hour < 12 => hour + 12,
        (12, Some(false)) => 0,
        (hour, _) => hour,
    };
    let time = NaiveTime::from_hms_micro_opt(hour, found.minute.unwrap_or(0), found.second.unwrap_or(0), found.micros);
    let time = date.and_time(time.ok_or("there is no such time of day")?);
    let minutes = if found.east { found.offset_minutes } else { -found.offset_minutes };
    time.checked_sub_signed(chrono::Duration::minutes(minutes)).ok_or_else(|| "the time is too far away".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::pattern::parse;
    use super::read;

    #[test]
    fn as_postgresql_reads_them() {
        for (text, pattern, expected) in [
            ("05 Mar 2024", "DD Mon YYYY", "2024-03-05 00:00:00"),
            ("2024/3/5", "YYYY-MM-DD", "2024-03-05 00:00:00"),
            ("20240305", "YYYYMMDD", "2024-03-05 00:00:00"),
            ("March 5, 99", "Month DD, YY", "1999-03-05 00:00:00"),
            ("2024-03-05 02:07:09.5 PM", "YYYY-MM-DD HH12:MI:SS.MS PM", "2024-03-05 14:07:09.500"),
            ("2024-065", "YYYY-DDD", "2024-03-05 00:00:00"),
        ] {
            assert_eq!(read(text, &parse(pattern)).map(|time| time.to_string()).as_deref(), Ok(expected), "{text}");
        }
        assert!(read("2024-02-30", &parse("YYYY-MM-DD")).is_err());
        assert!(read("x", &parse("YYYY")).is_err());
    }
}
