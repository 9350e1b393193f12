//! Values of numbers (<https://www.postgresql.org/docs/16/datatype-numeric.html>).

use std::fmt::Display;
use std::io::Write;

use salver_text::pg_float::FloatText;

/// Decimal digits of a digit of a `numeric`.
const GROUP: usize = 4;

/// Writes a float of 32 bits.
pub(super) fn float4_text(value: f32, out: &mut Vec<u8>) {
    out.extend(FloatText::of_f32(value).as_str().as_bytes());
}

/// Writes a float of 64 bits.
pub(super) fn float8_text(value: f64, out: &mut Vec<u8>) {
    out.extend(FloatText::of_f64(value).as_str().as_bytes());
}

/// Writes a number whose last `scale` digits stand behind the point.
pub(super) fn decimal_text(value: impl Display, scale: i8, out: &mut Vec<u8>) {
    let begin = out.len();
    let _ = write!(out, "{value}");
    let digits = begin + usize::from(out[begin] == b'-');
    match usize::try_from(scale) {
        Ok(0) => {}
        Ok(scale) => {
            let missing = (scale + 1).saturating_sub(out.len() - digits);
            out.splice(digits..digits, std::iter::repeat_n(b'0', missing));
            let point = out.len() - scale;
            out.insert(point, b'.');
        }
        // Zero has no digits in front of those that are left out.
        Err(_) if out[digits..] == *b"0" => {}
        Err(_) => out.extend(std::iter::repeat_n(b'0', usize::from(scale.unsigned_abs()))),
    }
}

/// Writes the same in the binary form of a `numeric` (`numeric_send` in `src/backend/utils/adt/numeric.c`): digits to
/// the base of 10,000, the weight of the first, the sign, and the number of decimals.
pub(super) fn numeric_binary(value: impl Display, scale: i8, out: &mut Vec<u8>) {
    let mut text = Vec::with_capacity(48);
    decimal_text(value, scale, &mut text);
    let is_negative = text.first() == Some(&b'-');
    let digits = &text[usize::from(is_negative)..];
    let point = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
    let (whole, decimals) = (&digits[..point], digits.get(point + 1..).unwrap_or_default());
    let ahead = (GROUP - whole.len() % GROUP) % GROUP;
    let behind = (GROUP - decimals.len() % GROUP) % GROUP;
    let zeros = |count| std::iter::repeat_n(b'0', count);
    let all = zeros(ahead).chain(whole.iter().chain(decimals).copied()).chain(zeros(behind));
    let all: Vec<u8> = all.collect();
    let groups = all.chunks(GROUP).map(|group| group.iter().fold(0, |sum, digit| sum * 10 + i16::from(digit - b'0')));
    let groups: Vec<i16> = groups.collect();
    let first = groups.iter().position(|group| *group != 0);
    let last = groups.iter().rposition(|group| *group != 0);
    let (kept, weight) = match first.zip(last) {
        Some((first, last)) => {
            let weight = ((ahead + whole.len()) / GROUP) as i16 - 1 - first as i16;
            (&groups[first..=last], weight)
        }
        None => (&[][..], 0),
    };
    let sign: u16 = if is_negative && !kept.is_empty() { 0x4000 } else { 0 };
    out.extend((kept.len() as i16).to_be_bytes());
    out.extend(weight.to_be_bytes());
    out.extend(sign.to_be_bytes());
    out.extend((decimals.len() as i16).to_be_bytes());
    kept.iter().for_each(|group| out.extend(group.to_be_bytes()));
}

#[cfg(test)]
mod tests {
    use super::{decimal_text, float4_text, float8_text, numeric_binary};

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = b"x".to_vec();
        write(&mut out);
        String::from_utf8(out[1..].to_vec()).unwrap()
    }

    #[test]
    fn floats_as_postgresql_writes_them() {
        for (value, wanted) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (123_456_789_012_345.6, "123456789012345.6"),
            (1e-4, "0.0001"),
            (1e-5, "1e-05"),
            (-1.5e300, "-1.5e+300"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(text(|out| float8_text(value, out)), wanted);
        }
        for (value, wanted) in [(0.1, "0.1"), (123_456.0, "123456"), (1e6, "1e+06"), (1e-5, "1e-05")] {
            assert_eq!(text(|out| float4_text(value, out)), wanted);
        }
    }

    #[test]
    fn decimals_have_their_point() {
        for (value, scale, wanted) in [
            (12_345_i128, 2, "123.45"),
            (-5, 2, "-0.05"),
            (0, 3, "0.000"),
            (7, 0, "7"),
            (-7, -3, "-7000"),
            (0, -3, "0"),
        ] {
            assert_eq!(text(|out| decimal_text(value, scale, out)), wanted);
        }
    }

    #[test]
    fn numerics_have_groups_of_four_digits() {
        let binary = |value: i128, scale| {
            let mut out = Vec::new();
            numeric_binary(value, scale, &mut out);
            out.chunks(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]])).collect::<Vec<_>>()
        };
        assert_eq!(binary(0, 2), [0, 0, 0, 2]);
        assert_eq!(binary(123_456_789, 4), [3, 1, 0, 4, 1, 2345, 6789]);
        assert_eq!(binary(-1, 2), [1, -1, 0x4000, 2, 100]);
        assert_eq!(binary(1, 6), [1, -2, 0, 6, 100]);
        assert_eq!(binary(10_000, 0), [1, 1, 0, 0, 1]);
        assert_eq!(binary(12, -3), [2, 1, 0, 0, 1, 2000]);
    }
}
