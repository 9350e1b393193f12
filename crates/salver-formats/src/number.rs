//! Formats numbers as decimal text.

use arrow::datatypes::i256;

use crate::short_copy;

/// Writes an integer, such as `-12`.
#[inline(always)]
pub(crate) fn integer(value: impl itoa::Integer, out: &mut Vec<u8>) {
    short_copy::short(itoa::Buffer::new().format(value).as_bytes(), out);
}

/// Writes the shortest text that parses to the same float: `57.653484`, `1.0`, `1e16`; `NaN`, `inf`, `-inf`.
#[inline(always)]
pub(crate) fn float(value: impl zmij::Float, out: &mut Vec<u8>) {
    short_copy::short(zmij::Buffer::new().format(value).as_bytes(), out);
}

/// Writes a decimal of up to 128 bits, with `scale` digits after the point; a negative scale appends zeros.
pub(crate) fn decimal(unscaled: i128, scale: i8, out: &mut Vec<u8>) {
    if unscaled < 0 {
        out.push(b'-');
    }
    let mut buffer = itoa::Buffer::new();
    let digits = match u64::try_from(unscaled.unsigned_abs()) {
        Ok(small) => buffer.format(small),
        Err(_) => buffer.format(unscaled.unsigned_abs()),
    };
    point(digits.as_bytes(), scale, out);
}

/// Writes a decimal of up to 256 bits.
pub(crate) fn wide_decimal(unscaled: i256, scale: i8, out: &mut Vec<u8>) {
    if let Some(narrow) = unscaled.to_i128() {
        return decimal(narrow, scale, out);
    }
    let text = unscaled.to_string();
    let digits = text.strip_prefix('-').map_or(text.as_str(), |digits| {
        out.push(b'-');
        digits
    });
    point(digits.as_bytes(), scale, out);
}

/// Writes a decimal without a declared scale, without trailing zeros.
pub(crate) fn free_decimal(unscaled: i256, scale: i8, out: &mut Vec<u8>) {
    let start = out.len();
    wide_decimal(unscaled, scale, out);
    if out[start..].contains(&b'.') {
        let zeros = out[start..].iter().rev().take_while(|digit| **digit == b'0').count();
        out.truncate(out.len() - zeros);
        if out.last() == Some(&b'.') {
            out.pop();
        }
    }
}

/// Writes the digits with the decimal point.
fn point(digits: &[u8], scale: i8, out: &mut Vec<u8>) {
    let places = usize::from(scale.unsigned_abs());
    if scale <= 0 {
        short_copy::short(digits, out);
        if digits != b"0" {
            out.resize(out.len() + places, b'0');
        }
        return;
    }
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(places));
    short_copy::short(if whole.is_empty() { b"0" } else { whole }, out);
    out.push(b'.');
    out.resize(out.len() + places - fraction.len(), b'0');
    short_copy::short(fraction, out);
}
