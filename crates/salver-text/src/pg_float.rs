//! Floats as PostgreSQL writes them: the fewest that tell a float from its neighbours, and of those the
//! nearest (Ulf Adams, "Ryū: fast float-to-string conversion", and `src/common/d2s.c` of PostgreSQL).
//!
//! The standard library's digits differ in two rare ways, which are put right here. It takes digits that lie in the
//! middle between two floats, where these are read as this one; PostgreSQL wants them nearer. And where two numbers of
//! as many digits are equally near, PostgreSQL takes the even one: `33936.562` for 33936.5625.

use std::io::{self, Cursor, Write};

/// Text of a float.
#[derive(Clone, Copy, Debug)]
pub struct FloatText {
    bytes: [u8; TEXT_BYTES],
    length: usize,
}

/// Bytes that suffice for every float.
const TEXT_BYTES: usize = 40;
/// Most digits that a float of 64 bits needs.
const DIGITS: usize = 17;
/// Exponents from which on a float is written with one, for both widths (`FLT_DIG` and `DBL_DIG` of C).
const EXPONENTS: [i32; 2] = [6, 15];
/// Least exponent of a float that is written without one.
const LEAST_EXPONENT: i32 = -4;

impl FloatText {
    /// Writes a float of 64 bits.
    #[must_use]
    pub fn of_f64(value: f64) -> Self {
        Self::of(value, EXPONENTS[1], || Shortest::of_f64(value))
    }

    /// Writes a float of 32 bits.
    #[must_use]
    pub fn of_f32(value: f32) -> Self {
        Self::of(value.into(), EXPONENTS[0], || Shortest::of_f32(value))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        text(&self.bytes[..self.length])
    }

    fn of(value: f64, exponents: i32, digits: impl FnOnce() -> Shortest) -> Self {
        let mut out = Cursor::new([0; TEXT_BYTES]);
        // The buffer has room for all of these.
        let _ = match value {
            value if value.is_nan() => write!(out, "NaN"),
            f64::INFINITY => write!(out, "Infinity"),
            f64::NEG_INFINITY => write!(out, "-Infinity"),
            value => digits().write(value.is_sign_negative(), exponents, &mut out),
        };
        Self { length: out.position() as usize, bytes: out.into_inner() }
    }
}

/// Digits of a float, without its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shortest {
    /// The digits, as a number.
    digits: u64,
    /// Power of ten by which the number is to be multiplied.
    exponent: i32,
}

impl Shortest {
    /// Returns the digits of a finite float.
    fn of_f64(value: f64) -> Self {
        let value = value.abs();
        let bits = value.to_bits();
        let exact = Binary::of(bits & ((1 << 52) - 1), bits >> 52, (52, 1_075));
        let is_read = |digits: &[u8]| text(digits).parse() == Ok(value);
        of(exact, &|count, out| write_digits(out, value, count), &is_read)
    }

    /// Returns the digits of a finite float of 32 bits.
    fn of_f32(value: f32) -> Self {
        let value = value.abs();
        let bits = u64::from(value.to_bits());
        let exact = Binary::of(bits & ((1 << 23) - 1), bits >> 23, (23, 150));
        let is_read = |digits: &[u8]| text(digits).parse() == Ok(value);
        of(exact, &|count, out| write_digits(out, value, count), &is_read)
    }

    /// Writes the number, with an exponent if it is one of those.
    fn write(self, is_negative: bool, exponents: i32, out: &mut Cursor<[u8; TEXT_BYTES]>) -> io::Result<()> {
        let Self { digits, exponent } = self;
        let sign = if is_negative { "-" } else { "" };
        let count = digits.checked_ilog10().map_or(1, |log| log as i32 + 1);
        // Exponent of the number as it is written with one digit before the point.
        let own = exponent + count - 1;
        if !(LEAST_EXPONENT..exponents).contains(&own) {
            let power = 10_u64.pow(count as u32 - 1);
            write!(out, "{sign}{}", digits / power)?;
            if count > 1 {
                write!(out, ".{:0width$}", digits % power, width = count as usize - 1)?;
            }
            let sign = if own < 0 { '-' } else { '+' };
            return write!(out, "e{sign}{:02}", own.unsigned_abs());
        }
        if exponent >= 0 {
            let zeros = exponent as usize;
            return write!(out, "{sign}{digits}{:0<zeros$}", "");
        }
        // Digits behind the point, of which some may be zeros before the first.
        let behind = exponent.unsigned_abs();
        let power = 10_u64.checked_pow(behind).unwrap_or(u64::MAX);
        write!(out, "{sign}{}.{:0width$}", digits / power, digits % power, width = behind as usize)
    }

    fn read(written: &[u8]) -> Self {
        let end = written.iter().position(|byte| *byte == b'e').unwrap_or(written.len());
        let behind = written[..end].iter().position(|byte| *byte == b'.').map_or(0, |point| end - point - 1);
        let is_digit = |byte: &&u8| byte.is_ascii_digit();
        let digits = written[..end].iter().filter(is_digit).fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
        let exponent: i32 = text(&written[(end + 1).min(written.len())..]).parse().unwrap_or(0);
        Self { digits, exponent: exponent - behind as i32 }.without_zeros()
    }

    fn without_zeros(mut self) -> Self {
        while self.digits != 0 && self.digits.is_multiple_of(10) {
            self = Self { digits: self.digits / 10, exponent: self.exponent + 1 };
        }
        self
    }

    /// Returns whether the number is exactly this.
    fn is(self, other: Binary) -> bool {
        other.is(u128::from(self.digits), self.exponent)
    }
}

/// Writes the digits of a float with an exponent: so many behind the point, or the fewest.
fn write_digits(out: &mut Cursor<[u8; TEXT_BYTES]>, value: impl std::fmt::LowerExp, count: Option<usize>) {
    out.set_position(0);
    let _ = match count {
        Some(count) => write!(out, "{value:.count$e}"),
        None => write!(out, "{value:e}"),
    };
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

/// Function that writes so many digits behind the point, or the fewest.
type WriteDigits<'w> = &'w dyn Fn(Option<usize>, &mut Cursor<[u8; TEXT_BYTES]>);

fn of(exact: Binary, write: WriteDigits<'_>, is_read: &dyn Fn(&[u8]) -> bool) -> Shortest {
    let mut out = Cursor::new([0; TEXT_BYTES]);
    let mut digits_of = |count: Option<usize>| {
        write(count, &mut out);
        let end = out.position() as usize;
        (Shortest::read(&out.get_ref()[..end]), is_read(&out.get_ref()[..end]))
    };
    let (found, _) = digits_of(None);
    if exact.mantissa == 0 {
        return found;
    }
    let bounds = exact.bounds();
    let is_between = |own: Shortest| !bounds.iter().any(|bound| own.is(*bound));
    // Only floats with an even mantissa are read from their bounds.
    if exact.mantissa.is_multiple_of(2) && !is_between(found) {
        let longer = (0..DIGITS).map(|count| digits_of(Some(count)));
        let mut longer = longer.filter(|(own, is_same)| *is_same && is_between(*own));
        return longer.next().map_or(found, |(own, _)| own);
    }
    if found.digits.is_multiple_of(2) || found.digits > u64::MAX / 10 - 1 {
        return found;
    }
    // The float may lie in the middle between these digits and the next.
    let middle = |of: u64| Shortest { digits: of, exponent: found.exponent - 1 }.is(exact);
    let other = match () {
        () if middle(found.digits * 10 + 5) => found.digits + 1,
        () if middle(found.digits * 10 - 5) => found.digits - 1,
        () => return found,
    };
    let other = Shortest { digits: other, ..found };
    let mut written = Cursor::new([0; TEXT_BYTES]);
    let _ = write!(written, "{}e{}", other.digits, other.exponent);
    let end = written.position() as usize;
    if is_read(&written.get_ref()[..end]) && is_between(other) { other.without_zeros() } else { found }
}

/// A number as it is kept: `mantissa` times two to the power of `exponent`.
#[derive(Clone, Copy, Debug)]
struct Binary {
    mantissa: u64,
    exponent: i32,
    /// Whether the next smaller float is half as far as the next greater one.
    is_first: bool,
}

impl Binary {
    /// Returns the number of these bits, with so many bits of a mantissa and this bias of the exponent.
    fn of(mantissa: u64, exponent: u64, (bits, bias): (u32, i32)) -> Self {
        match exponent as i32 {
            0 => Self { mantissa, exponent: 1 - bias, is_first: false },
            exponent => Self {
                mantissa: mantissa | 1 << bits,
                exponent: exponent - bias,
                is_first: mantissa == 0 && exponent > 1,
            },
        }
    }

    /// Returns the middles between this number and its neighbours.
    fn bounds(self) -> [Self; 2] {
        let Self { mantissa, exponent, is_first } = self;
        let bound = |mantissa, exponent| Self { mantissa, exponent, is_first: false };
        let below =
            if is_first { bound(4 * mantissa - 1, exponent - 2) } else { bound(2 * mantissa - 1, exponent - 1) };
        [below, bound(2 * mantissa + 1, exponent - 1)]
    }

    /// Returns whether the number is exactly `digits` times ten to the power of `exponent`.
    fn is(self, digits: u128, exponent: i32) -> bool {
        let odd = |number: u128| (number >> number.trailing_zeros(), number.trailing_zeros() as i32);
        let ((digits, twos), (mantissa, own_twos)) = (odd(digits), odd(u128::from(self.mantissa)));
        let Some(fives) = 5_u128.checked_pow(exponent.unsigned_abs()) else { return false };
        let (left, right) = if exponent >= 0 { (digits, mantissa) } else { (mantissa, digits) };
        left.checked_mul(fives) == Some(right) && twos + exponent == self.exponent + own_twos
    }
}

#[cfg(test)]
mod tests {
    use super::{FloatText, Shortest};

    #[test]
    fn floats_as_postgresql_writes_them() {
        for (value, wanted) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.5, "1.5"),
            (-1e-5, "-1e-05"),
            (1.25e-4, "0.000125"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "123456789012345"),
            (1e14, "100000000000000"),
            (-123_456.789, "-123456.789"),
            (1.234e300, "1.234e+300"),
            (5e-324, "5e-324"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (0.000_012, "1.2e-05"),
            (1e23, "9.999999999999999e+22"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(FloatText::of_f64(value).as_str(), wanted);
        }
        for (value, wanted) in
            [(1e6, "1e+06"), (100_000.0, "100000"), (33_936.563, "33936.562"), (16_777_216.0, "1.6777216e+07")]
        {
            assert_eq!(FloatText::of_f32(value).as_str(), wanted);
        }
    }

    fn of_f64(value: f64) -> (u64, i32) {
        let Shortest { digits, exponent } = Shortest::of_f64(value);
        (digits, exponent)
    }

    fn of_f32(value: f32) -> (u64, i32) {
        let Shortest { digits, exponent } = Shortest::of_f32(value);
        (digits, exponent)
    }

    /// What PostgreSQL 15 writes.
    #[test]
    fn digits_are_those_of_postgresql() {
        assert_eq!(of_f64(0.1), (1, -1));
        assert_eq!(of_f64(1e23), (9_999_999_999_999_999, 7));
        assert_eq!(of_f64(-123_456.789), (123_456_789, -3));
        assert_eq!(of_f64(5e-324), (5, -324));
        assert_eq!(of_f64(f64::MAX), (17_976_931_348_623_157, 292));
        assert_eq!(of_f64(9_007_199_254_740_993.0), (9_007_199_254_740_992, 0));
        assert_eq!(of_f64(0.0), (0, 0));
        assert_eq!(of_f32(33_936.563), (33_936_562, -3));
        assert_eq!(of_f32(64_904_528.0), (64_904_528, 0));
        assert_eq!(of_f32(0.1), (1, -1));
        assert_eq!(of_f32(f32::MAX), (34_028_235, 31));
        assert_eq!(of_f32(1e-45), (1, -45));
    }

    #[test]
    fn digits_read_as_the_same_float() {
        let mut state = 7_u64;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(state & !(1 << 63));
            if value.is_finite() {
                let (digits, exponent) = of_f64(value);
                assert_eq!(format!("{digits}e{exponent}").parse(), Ok(value));
            }
            let value = f32::from_bits((state >> 33) as u32);
            if value.is_finite() {
                let (digits, exponent) = of_f32(value);
                assert_eq!(format!("{digits}e{exponent}").parse(), Ok(value));
            }
        }
    }
}
