//! `to_number(text, pattern)`: reads numbers by PostgreSQL's patterns, such as `9,999.99S`. One character of the text
//! is read for each place of the pattern, and what is no digit there is skipped. The result has as many fractional
//! digits as the pattern, in all rows.

use std::sync::Arc;

use arrow::array::{AsArray, StringArray};
use arrow::compute::{CastOptions, cast, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_err, internal_err, plan_err};
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

use super::super::row_function::computed;
use super::number_pattern::{NumberElement, Sign, parse};

/// Precision and scale of a result whose pattern is computed.
const OPEN: (u8, i8) = (38, 10);
/// Most digits of a 128-bit decimal.
const SHORT_DIGITS: usize = 38;
/// Most digits of a decimal.
const LONG_DIGITS: usize = 76;

/// Returns the function.
pub(super) fn to_number() -> ScalarUDF {
    ScalarUDF::new_from_impl(ToNumber { signature: Signature::user_defined(Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct ToNumber {
    signature: Signature,
}

impl ScalarUDFImpl for ToNumber {
    fn name(&self) -> &'static str {
        "to_number"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        match arg_types {
            [text, pattern] if [text, pattern].iter().all(|own| own.is_string() || own.is_null()) => {
                Ok(vec![DataType::Utf8, DataType::Utf8])
            }
            _ => plan_err!("`to_number` takes a text and a pattern, as in `to_number(x, '9999.99')`"),
        }
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("the type of `to_number` depends on the pattern")
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let data_type = match args.scalar_arguments {
            [_, Some(ScalarValue::Utf8(Some(pattern)) | ScalarValue::Utf8View(Some(pattern)))] => of_pattern(pattern)?,
            _ => DataType::Decimal128(OPEN.0, OPEN.1),
        };
        Ok(Arc::new(Field::new(self.name(), data_type, true)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        computed(&args, |arrays| {
            let [texts, patterns] = arrays else { return plan_err!("`to_number` takes a text and a pattern") };
            let (texts, patterns) = (cast(texts, &DataType::Utf8)?, cast(patterns, &DataType::Utf8)?);
            let numbers = texts.as_string::<i32>().iter().zip(patterns.as_string::<i32>());
            let numbers: StringArray = numbers
                .map(|(text, pattern)| match (text, pattern) {
                    (Some(text), Some(pattern)) if !pattern.is_empty() => read(text, pattern).map(Some),
                    _ => Ok(None),
                })
                .collect::<Result<_>>()?;
            let options = CastOptions { safe: false, ..CastOptions::default() };
            Ok(cast_with_options(&numbers, args.return_field.data_type(), &options)?)
        })
    }
}

/// Returns the type of the numbers that a pattern reads.
fn of_pattern(pattern: &str) -> Result<DataType> {
    let (places, ..) = parse(pattern)?;
    let (before, behind) = digits(&places);
    match (before + behind).max(1) {
        all @ 0..=SHORT_DIGITS => Ok(DataType::Decimal128(all as u8, behind as i8)),
        all @ 0..=LONG_DIGITS => Ok(DataType::Decimal256(all as u8, behind as i8)),
        all => plan_err!("a pattern of {all} digits is too long: {LONG_DIGITS} are the most"),
    }
}

/// Returns the numbers of digits before and behind the point of a pattern.
fn digits(places: &[NumberElement]) -> (usize, usize) {
    let point = places.iter().position(|place| matches!(place, NumberElement::Point)).unwrap_or(places.len());
    let count = |own: &[NumberElement]| own.iter().filter(|own| matches!(own, NumberElement::Digit { .. })).count();
    (count(&places[..point]), count(&places[point..]))
}

/// Reads a number by a pattern, and writes it plainly.
fn read(text: &str, pattern: &str) -> Result<String> {
    let (places, bare, sign) = parse(pattern)?;
    let has_point = places.iter().any(|place| matches!(place, NumberElement::Point));
    let moves = places.iter().any(|place| matches!(place, NumberElement::Sign(_)));
    let (_, most) = digits(&places);
    let text: Vec<char> = text.chars().collect();
    let mut reader = NumberReader { text: &text, at: 0, sign, moves, has_point, most, read: String::new(), own: None };
    for place in &places {
        if reader.next().is_none() {
            break;
        }
        match place {
            NumberElement::Digit { .. } => reader.digit(true),
            NumberElement::Point => reader.digit(false),
            NumberElement::Comma if !bare && reader.next() == Some(',') => reader.at += 1,
            NumberElement::Comma => {}
            NumberElement::Sign(word) => reader.sign(*word),
            NumberElement::Unwritten { length, .. } => reader.skip(*length),
            NumberElement::Text(other) => reader.at += other.chars().count(),
        }
    }
    let number = reader.read.trim_end_matches('.');
    if !number.contains(|c: char| c.is_ascii_digit()) {
        let text: String = text.iter().collect();
        return exec_err!("'{text}' has no number where '{pattern}' has its digits");
    }
    Ok(format!("{}{number}", reader.own.filter(|own| *own == '-').map_or("", |_| "-")))
}

/// State of a reading.
struct NumberReader<'t> {
    text: &'t [char],
    at: usize,
    /// Position of the sign in the pattern.
    sign: Sign,
    /// Whether the pattern has a sign of its own place.
    moves: bool,
    has_point: bool,
    /// Most fractional digits.
    most: usize,
    /// Digits and point.
    read: String,
    /// The sign that was found.
    own: Option<char>,
}

impl NumberReader<'_> {
    fn next(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    /// Reads what stands at the place of a digit or, if not `is_digit`, of the point; steps over it in any case.
    fn digit(&mut self, is_digit: bool) {
        if self.next() == Some(' ') {
            self.at += 1;
        }
        let has_digits = self.read.contains(|c: char| c.is_ascii_digit());
        if self.own.is_none() && is_digit && !has_digits {
            self.leading();
        }
        let is_read = match self.next() {
            Some(digit) if digit.is_ascii_digit() => {
                let is_full = self.read.split_once('.').is_some_and(|(_, fraction)| fraction.len() == self.most);
                if is_full {
                    self.at += 1;
                    return;
                }
                self.read.push(digit);
                true
            }
            Some('.') if self.has_point && !self.read.contains('.') => {
                self.read.push('.');
                true
            }
            _ => false,
        };
        if self.own.is_none() && self.read.contains(|c: char| c.is_ascii_digit()) {
            self.trailing(is_read);
        }
        self.at += 1;
    }

    /// Reads a sign before the first digit.
    fn leading(&mut self) {
        let own = match (self.next(), self.sign) {
            (Some('-'), _) => Some('-'),
            (Some('<'), Sign::Brackets) => Some('-'),
            (Some('+'), _) => Some('+'),
            _ => None,
        };
        self.own = own;
        self.at += usize::from(own.is_some());
    }

    /// Reads a sign behind the last digit.
    fn trailing(&mut self, is_read: bool) {
        let is_sign = |c: &char| matches!(c, '-' | '+');
        if matches!(self.sign, Sign::Leading | Sign::Trailing) {
            if let Some(sign) = self.text.get(self.at + 1).filter(|next| is_read && is_sign(next)) {
                self.own = Some(*sign);
                self.at += 1;
            }
        } else if !is_read && self.moves {
            self.own = self.next().filter(is_sign);
        }
    }

    /// Reads what stands at the place of a sign.
    fn sign(&mut self, word: char) {
        let own = self.next().filter(|next| match word {
            'm' => *next == '-',
            '+' => *next == '+',
            _ => matches!(next, '-' | '+'),
        });
        match own {
            Some(sign) => {
                self.own = Some(sign);
                self.at += 1;
            }
            None => self.skip(1),
        }
    }

    /// Steps over up to `length` characters that are no part of a number.
    fn skip(&mut self, length: usize) {
        for _ in 0..length {
            match self.next() {
                Some(next) if !matches!(next, '0'..='9' | '.' | ',' | '+' | '-') => self.at += 1,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn as_postgresql_reads_them() {
        for (text, pattern, expected) in [
            ("12,454.8-", "99G999D9S", "-12454.8"),
            ("1234.5", "9999.9", "1234.5"),
            ("-12", "S99", "-12"),
            ("0012", "9999", "0012"),
            ("$1,234.50", "L9,999.99", "1234.50"),
            ("<12>", "99PR", "-12"),
            ("12-", "99MI", "-12"),
            ("1.23", "9.9", "1.2"),
            (" 5", "99", "5"),
            ("1st", "9th", "1"),
        ] {
            assert_eq!(read(text, pattern).ok().as_deref(), Some(expected), "{text} {pattern}");
        }
        let message = read("x", "9").unwrap_err().to_string();
        assert!(message.contains("'x' has no number where '9' has its digits"), "{message}");
    }
}
