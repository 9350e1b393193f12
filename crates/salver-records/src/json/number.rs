//! Writes numbers as JSON: the shortest digits that parse back to the same number, in PHP's layout.

use std::io::Write as _;

use crate::cell::Cell;

/// Appends an integer.
pub(crate) fn integer(value: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends an unsigned integer.
pub(crate) fn unsigned(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a 64-bit float; a non-finite one has no JSON form and becomes null.
pub(crate) fn double(value: f64, out: &mut Vec<u8>) {
    /// Integers below it are exact, and too short for PHP to write with an exponent.
    const WHOLE_BOUND: f64 = 1e15;
    if !value.is_finite() {
        out.extend_from_slice(b"null");
    } else if value.trunc() == value && value.abs() < WHOLE_BOUND && !(value == 0.0 && value.is_sign_negative()) {
        #[allow(clippy::cast_possible_truncation, reason = "it is whole and below 2^53")]
        integer(value as i64, out);
    } else {
        layout(zmij::Buffer::new().format_finite(value), value.abs(), out);
    }
}

/// Appends a 32-bit float, with the digits of its own precision.
pub(crate) fn single(value: f32, out: &mut Vec<u8>) {
    if !value.is_finite() {
        out.extend_from_slice(b"null");
    } else {
        layout(zmij::Buffer::new().format_finite(value), f64::from(value.abs()), out);
    }
}

/// Formats shortest digits like PHP: an exponent only below 0.0001 and from 1e17 on, and never without a point.
fn layout(text: &str, magnitude: f64, out: &mut Vec<u8>) {
    if (1e-3..1e15).contains(&magnitude) && !text.contains('e') {
        return out.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
    }
    let (text, negative) = text.strip_prefix('-').map_or((text, false), |rest| (rest, true));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
    let zeros = all.iter().take_while(|digit| **digit == b'0').count();
    let mut digits = &all[zeros..];
    while let [rest @ .., b'0'] = digits {
        digits = rest;
    }
    if negative {
        out.push(b'-');
    }
    if digits.is_empty() {
        return out.extend_from_slice(if negative { b"0.0" } else { b"0" });
    }
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // Position of the point, counted from the first digit.
    let point = exponent + i32::try_from(whole.len()).unwrap_or(0) - i32::try_from(zeros).unwrap_or(0);
    let place = usize::try_from(point).unwrap_or(0);
    match point {
        -3..=0 => {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', point.unsigned_abs() as usize));
            out.extend_from_slice(digits);
        }
        1..=17 if digits.len() <= place => {
            out.extend_from_slice(digits);
            out.extend(std::iter::repeat_n(b'0', place - digits.len()));
        }
        1..=17 => {
            out.extend_from_slice(&digits[..place]);
            out.push(b'.');
            out.extend_from_slice(&digits[place..]);
        }
        _ => {
            out.push(digits[0]);
            out.push(b'.');
            out.extend_from_slice(if digits.len() > 1 { &digits[1..] } else { b"0" });
            out.push(b'e');
            out.push(if point > 0 { b'+' } else { b'-' });
            unsigned(u64::from((point - 1).unsigned_abs()), out);
        }
    }
}

/// Appends a number that represents a decimal, with `scale` decimal places. SQLite also stores numbers with more of
/// them there, which are not rounded: they are found by what is shown.
pub(crate) fn decimal(cell: Cell<'_>, scale: Option<u32>, out: &mut Vec<u8>) {
    let number = match cell {
        Cell::Int(value) => return whole(scale, out, |out| integer(value, out)),
        Cell::UInt(value) => return whole(scale, out, |out| unsigned(value, out)),
        Cell::Float(value) => value,
        Cell::Single(value) => f64::from(value),
        _ => return,
    };
    match scale {
        Some(scale) if number.is_finite() => {
            let start = out.len();
            // Writing to memory can't fail.
            let _ = write!(out, "{number:.0$}", scale as usize);
            let shown = std::str::from_utf8(&out[start..]).ok().and_then(|text| text.parse::<f64>().ok());
            if shown != Some(number) {
                out.truncate(start);
                let _ = write!(out, "{number}");
            }
        }
        _ => double(number, out),
    }
}

fn whole(scale: Option<u32>, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    write(out);
    if let Some(scale @ 1..) = scale {
        out.push(b'.');
        out.extend(std::iter::repeat_n(b'0', scale as usize));
    }
}

/// Returns whether `text` is a number in JSON's syntax, without an exponent.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    all_digits(whole) && all_digits(fraction) && (whole.len() == 1 || !whole.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::{decimal, double, is_number, single};
    use crate::cell::Cell;

    #[test]
    fn decimals_keep_all_their_digits() {
        for (value, scale, text) in [
            (0.1, Some(2), "0.10"),
            (-12.0, Some(2), "-12.00"),
            (0.125, Some(2), "0.125"),
            (123_456_789.125, Some(2), "123456789.125"),
            (0.000_01, Some(2), "0.00001"),
            (2.5, Some(0), "2.5"),
            (1e22, Some(1), "10000000000000000000000.0"),
            (0.125, None, "0.125"),
        ] {
            let mut out = Vec::new();
            decimal(Cell::Float(value), scale, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    fn of(value: f64) -> String {
        let mut out = Vec::new();
        double(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn as_php_writes_them() {
        for (value, text) in [
            (1.0, "1"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (-0.0, "-0.0"),
            (1e15, "1000000000000000"),
            (1e16, "10000000000000000"),
            (1e17, "1.0e+17"),
            (1.5e300, "1.5e+300"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (0.0001, "0.0001"),
            (0.000_12, "0.00012"),
            (0.00001, "1.0e-5"),
            (0.000_012_34, "1.234e-5"),
            (f64::NAN, "null"),
        ] {
            assert_eq!(of(value), text);
        }
        let mut out = Vec::new();
        single(1.1, &mut out);
        single(3.0, &mut out);
        assert_eq!(out, b"1.13");
    }

    #[test]
    fn numbers() {
        for yes in ["0", "-1", "12.50", "99999999999999999999"] {
            assert!(is_number(yes), "{yes}");
        }
        for no in ["", "-", "01", "1.", ".5", "1e5", "NaN", "+1"] {
            assert!(!is_number(no), "{no}");
        }
    }
}
