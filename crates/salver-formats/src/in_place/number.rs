//! Writes numbers, eight digits at a time in one register, without a table or a loop.

use crate::slice_write::{block, byte, run};

const EIGHT: u64 = 100_000_000;
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// Returns the decimal digits of a number below 10^8, one per byte, the first in the lowest byte. It splits off ten
/// thousands, hundreds and tens in all lanes of the register at once, by multiplication (after P. Khuong, "How to print
/// integers really fast", 2017).
#[inline(always)]
pub(super) const fn eight_digits(value: u64) -> u64 {
    let fours = (value / 10_000) | (value % 10_000) << 32;
    let high = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = high | (fours - 100 * high) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (twos - 10 * tens) << 8
}

/// Writes an unsigned integer, `12`.
#[inline(always)]
pub(crate) fn unsigned(bytes: &mut [u8], at: usize, value: u64) -> Option<usize> {
    if value < EIGHT {
        return leading(bytes, at, value);
    }
    let (high, low) = (value / EIGHT, value % EIGHT);
    let at = if high < EIGHT {
        leading(bytes, at, high)?
    } else {
        let at = leading(bytes, at, high / EIGHT)?;
        all_eight(bytes, at, high % EIGHT)?
    };
    all_eight(bytes, at, low)
}

/// Writes a signed integer, `-12`.
#[inline(always)]
pub(crate) fn signed(bytes: &mut [u8], at: usize, value: i64) -> Option<usize> {
    byte(bytes, at, b'-')?;
    unsigned(bytes, at + usize::from(value < 0), value.unsigned_abs())
}

/// Writes a number below 10^8 without leading zeros.
#[inline(always)]
fn leading(bytes: &mut [u8], at: usize, value: u64) -> Option<usize> {
    let digits = eight_digits(value);
    // The last digit is kept even if all are zero.
    let zero_bits = (digits | 1 << 56).trailing_zeros() & !7;
    let text = (digits | ZEROS) >> zero_bits;
    block(bytes, at, &text.to_le_bytes(), 8 - zero_bits as usize / 8)
}

#[inline(always)]
fn all_eight(bytes: &mut [u8], at: usize, value: u64) -> Option<usize> {
    block(bytes, at, &(eight_digits(value) | ZEROS).to_le_bytes(), 8)
}

/// Writes the shortest text that parses to the same float.
///
/// Most floats in tables come from decimals with a few places. Such a float is the nearest one to its decimal, so an
/// integer division recovers it exactly. And a decimal of at most 15 digits is the only one of that length that is
/// nearest to its float, so without trailing zeros it is the shortest. Other floats take the general path.
#[inline(always)]
pub(crate) fn float(bytes: &mut [u8], at: usize, value: f64) -> Option<usize> {
    const PLACES: f64 = 1e8;
    let size = value.abs();
    if (1e-3..1e7).contains(&size) {
        // Below 2^53, so that the conversion is exact both ways.
        let scaled = (size * PLACES + 0.5) as i64;
        if scaled as f64 / PLACES == size {
            let scaled = scaled.unsigned_abs();
            byte(bytes, at, b'-')?;
            let at = at + usize::from(value < 0.0);
            let at = leading(bytes, at, scaled / EIGHT)?;
            let digits = eight_digits(scaled % EIGHT);
            // One place is kept even if all are zero.
            let places = 8 - (digits | 1).leading_zeros() as usize / 8;
            let at = byte(bytes, at, b'.')?;
            return block(bytes, at, &(digits | ZEROS).to_le_bytes(), places);
        }
    }
    any_float(bytes, at, value)
}

#[inline(never)]
fn any_float(bytes: &mut [u8], at: usize, value: f64) -> Option<usize> {
    run(bytes, at, zmij::Buffer::new().format(value).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{EIGHT, eight_digits, float, signed, unsigned};

    fn text(write: impl FnOnce(&mut [u8]) -> Option<usize>) -> String {
        let mut bytes = [b'#'; 64];
        let end = write(&mut bytes).unwrap();
        String::from_utf8(bytes[..end].to_vec()).unwrap()
    }

    #[test]
    fn every_number_below_a_hundred_million_has_its_digits() {
        for value in (0..EIGHT).step_by(7).chain([9_999, 10_000, 99_999_999]) {
            let digits = (0..8).fold(0, |sum, place| sum * 10 + (eight_digits(value) >> (8 * place) & 0xff));
            assert_eq!(digits, value);
        }
    }

    #[test]
    fn integers_of_every_length() {
        for shift in 0..64 {
            for value in [u64::MAX >> shift, (u64::MAX >> shift) + u64::from(shift > 0), 10_u64.pow(shift % 20)] {
                assert_eq!(text(|bytes| unsigned(bytes, 0, value)), value.to_string());
                for value in [value as i64, (value as i64).wrapping_neg()] {
                    assert_eq!(text(|bytes| signed(bytes, 0, value)), value.to_string());
                }
            }
        }
    }

    #[test]
    fn floats_are_those_of_the_general_way() {
        let mut seed = 1_u64;
        let mut next = move || {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            seed
        };
        let check = |value: f64| {
            let general = zmij::Buffer::new().format(value).to_owned();
            assert_eq!(text(|bytes| float(bytes, 0, value)), general);
        };
        for value in [0.0, -0.0, 1e-3, 1e7, 9_999_999.99, 0.1, 0.3, 1e-8, f64::NAN, f64::INFINITY, f64::MIN_POSITIVE] {
            check(value);
        }
        for _ in 0..200_000 {
            let whole = (next() >> (next() % 64)) as f64;
            let decimal = whole / 10_f64.powi((next() % 14) as i32);
            for value in [decimal, -decimal, f64::from_bits(decimal.to_bits() + 1), f64::from_bits(next())] {
                check(value);
            }
        }
    }
}
