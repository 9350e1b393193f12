//! The text of a rule to its tree.

use super::{Expression, Term};
use crate::error::{Code, Error, Result};
use crate::filter::Comparison;
use crate::limits::FILTER_DEPTH_MAX;
use crate::value::Value;

#[derive(Clone, Debug, PartialEq)]
enum RuleToken<'t> {
    Word(&'t str),
    Text(String),
    Number(&'t str),
    Sign(&'t str),
}

struct RuleParser<'t> {
    text: &'t str,
    tokens: Vec<(usize, RuleToken<'t>)>,
    at: usize,
    depth: usize,
}

pub(super) fn parse(text: &str) -> Result<Expression> {
    let mut reader = RuleParser { text, tokens: tokens(text)?, at: 0, depth: 0 };
    let expression = reader.any()?;
    if reader.at < reader.tokens.len() {
        return Err(reader.unexpected("`and`, `or` or the end"));
    }
    Ok(expression)
}

fn broken(text: &str, at: usize, why: &str) -> Error {
    Error::new(Code::Config, format!("the rule `{text}` can't be read at character {}: {why}", at + 1))
        .with_hint("a rule is like `user_id = caller.user and status != 'draft'`")
}

fn tokens(text: &str) -> Result<Vec<(usize, RuleToken<'_>)>> {
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
                RuleToken::Text(value)
            }
            b'"' => {
                let length = text[at + 1..].find('"').ok_or_else(|| broken(text, at, "the quote is not closed"))?;
                at += length + 2;
                RuleToken::Word(&text[start + 1..at - 1])
            }
            b'0'..=b'9' | b'-' | b'+' => {
                at = run(at + 1, &|b| b.is_ascii_alphanumeric() || b == b'.');
                RuleToken::Number(&text[start..at])
            }
            b if b.is_ascii_alphabetic() || b == b'_' || b >= 0x80 => {
                at = run(at, &|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.' || b >= 0x80);
                RuleToken::Word(&text[start..at])
            }
            _ => {
                at += if ["!=", "<>", "<=", ">="].iter().any(|sign| text[at..].starts_with(sign)) { 2 } else { 1 };
                if !text.is_char_boundary(at) {
                    return Err(broken(text, start, "this character has no meaning here"));
                }
                RuleToken::Sign(&text[start..at])
            }
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
            return Ok((value, at));
        }
        value.push('\'');
        at += 1;
    }
}

impl<'t> RuleParser<'t> {
    fn any(&mut self) -> Result<Expression> {
        let mut parts = vec![self.all()?];
        while self.take_word("or") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expression::Any))
    }

    fn all(&mut self) -> Result<Expression> {
        let mut parts = vec![self.not()?];
        while self.take_word("and") {
            parts.push(self.not()?);
        }
        Ok(one_or(parts, Expression::All))
    }

    fn not(&mut self) -> Result<Expression> {
        self.depth += 1;
        if self.depth > FILTER_DEPTH_MAX {
            return Err(broken(self.text, 0, "it is nested too deeply"));
        }
        let expression = if self.take_word("not") {
            Expression::Not(Box::new(self.not()?))
        } else if self.take_sign("(") {
            let inner = self.any()?;
            self.require(")")?;
            inner
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn comparison(&mut self) -> Result<Expression> {
        let left = self.term()?;
        if self.take_word("is") {
            let negated = self.take_word("not");
            if !self.take_word("null") {
                return Err(self.unexpected("`null`"));
            }
            return Ok(negated_if(negated, Expression::IsNull { term: left }));
        }
        let negated = self.take_word("not");
        if self.take_word("in") {
            self.require("(")?;
            let mut list = vec![self.term()?];
            while self.take_sign(",") {
                list.push(self.term()?);
            }
            self.require(")")?;
            if list.iter().any(|term| matches!(term, Term::Column(_))) {
                return Err(self.unexpected("literals or `caller.NAME` in the list"));
            }
            return Ok(negated_if(negated, Expression::In { term: left, list }));
        }
        if self.take_word("like") {
            let Term::Literal(Value::Text(pattern)) = self.term()? else {
                return Err(self.unexpected("a pattern in quotes before this"));
            };
            return Ok(negated_if(negated, Expression::Like { term: left, pattern }));
        }
        if negated {
            return Err(self.unexpected("`in` or `like`"));
        }
        let op = self.operator()?;
        let right = self.term()?;
        if matches!((&left, &right), (Term::Column(_), Term::Column(_))) {
            return Err(self.unexpected("a literal or `caller.NAME` on one side of the comparison"));
        }
        Ok(Expression::Compare { left, op, right })
    }

    fn operator(&mut self) -> Result<Comparison> {
        let signs = [
            ("=", Comparison::Eq),
            ("!=", Comparison::NotEq),
            ("<>", Comparison::NotEq),
            ("<", Comparison::Lt),
            ("<=", Comparison::LtEq),
            (">", Comparison::Gt),
            (">=", Comparison::GtEq),
        ];
        let found = signs.iter().find(|(sign, _)| self.take_sign(sign)).map(|(_, op)| *op);
        found.ok_or_else(|| self.unexpected("a comparison like `=`"))
    }

    fn term(&mut self) -> Result<Term> {
        let Some((_, token)) = self.tokens.get(self.at).cloned() else {
            return Err(self.unexpected("a column, a literal or `caller.NAME`"));
        };
        let term = match token {
            RuleToken::Text(text) => Term::Literal(Value::Text(text)),
            RuleToken::Number(digits) => match Value::number(digits) {
                Some(value) => Term::Literal(value),
                None => return Err(self.unexpected("a number")),
            },
            RuleToken::Word(word) => match (word.to_ascii_lowercase().as_str(), word.strip_prefix("caller.")) {
                (_, Some(name)) if !name.is_empty() => Term::Caller(name.to_owned()),
                ("true", _) => Term::Literal(Value::Bool(true)),
                ("false", _) => Term::Literal(Value::Bool(false)),
                ("null", _) => Term::Literal(Value::Null),
                ("caller" | "and" | "or" | "not" | "in" | "is" | "like", _) => {
                    return Err(self.unexpected("a column, a literal or `caller.NAME`"));
                }
                _ => Term::Column(word.to_owned()),
            },
            RuleToken::Sign(_) => return Err(self.unexpected("a column, a literal or `caller.NAME`")),
        };
        self.at += 1;
        Ok(term)
    }

    fn take_word(&mut self, wanted: &str) -> bool {
        let found =
            matches!(self.tokens.get(self.at), Some((_, RuleToken::Word(word))) if word.eq_ignore_ascii_case(wanted));
        self.at += usize::from(found);
        found
    }

    fn take_sign(&mut self, wanted: &str) -> bool {
        let found = matches!(self.tokens.get(self.at), Some((_, RuleToken::Sign(sign))) if *sign == wanted);
        self.at += usize::from(found);
        found
    }

    fn require(&mut self, sign: &str) -> Result<()> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> Error {
        let at = self.tokens.get(self.at).map_or(self.text.len(), |(at, _)| *at);
        broken(self.text, at, &format!("expected {wanted}"))
    }
}

fn one_or(mut parts: Vec<Expression>, many: fn(Vec<Expression>) -> Expression) -> Expression {
    if parts.len() == 1 { parts.remove(0) } else { many(parts) }
}

fn negated_if(negated: bool, expression: Expression) -> Expression {
    if negated { Expression::Not(Box::new(expression)) } else { expression }
}
