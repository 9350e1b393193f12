//! Parses decimals exactly: digits that the type can't hold are an error, and are not rounded away.

use std::borrow::Cow;

use arrow::array::{Array, ArrayRef, StringArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::DataType;

/// Returns the scale of a decimal type; `None` for other types.
pub(crate) fn scale_of(data_type: &DataType) -> Option<i8> {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256};
    match data_type {
        Decimal32(_, scale) | Decimal64(_, scale) | Decimal128(_, scale) | Decimal256(_, scale) => Some(*scale),
        _ => None,
    }
}

/// Parses decimals; the error is the row of the first text that is invalid or has more digits than the type.
pub(super) fn decimals(texts: &StringArray, data_type: &DataType) -> Result<ArrayRef, usize> {
    let has_exponent = texts.iter().flatten().any(|text| text.contains(['e', 'E']));
    let plain: StringArray;
    let texts = if has_exponent {
        plain = texts.iter().map(|text| text.map(without_exponent)).collect();
        &plain
    } else {
        texts
    };
    let cast = cast_with_options(texts, data_type, &CastOptions { safe: true, ..CastOptions::default() })
        .map_err(|_| 0_usize)?;
    let scale = scale_of(data_type).unwrap_or(0);
    let is_wrong = |row: &usize| !texts.is_null(*row) && (cast.is_null(*row) || !fits(texts.value(*row), scale));
    match (0..texts.len()).find(is_wrong) {
        Some(row) => Err(row),
        None => Ok(cast),
    }
}

/// Returns whether a number loses nothing with `scale` digits after the decimal point.
fn fits(text: &str, scale: i8) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    let zeros = || whole.bytes().rev().take_while(|b| *b == b'0').count();
    match usize::try_from(scale) {
        Ok(scale) => fraction.len() <= scale,
        // A negative scale keeps tens, hundreds and so on.
        Err(_) => {
            let is_zero = whole.trim_start_matches(['+', '-']).bytes().all(|b| b == b'0');
            fraction.is_empty() && (is_zero || zeros() >= usize::from(scale.unsigned_abs()))
        }
    }
}

/// Rewrites `1.25e1` as `12.5`. Any other text is returned unchanged, for the cast to refuse.
pub(super) fn without_exponent(text: &str) -> Cow<'_, str> {
    /// The longest decimal has 76 digits.
    const EXPONENT_DIGITS: usize = 80;
    let Some((number, exponent)) = text.split_once(['e', 'E']) else { return Cow::Borrowed(text) };
    let Ok(exponent) = exponent.parse::<isize>() else { return Cow::Borrowed(text) };
    let (sign, number) = match number.strip_prefix('-') {
        Some(number) => ("-", number),
        None => ("", number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !is_digits(whole) || !is_digits(fraction) {
        return Cow::Borrowed(text);
    }
    let shift = exponent.unsigned_abs();
    if shift > EXPONENT_DIGITS {
        return Cow::Borrowed(text);
    }
    let zeros = "0".repeat(shift);
    if exponent < 0 {
        let digits = format!("{zeros}{whole}");
        let (whole, moved) = digits.split_at(digits.len() - shift);
        return Cow::Owned(format!("{sign}0{whole}.{moved}{fraction}"));
    }
    let digits = format!("{fraction}{zeros}");
    let (moved, fraction) = digits.split_at(shift);
    Cow::Owned(format!("{sign}0{whole}{moved}.{fraction}"))
}
