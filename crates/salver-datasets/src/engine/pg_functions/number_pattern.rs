//! Formats numbers by PostgreSQL's patterns, such as `FM999,990.00`.

mod element;

use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use datafusion::common::Result;

use self::element::unknown;
pub(super) use self::element::{NumberElement, Sign, parse};

/// Significant digits of a float.
const FLOAT_DIGITS: usize = 15;
/// Significant digits of a 32-bit float.
const REAL_DIGITS: usize = 6;

/// Formats numbers by their patterns.
pub(super) fn texts(values: &ArrayRef, patterns: &StringArray) -> Result<StringArray> {
    if values.data_type().is_floating() {
        let most = if *values.data_type() == DataType::Float64 { FLOAT_DIGITS } else { REAL_DIGITS };
        let floats = cast(values, &DataType::Float64)?;
        let numbers = floats.as_primitive::<Float64Type>().iter();
        return shown(numbers.map(|number| number.map(|number| PatternNumber::Float(number, most))), patterns);
    }
    let digits = cast(values, &DataType::Utf8)?;
    shown(digits.as_string::<i32>().iter().map(|number| number.map(PatternNumber::Exact)), patterns)
}

fn shown<'n>(numbers: impl Iterator<Item = Option<PatternNumber<'n>>>, patterns: &StringArray) -> Result<StringArray> {
    let texts = numbers.zip(patterns).map(|(number, pattern)| match (number, pattern) {
        (Some(number), Some(pattern)) => show(number, pattern).map(Some),
        _ => Ok(None),
    });
    texts.collect()
}

/// A number to be formatted.
#[derive(Clone, Copy)]
enum PatternNumber<'n> {
    /// A number by its digits, with a sign and a point.
    Exact(&'n str),
    /// A float with its number of significant digits.
    Float(f64, usize),
}

/// Digits of a number, with as many fractional digits as its pattern has.
struct Digits {
    negative: bool,
    /// Integral digits, at least one, or a word such as `NaN`.
    whole: String,
    /// Fractional digits; `None` without a point.
    fraction: Option<String>,
}

/// Formats a number by a pattern.
fn show(number: PatternNumber<'_>, pattern: &str) -> Result<String> {
    let (places, bare, sign) = parse(pattern)?;
    let unwritten = places.iter().find_map(|place| match place {
        NumberElement::Unwritten { word, .. } => Some(*word),
        _ => None,
    });
    if let Some(word) = unwritten {
        return unknown(word, pattern);
    }
    let point = places.iter().position(|place| matches!(place, NumberElement::Point)).unwrap_or(places.len());
    let count =
        |places: &[NumberElement]| places.iter().filter(|place| matches!(place, NumberElement::Digit { .. })).count();
    let (before, behind) = (count(&places[..point]), count(&places[point..]));
    let digits = digits(number, before, behind);
    let kept = kept(&places[point..], digits.fraction.as_deref().unwrap_or_default(), bare);
    let writer = NumberPatternWriter { bare, sign, negative: digits.negative, signed: false, text: String::new() };
    Ok(writer.write(&places, &digits, before, kept))
}

/// Writes the places of a pattern.
struct NumberPatternWriter {
    bare: bool,
    sign: Sign,
    negative: bool,
    /// Whether a sign before the first digit has been written.
    signed: bool,
    text: String,
}

impl NumberPatternWriter {
    fn write(mut self, places: &[NumberElement], digits: &Digits, before: usize, kept: usize) -> String {
        let first = before - digits.whole.len();
        // From the first `0` of the pattern on, leading zeros are written.
        let zero = zeros(places).take(before).position(|zero| zero).unwrap_or(before);
        // The zero before the point is omitted, unless there are no fractional digits either.
        let hides = digits.whole == "0" && digits.fraction.is_some() && zero == before;
        let begins = if hides { before } else { first.min(zero) };
        let last = places.iter().rposition(|place| matches!(place, NumberElement::Digit { .. } | NumberElement::Point));
        let mut fraction = digits.fraction.as_deref().unwrap_or_default().chars().take(kept);
        let (mut at, mut behind, mut in_fraction) = (0, false, false);
        for (number, place) in places.iter().enumerate() {
            match place {
                NumberElement::Digit { zero } if behind => {
                    in_fraction = true;
                    match fraction.next() {
                        Some(digit) => self.digit(digit),
                        None if self.bare && !zero => {}
                        // The significant digits are exhausted, and the rest of the pattern is dropped.
                        None => {
                            self.end();
                            return self.text;
                        }
                    }
                }
                NumberElement::Digit { .. } => {
                    match digits.whole[at.max(first) - first..].chars().next() {
                        _ if at < first && at < zero => self.blank(),
                        _ if at < first => self.digit('0'),
                        Some('0') if hides && !(self.bare && kept == 0) => self.blank(),
                        digit => self.digit(digit.unwrap_or('0')),
                    }
                    at += 1;
                }
                NumberElement::Point => {
                    behind = true;
                    // The number is complete, and the rest of the pattern is dropped.
                    if digits.fraction.is_none() {
                        return self.text;
                    }
                    self.digit('.');
                }
                NumberElement::Comma if (behind && in_fraction) || (!behind && at > begins) => self.text.push(','),
                NumberElement::Comma => self.blank(),
                NumberElement::Sign(word) => self.placed(*word),
                NumberElement::Text(other) => self.text.push_str(other),
                NumberElement::Unwritten { .. } => {}
            }
            if Some(number) == last {
                self.end();
            }
        }
        self.text
    }

    /// Writes a sign that follows the last digit.
    fn end(&mut self) {
        match (self.sign, self.negative) {
            (Sign::Brackets, true) => self.text.push('>'),
            (Sign::Brackets, false) => self.blank(),
            (Sign::Trailing, true) => self.text.push('-'),
            (Sign::Trailing, false) => self.text.push('+'),
            _ => {}
        }
    }

    /// Writes a blank for an empty place.
    fn blank(&mut self) {
        if !self.bare {
            self.text.push(' ');
        }
    }

    fn digit(&mut self, digit: char) {
        self.begin();
        self.text.push(digit);
    }

    /// Writes a sign that precedes the first digit.
    fn begin(&mut self) {
        if std::mem::replace(&mut self.signed, true) {
            return;
        }
        match (self.sign, self.negative) {
            (Sign::Placed | Sign::Trailing, _) => {}
            (Sign::Brackets, true) => self.text.push('<'),
            (_, true) => self.text.push('-'),
            (Sign::Leading, false) => self.text.push('+'),
            (_, false) => self.blank(),
        }
    }

    fn placed(&mut self, word: char) {
        match (word, self.negative) {
            ('+', true) | ('m', false) => self.blank(),
            (_, true) => self.text.push('-'),
            (_, false) => self.text.push('+'),
        }
    }
}

/// Returns the number of fractional digits to write: all, or without trailing zeros that no `0` of the pattern
/// requests.
fn kept(places: &[NumberElement], fraction: &str, bare: bool) -> usize {
    if !bare {
        return fraction.len();
    }
    let asked = zeros(places).enumerate().filter(|(_, zero)| *zero).last().map_or(0, |(at, _)| at + 1);
    fraction.trim_end_matches('0').len().max(asked.min(fraction.len()))
}

/// Returns which digits of a pattern are a `0`.
fn zeros(places: &[NumberElement]) -> impl Iterator<Item = bool> {
    places.iter().filter_map(|place| if let NumberElement::Digit { zero } = place { Some(*zero) } else { None })
}

fn digits(number: PatternNumber<'_>, before: usize, behind: usize) -> Digits {
    let (digits, behind) = match number {
        PatternNumber::Exact(number) => (exact(number, behind), behind),
        PatternNumber::Float(number, most) => float(number, most, behind),
    };
    if digits.whole.len() <= before {
        return digits;
    }
    Digits { whole: "#".repeat(before), fraction: Some("#".repeat(behind)), ..digits }
}

fn exact(number: &str, behind: usize) -> Digits {
    let (whole, fraction) = rounded(number.trim_start_matches('-'), behind);
    let is_zero = whole.bytes().chain(fraction.bytes()).all(|digit| digit == b'0');
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    Digits {
        negative: number.starts_with('-') && !is_zero,
        whole: whole.to_owned(),
        fraction: (behind > 0).then_some(fraction),
    }
}

/// Returns the exact digits of a float, limited to the significant ones, and the number of fractional digits that these
/// allow.
fn float(number: f64, most: usize, behind: usize) -> (Digits, usize) {
    let size = number.abs();
    let whole = match size {
        _ if size.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        _ => format!("{size:.0}"),
    };
    let behind = behind.min(most.saturating_sub(whole.len()));
    let negative = number.is_sign_negative() && !number.is_nan();
    if !size.is_finite() || behind == 0 {
        return (Digits { negative, whole, fraction: None }, behind);
    }
    let text = format!("{size:.behind$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    (Digits { negative, whole: whole.to_owned(), fraction: Some(fraction.to_owned()) }, behind)
}

/// Rounds to `behind` fractional digits, half away from zero; returns the integral and the fractional digits.
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

#[cfg(test)]
mod tests {
    use super::{PatternNumber, show};

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
            ("0", "999", "   0"),
            ("0.4", "FM9.99", ".4"),
            ("0", "FM9.99", "0."),
            ("-0.4", "999", "   0"),
            ("5", "S999", "  +5"),
            ("5", "PL99", "+  5"),
        ] {
            assert_eq!(
                show(PatternNumber::Exact(number), pattern).ok().as_deref(),
                Some(expected),
                "{number} {pattern}"
            );
        }
        let wide = "9".repeat(70_000);
        let text = show(PatternNumber::Exact("1.5"), &format!("{wide}.{wide}")).unwrap();
        assert_eq!(text.trim(), format!("1.5{}", "0".repeat(69_999)));
    }

    #[test]
    fn floats_are_what_they_are_to_the_last_bit() {
        for (number, most, pattern, expected) in [
            (2.5, 15, "999", "   2"),
            (0.125, 15, "9.99", "  .12"),
            (-0.4, 15, "999", "  -0"),
            (f64::NAN, 15, "9999.99", "  NaN"),
            (f64::INFINITY, 15, "9999.99", " ####.##"),
            (f64::INFINITY, 6, "99.99", " ##."),
            (1_234_567_890_123_456.8, 15, "9999999999999999.99", " 1234567890123457"),
        ] {
            let text = show(PatternNumber::Float(number, most), pattern);
            assert_eq!(text.ok().as_deref(), Some(expected), "{number} {pattern}");
        }
    }
}
