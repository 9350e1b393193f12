//! One value, however a door or a client writes it: read into the one form in which values are compared.

use serde_json::Value as Json;

use super::catalogue::Class;

/// A value in that form; `None` is null.
pub(super) type Value = Option<String>;

/// What stands before the digits of a number that was bare in JSON.
const BARE: &str = "\u{1}#";

/// JSON with every digit of its numbers: they come as text behind [`BARE`].
pub(super) fn parse(text: &str) -> Json {
    let mut out = String::with_capacity(text.len() + 64);
    let (mut quoted, mut escaped, mut number) = (false, false, false);
    for c in text.chars() {
        let digit = !quoted && (c.is_ascii_digit() || matches!(c, '-' | '+' | '.') || number && matches!(c, 'e' | 'E'));
        if digit && !number {
            out.push_str("\"\\u0001#");
        } else if !digit && number {
            out.push('"');
        }
        number = digit;
        quoted ^= c == '"' && !escaped;
        escaped = quoted && c == '\\' && !escaped;
        out.push(c);
    }
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {}", start(text)))
}

/// The beginning of a text, for messages.
pub(super) fn start(text: &str) -> String {
    text.chars().take(300).collect()
}

/// How JSON shows a value, for the page.
pub(super) fn shape(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "true, false",
        Json::String(text) if text.starts_with(BARE) => "number",
        Json::String(_) => "text",
        _ => "object",
    }
}

/// A value of JSON; `base64` when it stands for bytes.
pub(super) fn json(class: Class, json: &Json, base64: bool) -> Value {
    match json {
        Json::Null => None,
        Json::Bool(truth) => Some(truth.to_string()),
        Json::String(text) => match text.strip_prefix(BARE) {
            Some(digits) => Some(number(class, digits)),
            None if base64 => Some(from_base64(text)),
            None => Some(canonical(class, text)),
        },
        other => Some(other.to_string()),
    }
}

/// A number: where others than numbers are expected, it is not its text.
pub(super) fn number(class: Class, digits: &str) -> String {
    match class {
        Class::Text | Class::Bytes | Class::Any => format!("number {}", decimal(digits)),
        _ => canonical(class, digits),
    }
}

/// The text that a door shows, to ask for it again: digits as they stand.
pub(super) fn written(json: &Json) -> Option<String> {
    match json {
        Json::Bool(truth) => Some(truth.to_string()),
        Json::String(text) => Some(text.strip_prefix(BARE).unwrap_or(text).to_owned()),
        _ => None,
    }
}

/// A text, as CSV and the database's own client have it, in the one form.
pub(super) fn canonical(class: Class, text: &str) -> String {
    match class {
        Class::Truth => match text {
            "t" | "true" | "1" => "true".to_owned(),
            "f" | "false" | "0" => "false".to_owned(),
            // Any number but nought.
            other if other.parse::<i64>().is_ok() => "true".to_owned(),
            other => other.to_owned(),
        },
        Class::Whole => {
            let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
            let digits = digits.trim_start_matches('0');
            if digits.is_empty() { "0".to_owned() } else { format!("{sign}{digits}") }
        }
        Class::Single => text.parse::<f32>().map_or_else(|_| text.to_owned(), |number| format!("{number:?}")),
        Class::Double => float(text),
        Class::Decimal => decimal(text),
        Class::Day => day(text).map_or_else(|| text.to_owned(), |day| format!("day {day}")),
        Class::Moment => moment(text).map_or_else(|| text.to_owned(), |micros| format!("moment {micros}")),
        Class::Text | Class::Bytes | Class::Any => text.to_owned(),
    }
}

fn float(text: &str) -> String {
    text.parse::<f64>().map_or_else(|_| text.to_owned(), |number| format!("{number:?}"))
}

/// Without zeros that say nothing; an exponent is written out.
fn decimal(text: &str) -> String {
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return text.to_owned();
    }
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let digits = format!("{whole}{fraction}");
    let point = i64::try_from(whole.len()).unwrap_or(0) + exponent;
    let count = i64::try_from(digits.len()).unwrap_or(0);
    let digits =
        format!("{}{digits}{}", "0".repeat((-point).max(0) as usize), "0".repeat((point - count).max(0) as usize));
    let (whole, fraction) = digits.split_at(point.max(0) as usize);
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    match (whole, fraction) {
        ("", "") => "0".to_owned(),
        (whole, "") => format!("{sign}{whole}"),
        (whole, fraction) => format!("{sign}{}.{fraction}", if whole.is_empty() { "0" } else { whole }),
    }
}

/// Days since 1970, counted year by year of four hundred.
fn day(text: &str) -> Option<i64> {
    let (text, before) = text.strip_suffix(" BC").map_or((text, false), |text| (text, true));
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.trim_start_matches('+')),
    };
    let mut parts = unsigned.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if month == 0 || day == 0 || parts.next().is_some() {
        return None;
    }
    let year = if before { 1 - year } else { sign * year };
    let leap = |year: i64| year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_years: i64 = (0..of_era).map(|year| 365 + i64::from(leap(year))).sum();
    let months = [31, 28 + i64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *months.get(usize::try_from(month - 1).ok()?)?;
    let of_months: i64 = months[..usize::try_from(month - 1).ok()?].iter().sum();
    // 0000-01-01 is 719,528 days before 1970-01-01.
    (day <= length).then(|| era * 146_097 + of_years + of_months + day - 1 - 719_528)
}

/// Microseconds since 1970.
fn moment(text: &str) -> Option<i64> {
    let (text, era) = text.strip_suffix(" BC").map_or((text, ""), |text| (text, " BC"));
    let at = text.find([' ', 'T']).unwrap_or(text.len());
    let days = day(&format!("{}{era}", &text[..at]))?;
    let clock = text.get(at + 1..).unwrap_or("00:00:00").trim_end_matches('Z');
    let zone = clock.find(['+', '-']).unwrap_or(clock.len());
    let seconds = |text: &str| -> Option<i64> {
        text.split(':').zip([3_600, 60, 1]).map(|(part, unit)| Some(part.parse::<i64>().ok()? * unit)).sum()
    };
    let (whole, fraction) = clock[..zone].split_once('.').unwrap_or((&clock[..zone], ""));
    let micros: i64 = format!("{fraction:0<6}").parse().ok()?;
    let offset = match clock.get(zone..zone + 1) {
        Some("-") => -seconds(&clock[zone + 1..])?,
        Some(_) => seconds(&clock[zone + 1..])?,
        None => 0,
    };
    Some((days * 86_400 + seconds(whole)? - offset) * 1_000_000 + micros)
}

fn from_base64(text: &str) -> String {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut out) = (0_u32, 0, String::new());
    for letter in text.trim_end_matches('=').bytes() {
        let Some(value) = letters.bytes().position(|own| own == letter) else { return format!("no base64: {text}") };
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push_str(&format!("{:02x}", bits >> count & 0xff));
        }
    }
    out
}

#[test]
fn values_have_one_form() {
    for (class, text, form) in [
        (Class::Decimal, "-001.500", "-1.5"),
        (Class::Decimal, "1.5e3", "1500"),
        (Class::Decimal, "-1.25E-3", "-0.00125"),
        (Class::Decimal, "-0.00", "0"),
        (Class::Whole, "0007", "7"),
        (Class::Double, "1.0e+300", "1e300"),
        (Class::Day, "1970-01-02", "day 1"),
        (Class::Day, "0001-12-31 BC", "day -719163"),
        (Class::Day, "+12024-01-01", "day 3672148"),
        (Class::Moment, "1970-01-01T00:00:00Z", "moment 0"),
        (Class::Moment, "1969-12-31 23:59:59.5-01:00", "moment 3599500000"),
        (Class::Moment, "0001-12-31 00:00:00+00 BC", "moment -62135683200000000"),
    ] {
        assert_eq!(canonical(class, text), form, "{text}");
    }
    assert_eq!(from_base64("AP8="), "00ff");
    assert_eq!(parse(r#"{"a-1":[-1.50e+3,"x-1\"2",null]}"#)["a-1"][0], "\u{1}#-1.50e+3");
}
