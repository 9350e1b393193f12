//! The text of a mask to its expression.

use super::{MaskExpression, MaskPart, Step, TruncUnit};
use crate::error::{Code, Error, Result};
use crate::expression_text::{ExpressionText, Token};
use crate::limits::{MASK_BYTES_MAX, MASK_CHARS_MAX};
use crate::value::Value;

/// Most digits of a step behind the point.
const STEP_SCALE: usize = 6;
/// Bound of a step without its point.
const STEP_BOUND: i64 = 1_000_000_000_000_000;

struct MaskParser<'t> {
    column: &'t str,
    reader: ExpressionText<'t>,
}

pub(super) fn parse(column: &str, text: &str) -> Result<MaskExpression> {
    if text.len() > MASK_BYTES_MAX {
        return Err(Error::new(Code::Config, format!("a mask of `{column}` is longer than {MASK_BYTES_MAX} bytes"))
            .with_hint("say less in it"));
    }
    let mut parser = MaskParser { column, reader: ExpressionText::new(text, broken)? };
    let expression = parser.expression()?;
    parser.reader.end("the end")?;
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

impl<'t> MaskParser<'t> {
    fn expression(&mut self) -> Result<MaskExpression> {
        let first = self.term()?;
        let first = match first {
            MaskExpression::Text(part) => part,
            MaskExpression::Constant(Value::Text(text)) => vec![MaskPart::Text(text)],
            whole => return Ok(whole),
        };
        let mut parts = first;
        while self.reader.take_sign("||") {
            match self.term()? {
                MaskExpression::Text(part) => parts.extend(part),
                MaskExpression::Constant(Value::Text(text)) => match parts.last_mut() {
                    Some(MaskPart::Text(before)) => before.push_str(&text),
                    _ => parts.push(MaskPart::Text(text)),
                },
                _ => {
                    self.reader.back();
                    return Err(self.reader.unexpected("a text before this"));
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
        let Some(token) = self.reader.peek().cloned() else { return Err(self.reader.unexpected(wanted)) };
        let word = match token {
            Token::Text(text) => {
                self.reader.skip();
                return Ok(MaskExpression::Constant(Value::Text(text)));
            }
            Token::Number(digits) => {
                let number = Value::number(digits).filter(|number| !matches!(number, Value::UInt(_)));
                let number = number.ok_or_else(|| self.reader.unexpected("a number"))?;
                self.reader.skip();
                return Ok(MaskExpression::Constant(number));
            }
            Token::Word(word) => word.to_ascii_lowercase(),
            Token::Name(_) | Token::Sign(_) => return Err(self.reader.unexpected(wanted)),
        };
        let constant = match word.as_str() {
            "null" => Some(Value::Null),
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            "left" | "right" | "floor" | "trunc" => None,
            _ => return Err(self.reader.unexpected(wanted)),
        };
        self.reader.skip();
        if let Some(constant) = constant {
            return Ok(MaskExpression::Constant(constant));
        }
        self.reader.require("(")?;
        self.own_column()?;
        self.reader.require(",")?;
        let expression = match word.as_str() {
            "floor" => MaskExpression::Floor(self.step()?),
            "trunc" => MaskExpression::Trunc(self.unit()?),
            "left" => MaskExpression::Text(vec![MaskPart::Left(self.length()?)]),
            _ => MaskExpression::Text(vec![MaskPart::Right(self.length()?)]),
        };
        self.reader.require(")")?;
        Ok(expression)
    }

    /// Reads the name of the masked column. Of others a mask may not depend.
    fn own_column(&mut self) -> Result<()> {
        let is_own = match self.reader.peek() {
            Some(Token::Word(name) | Token::Name(name)) => *name == self.column,
            _ => false,
        };
        // A pattern is refused later, with a message of its own.
        let is_name = matches!(self.reader.peek(), Some(Token::Word(_) | Token::Name(_)));
        if is_own || is_name && self.column.contains('*') {
            self.reader.skip();
            return Ok(());
        }
        Err(self.reader.unexpected(&format!("`{}`, the column that is masked", self.column)))
    }

    fn number(&self) -> Option<&'t str> {
        match self.reader.peek() {
            Some(Token::Number(digits)) => Some(*digits),
            _ => None,
        }
    }

    fn length(&mut self) -> Result<u32> {
        let length = self.number().and_then(|digits| digits.parse::<u32>().ok());
        let Some(length) = length.filter(|length| *length <= MASK_CHARS_MAX) else {
            return Err(self.reader.unexpected(&format!("a number of characters from 0 to {MASK_CHARS_MAX}")));
        };
        self.reader.skip();
        Ok(length)
    }

    fn step(&mut self) -> Result<Step> {
        let Some(step) = self.number().and_then(step) else {
            return Err(self.reader.unexpected("a step like `1000` or `0.5`, from 0.000001 to 1000000000000000"));
        };
        self.reader.skip();
        Ok(step)
    }

    fn unit(&mut self) -> Result<TruncUnit> {
        let unit = match self.reader.peek() {
            Some(Token::Text(word)) => TruncUnit::ALL.iter().find(|(own, _)| own == word),
            _ => None,
        };
        let Some((_, unit)) = unit else { return Err(self.reader.unexpected("'year', 'month', 'day' or 'hour'")) };
        self.reader.skip();
        Ok(*unit)
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
