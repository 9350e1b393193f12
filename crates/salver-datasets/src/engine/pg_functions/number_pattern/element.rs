//! Places of a pattern for numbers.

use datafusion::common::{Result, exec_err};

/// Position of the sign.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Sign {
    /// Before the first digit, if negative.
    Close,
    /// Before the first digit, also if positive.
    Leading,
    /// After the last digit.
    Trailing,
    /// At a place in the pattern.
    Placed,
    /// Angle brackets, if negative.
    Brackets,
}

/// One place of the pattern.
pub(in super::super) enum NumberElement {
    Digit {
        zero: bool,
    },
    Point,
    Comma,
    Sign(char),
    Text(String),
    /// A word that is only read: up to so many characters.
    Unwritten {
        word: &'static str,
        length: usize,
    },
}

/// Parses a pattern into its places, whether blanks and zeros are omitted, and the position of the sign.
pub(in super::super) fn parse(pattern: &str) -> Result<(Vec<NumberElement>, bool, Sign)> {
    let mut places = Vec::new();
    let (mut bare, mut sign) = (false, Sign::Close);
    // The number of digits before an `S`.
    let (mut digits, mut signed_at) = (0, None);
    let mut has_point = false;
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let upper = rest.get(..2).map(str::to_ascii_uppercase).unwrap_or_default();
        let mut length = first.len_utf8();
        match upper.as_str() {
            "FM" => (bare, length) = (true, 2),
            "MI" | "SG" => {
                (sign, length) = (Sign::Placed, 2);
                places.push(NumberElement::Sign(if upper == "MI" { 'm' } else { 's' }));
            }
            "PL" => {
                length = 2;
                places.push(NumberElement::Sign('+'));
            }
            "PR" => (sign, length) = (Sign::Brackets, 2),
            // It is ignored.
            "SP" => length = 2,
            "TH" => {
                length = 2;
                places.push(NumberElement::Unwritten { word: "TH", length: 2 });
            }
            "RN" | "EE" => {
                return unknown(&upper, pattern);
            }
            _ => match first {
                '9' | '0' => {
                    digits += usize::from(!has_point);
                    places.push(NumberElement::Digit { zero: first == '0' });
                }
                '.' | 'D' | 'd' => {
                    has_point = true;
                    places.push(NumberElement::Point);
                }
                ',' | 'G' | 'g' => places.push(NumberElement::Comma),
                'S' | 's' => signed_at = Some(digits),
                // They are ignored.
                'B' | 'b' | 'C' | 'c' => {}
                'L' | 'l' => places.push(NumberElement::Unwritten { word: "L", length: 1 }),
                'V' | 'v' => {
                    return unknown(&first.to_string(), pattern);
                }
                '"' => {
                    let (text, end) = quoted(&rest[1..]);
                    places.push(NumberElement::Text(text));
                    length = end + 1;
                }
                '\\' if rest[1..].starts_with('"') => {
                    length = 2;
                    places.push(NumberElement::Text('"'.to_string()));
                }
                other => places.push(NumberElement::Text(other.to_string())),
            },
        }
        rest = &rest[length..];
    }
    if places.iter().filter(|place| matches!(place, NumberElement::Point)).count() > 1 {
        return exec_err!("there are several points in '{pattern}'");
    }
    if let Some(at) = signed_at {
        sign = if at < digits { Sign::Leading } else { Sign::Trailing };
    }
    Ok((places, bare, sign))
}

/// Returns the error for a word that is not known.
pub(super) fn unknown<T>(word: &str, pattern: &str) -> Result<T> {
    exec_err!("`{word}` in '{pattern}' is not known here; patterns of numbers take 9 0 . , D G S MI PL SG PR FM")
}

/// Returns a quoted text after its first quote, and its length with the second.
fn quoted(rest: &str) -> (String, usize) {
    let mut text = String::new();
    let mut signs = rest.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '"' => return (text, at + 1),
            '\\' => text.extend(signs.next().map(|(_, sign)| sign)),
            sign => text.push(sign),
        }
    }
    (text, rest.len())
}
