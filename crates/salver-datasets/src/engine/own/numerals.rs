//! Numbers as text by PostgreSQL's patterns, such as `FM999,990.00`.

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::{Result, exec_err};

/// The numbers as plain digits, with a sign and a point.
pub(super) fn plain(values: &ArrayRef) -> Result<StringArray> {
    if values.data_type().is_floating() {
        let floats = cast(values, &DataType::Float64)?;
        let texts = floats.as_primitive::<Float64Type>().iter().map(|x| x.map(|x| format!("{x}")));
        return Ok(texts.collect());
    }
    Ok(cast(values, &DataType::Utf8)?.as_string::<i32>().clone())
}

/// Where the sign goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    /// Before the first digit.
    Close,
    /// Where the pattern has it.
    Placed,
    /// In angle brackets.
    Brackets,
}

/// One place of the pattern.
enum Place {
    Digit { zero: bool },
    Point,
    Comma,
    Sign(char),
    Text(String),
}

/// The text of a number by a pattern.
#[expect(clippy::too_many_lines, reason = "one pass over the places of the pattern")]
pub(super) fn show(number: &str, pattern: &str) -> Result<String> {
    let (places, bare, sign) = parse(pattern)?;
    let (negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number),
    };
    let point = places.iter().position(|place| matches!(place, Place::Point)).unwrap_or(places.len());
    let is_digit = |place: &&Place| matches!(place, Place::Digit { .. });
    let before = places[..point].iter().filter(is_digit).count();
    let behind = places[point..].iter().filter(is_digit).count();
    if !digits.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        // Not a number, or without end.
        return Ok("#".repeat(before.max(1)));
    }
    let (whole, fraction) = rounded(digits, behind);
    let negative = negative && (whole.bytes().chain(fraction.bytes())).any(|b| b != b'0');
    let whole = whole.trim_start_matches('0');
    let too_long = whole.len() > before;
    // By hand: the formatter takes no width beyond 65,535.
    let whole = if too_long { "#".repeat(before) } else { "0".repeat(before - whole.len()) + whole };
    let fraction = if too_long { "#".repeat(behind) } else { fraction };
    // Where the number begins: at its first digit, or at the first zero of the pattern.
    let mut position = 0;
    let mut first = before;
    for place in &places[..point] {
        if let Place::Digit { zero } = place {
            if (*zero || whole.as_bytes()[position] != b'0') && position < first {
                first = position;
            }
            position += 1;
        }
    }
    let mut text = String::new();
    let (mut at, mut signed) = (0, sign != Sign::Close);
    let mut fraction = fraction.chars();
    let last = last_needed(&places[point.min(places.len())..], fraction.as_str(), bare);
    let mut behind_at = 0;
    let put_sign = |text: &mut String, signed: &mut bool| {
        if !*signed {
            *signed = true;
            match (negative, bare) {
                (true, _) => text.push('-'),
                (false, false) => text.push(' '),
                (false, true) => {}
            }
        }
    };
    for (number, place) in places.iter().enumerate() {
        match place {
            Place::Digit { .. } if number < point => {
                if at >= first {
                    put_sign(&mut text, &mut signed);
                    text.push(char::from(whole.as_bytes()[at]));
                } else if !bare {
                    text.push(' ');
                }
                at += 1;
            }
            Place::Digit { .. } => {
                let digit = fraction.next().unwrap_or('0');
                if behind_at < last {
                    text.push(digit);
                }
                behind_at += 1;
            }
            Place::Point => {
                put_sign(&mut text, &mut signed);
                text.push('.');
            }
            Place::Comma if at > first => text.push(','),
            Place::Comma if !bare => text.push(' '),
            Place::Comma => {}
            Place::Sign(plus) => match (negative, plus) {
                (true, '+') => text.push('+'),
                (false, 'm' | '+') if !bare => text.push(' '),
                (false, 'm' | '+') => {}
                (true, _) => text.push('-'),
                (false, _) => text.push('+'),
            },
            Place::Text(other) => text.push_str(other),
        }
    }
    if !signed {
        put_sign(&mut text, &mut signed);
    }
    Ok(match (sign, negative) {
        (Sign::Brackets, true) => bracketed(&text),
        (Sign::Brackets, false) if !bare => format!(" {text} "),
        _ => text,
    })
}

fn bracketed(text: &str) -> String {
    let digits = text.trim_start();
    format!("{}<{digits}>", " ".repeat(text.len() - digits.len()))
}

/// How many digits behind the point are written: all, or without the last zeros that no `0` asks for.
fn last_needed(places: &[Place], fraction: &str, bare: bool) -> usize {
    let digits: Vec<bool> =
        places.iter().filter_map(|place| if let Place::Digit { zero } = place { Some(*zero) } else { None }).collect();
    if !bare {
        return digits.len();
    }
    let needed = digits.iter().zip(fraction.bytes()).rposition(|(zero, digit)| *zero || digit != b'0');
    needed.map_or(0, |at| at + 1)
}

/// Digits before and behind the point, of which there are `behind`; what is half goes away from zero.
fn rounded(digits: &str, behind: usize) -> (String, String) {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let padded = || fraction.to_owned() + &"0".repeat(behind - fraction.len());
    let kept = fraction.get(..behind).map_or_else(padded, str::to_owned);
    let mut all: Vec<u8> = std::iter::once(b'0').chain(whole.bytes()).chain(kept.bytes()).collect();
    if fraction.as_bytes().get(behind).is_some_and(|digit| *digit >= b'5') {
        for digit in all.iter_mut().rev() {
            if *digit == b'9' {
                *digit = b'0';
            } else {
                *digit += 1;
                break;
            }
        }
    }
    let text = String::from_utf8(all).unwrap_or_default();
    let (whole, fraction) = text.split_at(text.len() - behind);
    (whole.to_owned(), fraction.to_owned())
}

fn unknown<T>(word: &str, pattern: &str) -> Result<T> {
    exec_err!("`to_char` does not know `{word}` in '{pattern}'; of numbers it takes 9 0 . , D G S MI PL SG PR FM")
}

fn parse(pattern: &str) -> Result<(Vec<Place>, bool, Sign)> {
    let mut places = Vec::new();
    let (mut bare, mut sign) = (false, Sign::Close);
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let upper = rest.get(..2).map(str::to_ascii_uppercase).unwrap_or_default();
        let mut length = first.len_utf8();
        match upper.as_str() {
            "FM" => (bare, length) = (true, 2),
            "MI" => {
                (sign, length) = (Sign::Placed, 2);
                places.push(Place::Sign('m'));
            }
            "PL" => {
                (sign, length) = (Sign::Placed, 2);
                places.push(Place::Sign('p'));
            }
            "SG" => {
                (sign, length) = (Sign::Placed, 2);
                places.push(Place::Sign('s'));
            }
            "PR" => (sign, length) = (Sign::Brackets, 2),
            "RN" | "TH" | "EE" => {
                return unknown(&upper, pattern);
            }
            _ => match first {
                '9' => places.push(Place::Digit { zero: false }),
                '0' => places.push(Place::Digit { zero: true }),
                '.' | 'D' | 'd' => places.push(Place::Point),
                ',' | 'G' | 'g' => places.push(Place::Comma),
                'S' | 's' => {
                    sign = Sign::Placed;
                    places.push(Place::Sign('s'));
                }
                'V' | 'v' | 'L' | 'l' => {
                    return unknown(&first.to_string(), pattern);
                }
                '"' => {
                    let end = rest[1..].find('"').map_or(rest.len(), |end| end + 2);
                    places.push(Place::Text(rest[1..end].trim_end_matches('"').to_owned()));
                    length = end;
                }
                other => places.push(Place::Text(other.to_string())),
            },
        }
        rest = &rest[length..];
    }
    if places.iter().filter(|place| matches!(place, Place::Point)).count() > 1 {
        return exec_err!("there are several points in '{pattern}'");
    }
    Ok((places, bare, sign))
}

#[cfg(test)]
mod tests {
    use super::show;

    #[test]
    fn as_postgresql_writes_them() {
        for (number, pattern, expected) in [
            ("12.45", "99.9", " 12.5"),
            ("-12.45", "99.9", "-12.5"),
            ("0.1", "0.99", " 0.10"),
            ("0.1", "FM0.99", "0.1"),
            ("485", "999", " 485"),
            ("-485", "999", "-485"),
            ("1485", "9,999", " 1,485"),
            ("485", "9,999", "   485"),
            ("1485", "999", " ###"),
            ("485", "FM999", "485"),
            ("485", "0999", " 0485"),
            ("-485", "999S", "485-"),
            ("-485", "999PR", "<485>"),
            ("1234567.891", "FM999,999,990.00", "1,234,567.89"),
        ] {
            assert_eq!(show(number, pattern).ok().as_deref(), Some(expected), "{number} {pattern}");
        }
        let wide = "9".repeat(70_000);
        assert_eq!(show("1.5", &format!("{wide}.{wide}")).unwrap().trim(), format!("1.5{}", "0".repeat(69_999)));
    }
}
