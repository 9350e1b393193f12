//! Numbers: integers and floats in text, and `numeric` in text and in binary (`src/backend/utils/adt/numeric.c` in
//! PostgreSQL's sources), with all of its digits.

use bytes::Buf;
use salver_model::limits::NUMERIC_DIGITS_MAX;
use salver_model::pg_parameter::PgDatum;
use salver_model::pg_type::Scalar;

use super::super::refusal::{NOT_SUPPORTED, Refusal};
use super::invalid;

/// A number has no place in its type.
const OUT_OF_RANGE: &str = "22003";
/// Bytes of the beginning of a binary `numeric`.
const HEAD_BYTES: usize = 8;
/// Largest number of decimals that a binary `numeric` can have.
const SCALE_BOUND: u16 = 0x3fff;
/// Groups of four digits beyond which a number has too many digits, wherever they begin.
const GROUPS_BOUND: i32 = 64;

/// Reads an integer of this type.
pub(super) fn integer(text: &str, scalar: Scalar) -> Result<PgDatum, Refusal> {
    let trimmed = text.trim();
    let digits = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid(text, scalar.sql_name()));
    }
    let (least, most) = match scalar {
        Scalar::Int2 => (i64::from(i16::MIN), i64::from(i16::MAX)),
        Scalar::Int4 => (i64::from(i32::MIN), i64::from(i32::MAX)),
        Scalar::Oid => (0, i64::from(u32::MAX)),
        _ => (i64::MIN, i64::MAX),
    };
    trimmed.parse::<i64>().ok().filter(|number| (least..=most).contains(number)).map(PgDatum::Int).ok_or_else(|| {
        let message = format!("value \"{text}\" is out of range for type {}", scalar.sql_name());
        Refusal::new(OUT_OF_RANGE, message)
    })
}

/// Reads a float of this type.
pub(super) fn float(text: &str, scalar: Scalar) -> Result<PgDatum, Refusal> {
    let trimmed = text.trim();
    let read = match scalar {
        Scalar::Float4 => trimmed.parse::<f32>().map(f64::from),
        _ => trimmed.parse::<f64>(),
    };
    let number = read.map_err(|_| invalid(text, scalar.sql_name()))?;
    let mantissa = trimmed.split(['e', 'E']).next().unwrap_or_default();
    let is_written = mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    if is_written && (number.is_infinite() || number == 0.0) {
        let message = format!("\"{text}\" is out of range for type {}", scalar.sql_name());
        return Err(Refusal::new(OUT_OF_RANGE, message));
    }
    Ok(PgDatum::Float(number))
}

/// Reads a `numeric` in text.
pub(super) fn numeric(text: &str) -> Result<PgDatum, Refusal> {
    let trimmed = text.trim();
    let unsigned = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    if ["nan", "inf", "infinity"].iter().any(|word| unsigned.eq_ignore_ascii_case(word)) {
        return Err(no_number());
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let has_digits = !(whole.is_empty() && fraction.is_empty()) && are_digits(whole) && are_digits(fraction);
    let exponent = match exponent {
        None => Some(0),
        Some(written) => {
            let digits = written.strip_prefix(['+', '-']).unwrap_or(written);
            let is_number = !digits.is_empty() && are_digits(digits);
            // More digits than fit are too many for any number.
            is_number
                .then(|| written.parse::<i32>().unwrap_or(if written.starts_with('-') { i32::MIN } else { i32::MAX }))
        }
    };
    let exponent = exponent.filter(|_| has_digits).ok_or_else(|| invalid(text, "numeric"))?;
    let digits = format!("{whole}{fraction}");
    let scale = i64::try_from(fraction.len()).unwrap_or(i64::MAX).saturating_sub(exponent.into());
    decimal(trimmed.starts_with('-'), digits.trim_start_matches('0'), scale)
}

/// Writes a number with these digits, of which the last `scale` stand behind the point.
fn decimal(is_negative: bool, digits: &str, scale: i64) -> Result<PgDatum, Refusal> {
    let zeros = if digits.is_empty() { 0 } else { scale.min(0).unsigned_abs() };
    let (zeros, scale) = (usize::try_from(zeros), usize::try_from(scale.max(0)));
    let (Ok(zeros), Ok(scale)) = (zeros, scale) else { return Err(too_many_digits()) };
    if digits.len().saturating_add(zeros).max(scale) > NUMERIC_DIGITS_MAX {
        return Err(too_many_digits());
    }
    let all = format!("{digits}{}", "0".repeat(zeros));
    let all = format!("{all:0>width$}", width = scale + 1);
    let (whole, fraction) = all.split_at(all.len() - scale);
    let sign = if is_negative && !digits.is_empty() { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    Ok(PgDatum::Digits(format!("{sign}{whole}{point}{fraction}")))
}

/// Reads a `numeric` in binary; `None` if it is none.
pub(super) fn of_binary(bytes: &[u8]) -> Option<Result<PgDatum, Refusal>> {
    let mut rest = bytes;
    if rest.len() < HEAD_BYTES {
        return None;
    }
    let (count, weight, sign, scale) = (rest.get_u16(), rest.get_i16(), rest.get_u16(), rest.get_u16());
    if rest.len() != 2 * usize::from(count) || scale > SCALE_BOUND {
        return None;
    }
    match sign {
        0xc000 | 0xd000 | 0xf000 => return Some(Err(no_number())),
        0 | 0x4000 => {}
        _ => return None,
    }
    let groups: Vec<u16> = (0..count).map(|_| rest.get_u16()).collect();
    if groups.iter().any(|group| *group > 9_999) {
        return None;
    }
    // The first group that is not zero says how long the number is.
    let first = groups.iter().position(|group| *group != 0);
    let Some(first) = first.and_then(|first| i32::try_from(first).ok()) else {
        return Some(decimal(false, "", scale.into()));
    };
    let weight = i32::from(weight) - first;
    if weight > GROUPS_BOUND || i32::from(scale) > 4 * GROUPS_BOUND {
        return Some(Err(too_many_digits()));
    }
    let at = |place: i32| usize::try_from(weight - place + first).ok().and_then(|at| groups.get(at)).copied();
    let last = -i32::from(scale.div_ceil(4));
    let mut digits: String =
        (last..=weight.max(0)).rev().map(|place| format!("{:04}", at(place).unwrap_or_default())).collect();
    // The last group has more digits than the number where its decimals don't fill it.
    digits.truncate(digits.len() - usize::from(scale.div_ceil(4) * 4 - scale));
    Some(decimal(sign == 0x4000, digits.trim_start_matches('0'), scale.into()))
}

fn too_many_digits() -> Refusal {
    Refusal::new(OUT_OF_RANGE, "value overflows numeric format")
        .with_hint(format!("a parameter has {NUMERIC_DIGITS_MAX} digits at most"))
}

fn no_number() -> Refusal {
    Refusal::new(NOT_SUPPORTED, "`NaN` and infinities are no numbers of the type numeric here")
        .with_hint("send them as double precision")
}
