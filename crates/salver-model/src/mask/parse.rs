//! The text of a mask to its expression.

use super::{MaskExpression, MaskPart, Step, TruncUnit};
use crate::error::{Code, Error, Result};
use crate::limits::{MASK_BYTES_MAX, MASK_CHARS_MAX};
use crate::value::Value;

/// Most digits of a step behind the point.
const STEP_SCALE: usize = 6;
/// Bound of a step without its point.
const STEP_BOUND: i64 = 1_000_000_000_000_000;

#[derive(Clone, Debug, PartialEq)]
enum MaskToken<'t> {
    Word(&'t str),
    /// A name in double quotes.
    Name(&'t str),
    Text(String),
    Number(&'t str),
    Sign(&'t str),
}

struct MaskParser<'t> {
    column: &'t str,
    text: &'t str,
    tokens: Vec<(usize, MaskToken<'t>)>,
    at: usize,
}

pub(super) fn parse(column: &str, text: &str) -> Result<MaskExpression> {
    if text.len() > MASK_BYTES_MAX {
        return Err(Error::new(Code::Config, format!("a mask of `{column}` is longer than {MASK_BYTES_MAX} bytes"))
            .with_hint("say less in it"));
    }
    let mut parser = MaskParser { column, text, tokens: tokens(text)?, at: 0 };
    let expression = parser.expression()?;
    if parser.at < parser.tokens.len() {
        return Err(parser.unexpected("the end"));
    }
    if column.contains('*') && !matches!(expression, MaskExpression::Constant(_)) {
        let message = format!("the mask `{text}` is for the pattern `{column}`, and not the same in every column");
        return Err(Error::new(Code::Config, message).with_hint("name the column, or write `null` or another constant"));
    }
    Ok(expression)
}

fn broken(text: &str, at: usize, why: &str) -> Error {
    let place = text.get(..at).map_or(at, |before| before.chars().count()) + 1;
    Error::new(Code::Config, format!("the mask `{text}` can't be read at character {place}: {why}"))
        .with_hint("a mask is like `null`, `left(email, 1) || '***'`, `floor(salary, 1000)` or `trunc(birth, 'year')`")
}

fn tokens(text: &str) -> Result<Vec<(usize, MaskToken<'_>)>> {
    let bytes = text.as_bytes();
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let run = |from: usize, keep: &dyn Fn(u8) -> bool| {
            bytes[from..].iter().position(|b| !keep(*b)).map_or(bytes.len(), |length| from + length)
        };
        let token = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            b'\'' => {
                let (value, end) = quoted(text, at)?;
                at = end;
                MaskToken::Text(value)
            }
            b'"' => {
                let length = text[at + 1..].find('"').ok_or_else(|| broken(text, at, "the quote is not closed"))?;
                at += length + 2;
                MaskToken::Name(&text[start + 1..at - 1])
            }
            b'0'..=b'9' | b'-' | b'+' => {
                at = run(at + 1, &|b| b.is_ascii_alphanumeric() || b == b'.');
                MaskToken::Number(&text[start..at])
            }
            b if b.is_ascii_alphabetic() || b == b'_' || b >= 0x80 => {
                at = run(at, &|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.' || b >= 0x80);
                MaskToken::Word(&text[start..at])
            }
            b'|' if text[at..].starts_with("||") => {
                at += 2;
                MaskToken::Sign("||")
            }
            b'(' | b')' | b',' => {
                at += 1;
                MaskToken::Sign(&text[start..at])
            }
            _ => return Err(broken(text, start, "this character has no meaning here")),
        };
        tokens.push((start, token));
    }
    Ok(tokens)
}

/// Parses a quoted text, in which a quote is doubled, and returns it with its end.
fn quoted(text: &str, start: usize) -> Result<(String, usize)> {
    let (mut value, mut at) = (String::new(), start + 1);
    loop {
        let length = text[at..].find('\'').ok_or_else(|| broken(text, start, "the quote is not closed"))?;
        value.push_str(&text[at..at + length]);
        at += length + 1;
        if !text[at..].starts_with('\'') {
            break;
        }
        value.push('\'');
        at += 1;
    }
    // No text of PostgreSQL has it.
    if value.contains('\0') { Err(broken(text, start, "a text can't have NUL")) } else { Ok((value, at)) }
}

impl<'t> MaskParser<'t> {
    fn expression(&mut self) -> Result<MaskExpression> {
        let first = self.term()?;
        let first = match first {
            MaskExpression::Text(part) => part,
            MaskExpression::Constant(Value::Text(text)) => vec![MaskPart::Text(text)],
            whole => return Ok(whole),
        };
        let mut parts = first;
        while self.take(&MaskToken::Sign("||")) {
            match self.term()? {
                MaskExpression::Text(part) => parts.extend(part),
                MaskExpression::Constant(Value::Text(text)) => match parts.last_mut() {
                    Some(MaskPart::Text(before)) => before.push_str(&text),
                    _ => parts.push(MaskPart::Text(text)),
                },
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected("a text before this"));
                }
            }
        }
        Ok(match parts.as_slice() {
            [MaskPart::Text(text)] => MaskExpression::Constant(Value::Text(text.clone())),
            _ => MaskExpression::Text(parts),
        })
    }

    fn term(&mut self) -> Result<MaskExpression> {
        let wanted = "a literal, `null`, `left`, `right`, `floor` or `trunc`";
        let Some((_, token)) = self.tokens.get(self.at).cloned() else { return Err(self.unexpected(wanted)) };
        let word = match token {
            MaskToken::Text(text) => {
                self.at += 1;
                return Ok(MaskExpression::Constant(Value::Text(text)));
            }
            MaskToken::Number(digits) => {
                let number = Value::number(digits).filter(|number| !matches!(number, Value::UInt(_)));
                let number = number.ok_or_else(|| self.unexpected("a number"))?;
                self.at += 1;
                return Ok(MaskExpression::Constant(number));
            }
            MaskToken::Word(word) => word.to_ascii_lowercase(),
            MaskToken::Name(_) | MaskToken::Sign(_) => return Err(self.unexpected(wanted)),
        };
        let constant = match word.as_str() {
            "null" => Some(Value::Null),
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "left" | "right" | "floor" | "trunc" => None,
            _ => return Err(self.unexpected(wanted)),
        };
        self.at += 1;
        if let Some(constant) = constant {
            return Ok(MaskExpression::Constant(constant));
        }
        self.require("(")?;
        self.own_column()?;
        self.require(",")?;
        let expression = match word.as_str() {
            "floor" => MaskExpression::Floor(self.step()?),
            "trunc" => MaskExpression::Trunc(self.unit()?),
            "left" => MaskExpression::Text(vec![MaskPart::Left(self.length()?)]),
            _ => MaskExpression::Text(vec![MaskPart::Right(self.length()?)]),
        };
        self.require(")")?;
        Ok(expression)
    }

    /// Reads the name of the masked column. Of others a mask may not depend.
    fn own_column(&mut self) -> Result<()> {
        let is_own = match self.tokens.get(self.at) {
            Some((_, MaskToken::Word(name) | MaskToken::Name(name))) => *name == self.column,
            _ => false,
        };
        // A pattern is refused later, with a message of its own.
        let is_name = matches!(self.tokens.get(self.at), Some((_, MaskToken::Word(_) | MaskToken::Name(_))));
        if is_own || is_name && self.column.contains('*') {
            self.at += 1;
            return Ok(());
        }
        Err(self.unexpected(&format!("`{}`, the column that is masked", self.column)))
    }

    fn number(&self) -> Option<&'t str> {
        match self.tokens.get(self.at) {
            Some((_, MaskToken::Number(digits))) => Some(*digits),
            _ => None,
        }
    }

    fn length(&mut self) -> Result<u32> {
        let length = self.number().and_then(|digits| digits.parse::<u32>().ok());
        let Some(length) = length.filter(|length| *length <= MASK_CHARS_MAX) else {
            return Err(self.unexpected(&format!("a number of characters from 0 to {MASK_CHARS_MAX}")));
        };
        self.at += 1;
        Ok(length)
    }

    fn step(&mut self) -> Result<Step> {
        let Some(step) = self.number().and_then(step) else {
            return Err(self.unexpected("a step like `1000` or `0.5`, from 0.000001 to 1000000000000000"));
        };
        self.at += 1;
        Ok(step)
    }

    fn unit(&mut self) -> Result<TruncUnit> {
        let unit = match self.tokens.get(self.at) {
            Some((_, MaskToken::Text(word))) => TruncUnit::ALL.iter().find(|(own, _)| own == word),
            _ => None,
        };
        let Some((_, unit)) = unit else { return Err(self.unexpected("'year', 'month', 'day' or 'hour'")) };
        self.at += 1;
        Ok(*unit)
    }

    fn take(&mut self, wanted: &MaskToken<'_>) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|(_, token)| token == wanted);
        self.at += usize::from(found);
        found
    }

    fn require(&mut self, sign: &str) -> Result<()> {
        if self.take(&MaskToken::Sign(sign)) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> Error {
        let at = self.tokens.get(self.at).map_or(self.text.len(), |(at, _)| *at);
        broken(self.text, at, &format!("expected {wanted}"))
    }
}

/// Parses a step, without noughts behind its fraction.
fn step(digits: &str) -> Option<Step> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > STEP_SCALE || !whole.bytes().chain(fraction.bytes()).all(|b| b.is_ascii_digit()) {
        return None;
    }
    let unscaled = format!("{whole}{fraction}").parse::<i64>().ok().filter(|n| (1..=STEP_BOUND).contains(n))?;
    Some(Step { unscaled, scale: u8::try_from(fraction.len()).ok()? })
}
