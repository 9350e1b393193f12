//! Conversion of JSON numbers to column values; `None` for a number that its column cannot hold.

use crate::event::WHOLE_DIGITS;

/// Parses an integer in the range of `i64`.
pub(super) fn int(text: &[u8]) -> Option<i64> {
    if text.len() < 18 && text[0] != b'-' {
        return text.iter().try_fold(0_i64, |value, byte| {
            let digit = byte.wrapping_sub(b'0');
            (digit < 10).then(|| value * 10 + i64::from(digit))
        });
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Parses an integer in the range of [`LARGE_WHOLE`](crate::event::LARGE_WHOLE).
pub(super) fn large(text: &[u8]) -> Option<i128> {
    let value: i128 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (value.unsigned_abs() < 10_u128.pow(u32::from(WHOLE_DIGITS))).then_some(value)
}

/// Parses a number that a float can approximate.
pub(super) fn float(text: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}
