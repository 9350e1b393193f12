//! Determines the position of a number among the values that a type can hold, without rounding.

use arrow::datatypes::i256;
use salver_model::Value;

/// The base of digits.
const TEN: i256 = i256::from_i128(10);

/// Position of a number among the values of a type: the multiples of `10^-scale` in a range, each given as a count of
/// `10^-scale`, or floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position<T = i256> {
    /// Equal to this value.
    At(T),
    /// Between this value and the next.
    Behind(T),
    /// Below all values.
    Below,
    /// Above all values.
    Above,
}

/// Returns the position of `value` among the multiples of `10^-scale` from `min` to `max`; `None` if it is not a
/// number.
pub(crate) fn position(value: &Value, scale: u32, min: i256, max: i256) -> Option<Position> {
    let found = match value {
        Value::Int(i) => scaled(i256::from_i128((*i).into()), scale),
        Value::UInt(u) => scaled(i256::from_i128((*u).into()), scale),
        Value::Float(x) => of_float(*x, scale)?,
        Value::Text(text) | Value::Bare(text) => {
            let text = text.trim();
            match of_digits(text, scale) {
                Some(position) => position,
                None => match Value::number(text)? {
                    Value::Int(i) => scaled(i256::from_i128(i.into()), scale),
                    Value::UInt(u) => scaled(i256::from_i128(u.into()), scale),
                    Value::Float(x) => of_float(x, scale)?,
                    _ => return None,
                },
            }
        }
        Value::Null | Value::Bool(_) => return None,
    };
    Some(match found {
        Position::At(number) | Position::Behind(number) if number < min => Position::Below,
        Position::At(number) if number > max => Position::Above,
        Position::Behind(number) if number >= max => Position::Above,
        other => other,
    })
}

/// Returns the position of `number` among 32-bit floats. It is at the nearest float if it equals that or its shortest
/// decimal form, which is what clients see: `0.1` is at one, and `16777217` is between two.
pub(crate) fn single(number: f64) -> Position<f32> {
    let nearest = number as f32;
    let is_shown = || format!("{nearest}").parse() == Ok(number);
    if number.is_nan() || f64::from(nearest) == number || is_shown() {
        Position::At(nearest)
    } else if f64::from(nearest) < number {
        Position::Behind(nearest)
    } else {
        Position::Behind(nearest.next_down())
    }
}

/// Returns `value` as a float; `None` if it is not a number.
pub(crate) fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Int(i) => Some(*i as f64),
        Value::UInt(u) => Some(*u as f64),
        Value::Float(x) => Some(*x),
        Value::Text(text) | Value::Bare(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) => None,
    }
}

fn scaled(number: i256, scale: u32) -> Position {
    match TEN.checked_pow(scale).and_then(|power| number.checked_mul(power)) {
        Some(number) => Position::At(number),
        None if number.is_negative() => Position::Below,
        None => Position::Above,
    }
}

fn of_float(x: f64, scale: u32) -> Option<Position> {
    if x.is_nan() {
        return None;
    }
    if x.is_infinite() {
        return Some(if x < 0.0 { Position::Below } else { Position::Above });
    }
    // The shortest text that parses to the same float is what the client wrote; it never has an exponent.
    of_digits(&format!("{x}"), scale)
}

/// Parses `-12.50`; `None` for any other form.
fn of_digits(text: &str, scale: u32) -> Option<Position> {
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let kept = fraction.len().min(scale as usize);
    let padding = scale as usize - kept;
    let mut number = i256::ZERO;
    let kept_digits = whole.bytes().chain(fraction[..kept].bytes()).chain(std::iter::repeat_n(b'0', padding));
    for digit in kept_digits {
        let Some(next) = number.checked_mul(TEN).and_then(|n| n.checked_add(i256::from_i128((digit - b'0').into())))
        else {
            return Some(if negative { Position::Below } else { Position::Above });
        };
        number = next;
    }
    let exact = fraction[kept..].bytes().all(|b| b == b'0');
    Some(match (negative, exact) {
        (false, true) => Position::At(number),
        (true, true) => Position::At(number.wrapping_neg()),
        (false, false) => Position::Behind(number),
        (true, false) => Position::Behind(number.wrapping_neg().wrapping_sub(i256::ONE)),
    })
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::i256;
    use salver_model::Value;

    use super::{Position, position, single};

    #[test]
    fn floats_of_32_bits_are_what_is_shown_of_them() {
        for (number, expected) in [
            (0.1, Position::At(0.1)),
            (f64::from(0.1_f32), Position::At(0.1)),
            (0.100_000_000_001, Position::Behind(0.1_f32.next_down())),
            (16_777_216.0, Position::At(16_777_216.0)),
            (16_777_217.0, Position::Behind(16_777_216.0)),
            (-16_777_217.0, Position::Behind((-16_777_216.0_f32).next_down())),
            (1e39, Position::Behind(f32::MAX)),
            (-1e39, Position::Behind(f32::NEG_INFINITY)),
            (f64::INFINITY, Position::At(f32::INFINITY)),
        ] {
            assert_eq!(single(number), expected, "{number}");
        }
    }

    /// The position and its number.
    fn place(value: &Value, scale: u32, min: i128, max: i128) -> Option<(&'static str, i128)> {
        let number = |number: i256| number.to_i128().unwrap_or(i128::MAX);
        Some(match position(value, scale, i256::from_i128(min), i256::from_i128(max))? {
            Position::At(at) => ("At", number(at)),
            Position::Behind(at) => ("Behind", number(at)),
            Position::Below => ("Below", 0),
            Position::Above => ("Above", 0),
        })
    }

    #[test]
    fn exact_between_and_beyond() {
        let whole = |value: Value| place(&value, 0, -128, 127);
        assert_eq!(whole(Value::Int(5)), Some(("At", 5)));
        assert_eq!(whole(Value::Float(5.0)), Some(("At", 5)));
        assert_eq!(whole(Value::Float(1.5)), Some(("Behind", 1)));
        assert_eq!(whole(Value::Float(-1.5)), Some(("Behind", -2)));
        assert_eq!(whole(Value::Float(127.5)), Some(("Above", 0)));
        assert_eq!(whole(Value::Float(-128.5)), Some(("Below", 0)));
        assert_eq!(whole(Value::Int(128)), Some(("Above", 0)));
        assert_eq!(whole(Value::Float(-1e300)), Some(("Below", 0)));
        assert_eq!(whole(Value::Text("1e1".into())), Some(("At", 10)));
        assert_eq!(whole(Value::Text("ten".into())), None);
        assert_eq!(place(&Value::Text("1.005".into()), 2, -999, 999), Some(("Behind", 100)));
        assert_eq!(place(&Value::Text("-1.50".into()), 1, -999, 999), Some(("At", -15)));
    }
}
