//! Decodes PostgreSQL's binary form of decimals: digits in base ten thousand, and the position of the point.

use arrow::datatypes::i256;

/// The sign of a negative number.
const NEGATIVE: u16 = 0x4000;

/// Returns the number times ten to the power of `scale`; `None` when it is not finite (like `NaN`), has more decimal
/// places, or does not fit.
pub(super) fn decimal(raw: &[u8], precision: u8, scale: i8) -> Option<i128> {
    // Its last base-10000 digit may have up to three trailing zeros too many, which then don't fit.
    short(raw, precision, scale).or_else(|| long(raw, precision.min(38), scale)?.to_i128())
}

/// Decodes like [`decimal`], where the number fits with these zeros.
fn short(raw: &[u8], precision: u8, scale: i8) -> Option<i128> {
    let (head, mut digits) = raw.split_at_checked(8)?;
    let field = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let (count, weight, sign) = (usize::from(field(0)), field(2).cast_signed(), field(4));
    if sign != NEGATIVE && sign != 0 || digits.len() != 2 * count {
        return None;
    }
    let mut number: i128 = 0;
    while let Some((digit, rest)) = digits.split_first_chunk::<2>() {
        number = number.checked_mul(10_000)?.checked_add(i128::from(u16::from_be_bytes(*digit)))?;
        digits = rest;
    }
    // The power of ten thousand of the last digit.
    let last = i32::from(weight) + 1 - i32::try_from(count).ok()?;
    let shift = last * 4 + i32::from(scale);
    let power = 10_i128.checked_pow(shift.unsigned_abs());
    number = match (number, power) {
        (0, _) => 0,
        (number, Some(power)) if shift >= 0 => number.checked_mul(power)?,
        (number, Some(power)) if number % power == 0 => number / power,
        _ => return None,
    };
    let fits = number < 10_i128.pow(u32::from(precision.min(38)));
    fits.then_some(if sign == NEGATIVE { -number } else { number })
}

/// Decodes like [`decimal`], up to 76 digits.
pub(super) fn wide_decimal(raw: &[u8], precision: u8, scale: i8) -> Option<i256> {
    short(raw, precision, scale).map(i256::from_i128).or_else(|| long(raw, precision, scale))
}

fn long(raw: &[u8], precision: u8, scale: i8) -> Option<i256> {
    let (head, digits) = raw.split_at_checked(8)?;
    let field = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let (count, weight, sign) = (usize::from(field(0)), field(2).cast_signed(), field(4));
    if sign != NEGATIVE && sign != 0 || digits.len() != 2 * count {
        return None;
    }
    // Its digits, and how many of them precede the point.
    let mut text: String =
        digits.chunks_exact(2).map(|pair| format!("{:04}", u16::from_be_bytes([pair[0], pair[1]]))).collect();
    let whole = (i64::from(weight) + 1) * 4;
    let length = usize::try_from(whole + i64::from(scale)).ok()?;
    let kept = text.len().min(length);
    if text.bytes().skip(kept).any(|digit| digit != b'0') {
        return None;
    }
    text.truncate(kept);
    let digits = text.trim_start_matches('0').len() + length - kept;
    if digits > usize::from(precision.min(76)) {
        return None;
    }
    let sign = if sign == NEGATIVE { "-" } else { "" };
    i256::from_string(&format!("{sign}0{text}{}", "0".repeat(length - kept)))
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::i256;

    use super::{decimal, wide_decimal};

    fn raw(weight: i16, sign: u16, scale: u16, digits: &[u16]) -> Vec<u8> {
        let count = u16::try_from(digits.len()).unwrap();
        let head = [count, weight.cast_unsigned(), sign, scale];
        head.iter().chain(digits).flat_map(|field| field.to_be_bytes()).collect()
    }

    #[test]
    fn read() {
        // 1234567.89
        assert_eq!(decimal(&raw(1, 0, 2, &[123, 4567, 8900]), 10, 2), Some(123_456_789));
        assert_eq!(decimal(&raw(1, 0x4000, 2, &[123, 4567, 8900]), 10, 2), Some(-123_456_789));
        // 0.0001 and 10000 and 0
        assert_eq!(decimal(&raw(-1, 0, 4, &[1]), 10, 4), Some(1));
        assert_eq!(decimal(&raw(1, 0, 0, &[1]), 10, 0), Some(10_000));
        assert_eq!(decimal(&raw(0, 0, 2, &[]), 10, 2), Some(0));
        // 38 digits, ten of them decimal places: forty are sent.
        let nines = [9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9900];
        assert_eq!(decimal(&raw(6, 0x4000, 10, &nines), 38, 10), Some(1 - 10_i128.pow(38)));
        assert_eq!(decimal(&raw(6, 0, 10, &nines), 37, 10), None);
        // Not a number; too many decimal places; too large.
        assert_eq!(decimal(&raw(0, 0xc000, 0, &[]), 10, 2), None);
        assert_eq!(decimal(&raw(-1, 0, 4, &[1]), 10, 2), None);
        assert_eq!(decimal(&raw(0, 0, 0, &[1000]), 3, 0), None);
        assert_eq!(decimal(&[0, 1], 3, 0), None);
    }

    #[test]
    fn read_of_many_digits() {
        let wide = |text: &str| i256::from_string(text);
        // 10^40, 10^40 + 0.5, 10^-30
        assert_eq!(wide_decimal(&raw(10, 0, 0, &[1]), 76, 0), wide(&format!("1{}", "0".repeat(40))));
        let digits = [&[1][..], &[0; 10], &[5000]].concat();
        assert_eq!(wide_decimal(&raw(10, 0, 1, &digits), 76, 1), wide(&format!("1{}5", "0".repeat(40))));
        assert_eq!(wide_decimal(&raw(10, 0x4000, 1, &digits), 76, 1), wide(&format!("-1{}5", "0".repeat(40))));
        assert_eq!(wide_decimal(&raw(-8, 0, 30, &[100]), 76, 30), wide("1"));
        assert_eq!(wide_decimal(&raw(-8, 0, 32, &[1]), 76, 30), None);
        assert_eq!(wide_decimal(&raw(18, 0, 0, &[9999]), 76, 0), wide(&format!("9999{}", "0".repeat(72))));
        assert_eq!(wide_decimal(&raw(19, 0, 0, &[1]), 76, 0), None);
        assert_eq!(wide_decimal(&raw(0, 0xc000, 0, &[]), 76, 30), None);
    }
}
