//! Single values in text.

use salver_model::hexadecimal;
use salver_model::pg_parameter::{Element, PgDatum};
use salver_model::pg_type::Scalar;
use serde::de::IgnoredAny;

use super::super::refusal::Refusal;
use super::{datetime, invalid, number};

/// Decodes the bytes of a text.
///
/// # Errors
/// `22021` for what is not UTF-8, or has a zero.
pub(super) fn decoded(bytes: &[u8]) -> Result<&str, Refusal> {
    let refused = |more: &str| Refusal::new("22021", format!("invalid byte sequence for encoding \"UTF8\"{more}"));
    let text = std::str::from_utf8(bytes).map_err(|_| refused(""))?;
    if text.contains('\0') { Err(refused(": 0x00")) } else { Ok(text) }
}

/// Reads a value.
///
/// # Errors
/// `22P02` for what is no value of the type, and others for dates, times and ranges.
pub(super) fn value(text: &str, element: Element) -> Result<PgDatum, Refusal> {
    let scalar = match element {
        Element::Of(scalar) => scalar,
        Element::Jsonb => return json(text, "jsonb"),
        Element::Uuid => return uuid_of_text(text).ok_or_else(|| invalid(text, "uuid")),
    };
    match scalar {
        Scalar::Bool => boolean(text.trim()).map(PgDatum::Bool).ok_or_else(|| invalid(text, "boolean")),
        Scalar::Int2 | Scalar::Int4 | Scalar::Int8 | Scalar::Oid => number::integer(text, scalar),
        Scalar::Float4 | Scalar::Float8 => number::float(text, scalar),
        Scalar::Numeric => number::numeric(text),
        Scalar::Text => Ok(PgDatum::Text(text.to_owned())),
        Scalar::Json => json(text, "json"),
        Scalar::Bytea => bytea(text).map(PgDatum::Bytes),
        Scalar::Date => datetime::date(text),
        Scalar::Time => datetime::time(text),
        Scalar::Timestamp => datetime::moment(text, false),
        Scalar::TimestampTz => datetime::moment(text, true),
        Scalar::Interval => datetime::interval(text),
    }
}

/// Reads a boolean, of which any beginning will do.
fn boolean(text: &str) -> Option<bool> {
    let text = text.to_ascii_lowercase();
    let is = |word: &str| !text.is_empty() && word.starts_with(&text);
    match text.as_str() {
        "1" | "on" => Some(true),
        "0" | "off" | "of" => Some(false),
        "o" => None,
        _ if is("true") || is("yes") => Some(true),
        _ if is("false") || is("no") => Some(false),
        _ => None,
    }
}

fn json(text: &str, sql_name: &str) -> Result<PgDatum, Refusal> {
    match serde_json::from_str::<IgnoredAny>(text) {
        Ok(_) => Ok(PgDatum::Text(text.to_owned())),
        Err(_) => Err(Refusal::new("22P02", format!("invalid input syntax for type {sql_name}"))),
    }
}

/// Reads bytes as hexadecimal digits after `\x`, or as text with escapes such as `\141`.
fn bytea(text: &str) -> Result<Vec<u8>, Refusal> {
    if let Some(digits) = text.strip_prefix("\\x") {
        let digits: String = digits.chars().filter(|char| !matches!(char, ' ' | '\n' | '\r' | '\t')).collect();
        if let Some(wrong) = digits.chars().find(|char| !char.is_ascii_hexdigit()) {
            return Err(Refusal::new("22023", format!("invalid hexadecimal digit: \"{wrong}\"")));
        }
        let odd = || Refusal::new("22023", "invalid hexadecimal data: odd number of digits");
        return hexadecimal::decode(&digits).ok_or_else(odd);
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, behind @ ..] = rest {
        rest = behind;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        match rest {
            [b'\\', behind @ ..] => {
                bytes.push(b'\\');
                rest = behind;
            }
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', behind @ ..] => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = behind;
            }
            _ => return Err(Refusal::new("22P02", "invalid input syntax for type bytea")),
        }
    }
    Ok(bytes)
}

/// Reads a `uuid`, in braces or without, of which groups of four digits may be followed by a hyphen.
fn uuid_of_text(text: &str) -> Option<PgDatum> {
    let inner = match text.strip_prefix('{') {
        Some(rest) => rest.strip_suffix('}')?,
        None => text,
    };
    let mut digits = String::with_capacity(32);
    for char in inner.chars() {
        let is_between = digits.len().is_multiple_of(4) && !digits.is_empty() && digits.len() < 32;
        match char {
            '-' if is_between => {}
            char if char.is_ascii_hexdigit() && digits.len() < 32 => digits.push(char),
            _ => return None,
        }
    }
    // Two hyphens in a row, and one at the end, are none of it.
    let is_sound = !inner.contains("--") && !inner.ends_with('-');
    let bytes = hexadecimal::decode(&digits).filter(|_| is_sound)?;
    <[u8; 16]>::try_from(bytes).ok().map(uuid)
}

/// Writes a `uuid` as text.
pub(super) fn uuid(bytes: [u8; 16]) -> PgDatum {
    let digits = hexadecimal::encode(&bytes);
    let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    PgDatum::Text(parts.join("-"))
}
