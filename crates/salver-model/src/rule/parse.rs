//! The text of a rule to its tree.

use super::{Expression, Term};
use crate::error::{Code, Error, Result};
use crate::expression_text::{ExpressionText, Token};
use crate::filter::Comparison;
use crate::limits::FILTER_DEPTH_MAX;
use crate::value::Value;

struct RuleParser<'t> {
    reader: ExpressionText<'t>,
    depth: usize,
}

pub(super) fn parse(text: &str) -> Result<Expression> {
    let mut parser = RuleParser { reader: ExpressionText::new(text, broken)?, depth: 0 };
    let expression = parser.any()?;
    parser.reader.end("`and`, `or` or the end")?;
    Ok(expression)
}

fn broken(text: &str, at: usize, why: &str) -> Error {
    let place = text.get(..at).map_or(at, |before| before.chars().count()) + 1;
    Error::new(Code::Config, format!("the rule `{text}` can't be read at character {place}: {why}"))
        .with_hint("a rule is like `user_id = caller.user and status != 'draft'`")
}

impl RuleParser<'_> {
    fn any(&mut self) -> Result<Expression> {
        let mut parts = vec![self.all()?];
        while self.reader.take_word("or") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Expression::Any))
    }

    fn all(&mut self) -> Result<Expression> {
        let mut parts = vec![self.not()?];
        while self.reader.take_word("and") {
            parts.push(self.not()?);
        }
        Ok(one_or(parts, Expression::All))
    }

    fn not(&mut self) -> Result<Expression> {
        self.depth += 1;
        if self.depth > FILTER_DEPTH_MAX {
            return Err(self.reader.refuse("it is nested too deeply"));
        }
        let expression = if self.reader.take_word("not") {
            Expression::Not(Box::new(self.not()?))
        } else if self.reader.take_sign("(") {
            let inner = self.any()?;
            self.reader.require(")")?;
            inner
        } else {
            self.comparison()?
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn comparison(&mut self) -> Result<Expression> {
        let left = self.term()?;
        if self.reader.take_word("is") {
            let negated = self.reader.take_word("not");
            if !self.reader.take_word("null") {
                return Err(self.reader.unexpected("`null`"));
            }
            return Ok(negated_if(negated, Expression::IsNull { term: left }));
        }
        let negated = self.reader.take_word("not");
        if self.reader.take_word("in") {
            self.reader.require("(")?;
            let mut list = vec![self.term()?];
            while self.reader.take_sign(",") {
                list.push(self.term()?);
            }
            self.reader.require(")")?;
            if list.iter().any(|term| matches!(term, Term::Column(_))) {
                return Err(self.reader.unexpected("literals or `caller.NAME` in the list"));
            }
            return Ok(negated_if(negated, Expression::In { term: left, list }));
        }
        if self.reader.take_word("like") {
            let Term::Literal(Value::Text(pattern)) = self.term()? else {
                return Err(self.reader.unexpected("a pattern in quotes before this"));
            };
            return Ok(negated_if(negated, Expression::Like { term: left, pattern }));
        }
        if negated {
            return Err(self.reader.unexpected("`in` or `like`"));
        }
        let op = self.operator()?;
        let right = self.term()?;
        if matches!((&left, &right), (Term::Column(_), Term::Column(_))) {
            return Err(self.reader.unexpected("a literal or `caller.NAME` on one side of the comparison"));
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
        let found = signs.iter().find(|(sign, _)| self.reader.take_sign(sign)).map(|(_, op)| *op);
        found.ok_or_else(|| self.reader.unexpected("a comparison like `=`"))
    }

    fn term(&mut self) -> Result<Term> {
        let Some(token) = self.reader.peek().cloned() else {
            return Err(self.reader.unexpected("a column, a literal or `caller.NAME`"));
        };
        let term = match token {
            Token::Text(text) => Term::Literal(Value::Text(text)),
            Token::Number(digits) => match Value::number(digits) {
                Some(value) => Term::Literal(value),
                None => return Err(self.reader.unexpected("a number")),
            },
            Token::Word(word) => match (word.to_ascii_lowercase().as_str(), word.strip_prefix("caller.")) {
                (_, Some(name)) if !name.is_empty() => Term::Caller(name.to_owned()),
                ("true", _) => Term::Literal(Value::Bool(true)),
                ("false", _) => Term::Literal(Value::Bool(false)),
                ("null", _) => Term::Literal(Value::Null),
                ("caller" | "and" | "or" | "not" | "in" | "is" | "like", _) => {
                    return Err(self.reader.unexpected("a column, a literal or `caller.NAME`"));
                }
                _ => Term::Column(word.to_owned()),
            },
            // Attributes may have names that are no words, like those of claims that are URLs.
            Token::Name(name) => match name.strip_prefix("caller.").filter(|name| !name.is_empty()) {
                Some(name) => Term::Caller(name.to_owned()),
                None => Term::Column(name.to_owned()),
            },
            Token::Sign(_) => return Err(self.reader.unexpected("a column, a literal or `caller.NAME`")),
        };
        self.reader.skip();
        Ok(term)
    }
}

fn one_or(mut parts: Vec<Expression>, many: fn(Vec<Expression>) -> Expression) -> Expression {
    if parts.len() == 1 { parts.remove(0) } else { many(parts) }
}

fn negated_if(negated: bool, expression: Expression) -> Expression {
    if negated { Expression::Not(Box::new(expression)) } else { expression }
}
