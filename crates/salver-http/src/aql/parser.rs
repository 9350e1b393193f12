//! Parses tokens to a statement.

use salver_model::Value;
use salver_model::limits::{COLUMN_PARTS_MAX, FILTER_DEPTH_MAX, FILTER_TERMS_MAX, LIST_ITEMS_MAX};

use super::lexer::{Token, TokenKind, syntax_error, tokens};
use super::syntax::{Answer, Collection, Expression, Operand, Operator, Path, SortKey, Statement};
use super::{Mistake, NOT_IMPLEMENTED, QUERY_EMPTY, READ_ONLY, TOO_MUCH_NESTING, VARIABLE_NAME_UNKNOWN};

/// Parses a statement.
pub(crate) fn parse(text: &str) -> Result<Statement, Mistake> {
    let tokens = tokens(text)?;
    if matches!(tokens.as_slice(), [Token { kind: TokenKind::End, .. }]) {
        return Err(Mistake::new(QUERY_EMPTY, "query is empty"));
    }
    let mut parser = Parser { text, tokens, next: 0, variable: String::new(), depth: 0, terms: 0 };
    parser.statement()
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    next: usize,
    /// The name of the FOR variable.
    variable: String,
    depth: usize,
    terms: usize,
}

impl Parser<'_> {
    fn statement(&mut self) -> Result<Statement, Mistake> {
        self.with()?;
        match self.peek() {
            TokenKind::Keyword("FOR") => self.skip(),
            TokenKind::Keyword("RETURN") => return Err(self.not_here("a query that does not begin with FOR")),
            _ => return Err(self.other_clause()),
        }
        self.variable = self.name()?;
        if self.is_sign(",") {
            return Err(self.not_here("FOR with several variables"));
        }
        self.keyword("IN")?;
        let collection = self.collection()?;
        let (mut filters, mut sort, mut limit) = (Vec::new(), Vec::new(), None);
        loop {
            match *self.peek() {
                TokenKind::Keyword("RETURN") => break,
                TokenKind::Keyword("FILTER" | "SORT" | "LIMIT") if limit.is_some() => {
                    return Err(self.not_here("a clause behind LIMIT"));
                }
                TokenKind::Keyword("FILTER") => {
                    self.skip();
                    filters.push(self.either()?);
                }
                TokenKind::Keyword("SORT") if sort.is_empty() => {
                    self.skip();
                    sort = self.sort()?;
                }
                TokenKind::Keyword("LIMIT") => {
                    self.skip();
                    limit = Some(self.limit()?);
                }
                _ => return Err(self.other_clause()),
            }
        }
        self.skip();
        let distinct = self.take_keyword("DISTINCT");
        let answer = self.answer()?;
        self.take_sign(";");
        match self.peek() {
            TokenKind::End => Ok(Statement { collection, filters, sort, limit, answer, distinct }),
            _ => Err(self.unexpected()),
        }
    }

    /// Skips `WITH a, b`, which declares collections for clusters and has no effect here.
    fn with(&mut self) -> Result<(), Mistake> {
        if self.take_keyword("WITH") {
            loop {
                self.collection()?;
                self.take_sign(",");
                if !matches!(self.peek(), TokenKind::Name(_) | TokenKind::BoundCollection(_)) {
                    break;
                }
            }
        }
        Ok(())
    }

    fn collection(&mut self) -> Result<Collection, Mistake> {
        let collection = match self.peek() {
            TokenKind::Name(name) => Collection::Name(name.clone()),
            TokenKind::BoundCollection(name) => Collection::Bound(name.clone()),
            TokenKind::Sign("[" | "(") | TokenKind::Number(_) | TokenKind::Bound(_) => {
                return Err(self.not_here("FOR over anything but a collection"));
            }
            TokenKind::Keyword("OUTBOUND" | "INBOUND" | "ANY") => return Err(self.not_here("a graph traversal")),
            _ => return Err(self.unexpected()),
        };
        self.skip();
        if self.is_sign("(") || self.is_sign(".") || self.is_sign("[") {
            return Err(self.not_here("FOR over anything but a collection"));
        }
        Ok(collection)
    }

    fn sort(&mut self) -> Result<Vec<SortKey>, Mistake> {
        let mut keys = Vec::new();
        loop {
            if matches!(self.peek(), TokenKind::Keyword("NULL")) {
                // `SORT null` means no order.
                self.skip();
            } else {
                let path = self.path()?;
                let descending = !self.take_keyword("ASC") && self.take_keyword("DESC");
                keys.push(SortKey { path, descending });
                if keys.len() > LIST_ITEMS_MAX {
                    return Err(too_much(&format!("SORT has more than {LIST_ITEMS_MAX} keys")));
                }
            }
            self.count_term()?;
            if !self.take_sign(",") {
                return Ok(keys);
            }
        }
    }

    fn limit(&mut self) -> Result<(Operand, Operand), Mistake> {
        let first = self.count()?;
        if self.take_sign(",") { Ok((first, self.count_or_all()?)) } else { Ok((Operand::Value(Value::Int(0)), first)) }
    }

    /// Parses a number, or `null` for no limit, which some drivers send.
    fn count_or_all(&mut self) -> Result<Operand, Mistake> {
        if *self.peek() == TokenKind::Keyword("NULL") {
            self.skip();
            return Ok(Operand::Value(Value::Null));
        }
        self.count()
    }

    fn count(&mut self) -> Result<Operand, Mistake> {
        let operand = match self.peek() {
            TokenKind::Number(value) => Operand::Value(value.clone()),
            TokenKind::Bound(name) => Operand::Bound(name.clone()),
            _ => return Err(self.unexpected()),
        };
        self.skip();
        Ok(operand)
    }

    fn answer(&mut self) -> Result<Answer, Mistake> {
        match self.peek().clone() {
            TokenKind::Sign("{") => self.object(),
            TokenKind::Name(name) if *self.kind(1) == TokenKind::Sign("(") => self.call(&name),
            TokenKind::Name(_) => {
                let path = self.path_or_variable()?;
                Ok(if path.is_empty() { Answer::Document } else { Answer::Field(path) })
            }
            TokenKind::Sign("[" | "(" | "-" | "+" | "!")
            | TokenKind::Text(_)
            | TokenKind::Number(_)
            | TokenKind::Bound(_) => Err(self.not_here("RETURN of anything but fields of the document")),
            _ => Err(self.unexpected()),
        }
    }

    /// Parses `{a: d.x, "b": d.y}`.
    fn object(&mut self) -> Result<Answer, Mistake> {
        self.skip();
        let mut fields = Vec::new();
        while !self.take_sign("}") {
            let name = match self.peek() {
                TokenKind::Name(name) | TokenKind::Text(name) => name.clone(),
                TokenKind::Keyword(_) => self.written(),
                _ => return Err(self.unexpected()),
            };
            self.skip();
            self.sign(":")?;
            fields.push((name, self.path()?));
            if fields.len() > LIST_ITEMS_MAX {
                return Err(too_much(&format!("RETURN has more than {LIST_ITEMS_MAX} members")));
            }
            self.count_term()?;
            if !self.take_sign(",") {
                self.sign("}")?;
                break;
            }
        }
        Ok(Answer::Object(fields))
    }

    /// Parses `KEEP(d, "a", ["b", "c"])` and `UNSET(..)`.
    fn call(&mut self, name: &str) -> Result<Answer, Mistake> {
        let make = match name.to_ascii_uppercase().as_str() {
            "KEEP" => Answer::Keep,
            "UNSET" => Answer::Unset,
            _ => return Err(self.not_here(&format!("the function {name}()"))),
        };
        self.skip();
        self.skip();
        if !self.path_or_variable()?.is_empty() {
            return Err(self.not_here(&format!("{name}() of anything but the document")));
        }
        let mut names = Vec::new();
        while self.take_sign(",") {
            names.push(self.operand()?);
            self.count_term()?;
        }
        self.sign(")")?;
        Ok(make(names))
    }

    fn either(&mut self) -> Result<Expression, Mistake> {
        self.depth += 1;
        if self.depth > FILTER_DEPTH_MAX {
            return Err(too_much(&format!("conditions nest deeper than {FILTER_DEPTH_MAX} levels")));
        }
        let mut all = vec![self.both()?];
        while self.take_sign("||") || self.take_keyword("OR") {
            all.push(self.both()?);
        }
        self.depth -= 1;
        Ok(one_or(all, Expression::Or))
    }

    fn both(&mut self) -> Result<Expression, Mistake> {
        let mut all = vec![self.negatable()?];
        while self.take_sign("&&") || self.take_keyword("AND") {
            all.push(self.negatable()?);
        }
        Ok(one_or(all, Expression::And))
    }

    fn negatable(&mut self) -> Result<Expression, Mistake> {
        let mut is_negated = false;
        while self.take_sign("!") || self.take_keyword("NOT") {
            is_negated = !is_negated;
        }
        let inner = self.comparison()?;
        Ok(if is_negated { Expression::Not(Box::new(inner)) } else { inner })
    }

    fn comparison(&mut self) -> Result<Expression, Mistake> {
        self.count_term()?;
        if self.take_sign("(") {
            let inner = self.either()?;
            self.sign(")")?;
            return Ok(inner);
        }
        let left = self.operand()?;
        let is_negated = matches!(self.kind(1), TokenKind::Keyword("IN" | "LIKE")) && self.take_keyword("NOT");
        let operator = match self.peek() {
            TokenKind::Sign("==") => Operator::Eq,
            TokenKind::Sign("!=") => Operator::NotEq,
            TokenKind::Sign("<") => Operator::Lt,
            TokenKind::Sign("<=") => Operator::LtEq,
            TokenKind::Sign(">") => Operator::Gt,
            TokenKind::Sign(">=") => Operator::GtEq,
            TokenKind::Keyword("IN") => Operator::In,
            TokenKind::Keyword("LIKE") => Operator::Like,
            TokenKind::Sign("+" | "-" | "*" | "/" | "%" | "?" | ".." | "=~" | "!~") => {
                return Err(self.not_here(&format!("the operator {}", self.written())));
            }
            _ => return Ok(Expression::Truth(left)),
        };
        self.skip();
        let right = self.operand()?;
        if matches!(self.peek(), TokenKind::Sign("+" | "-" | "*" | "/" | "%" | "?" | "..")) {
            return Err(self.not_here(&format!("the operator {}", self.written())));
        }
        let compared = Expression::Compare(left, operator, right);
        Ok(if is_negated { Expression::Not(Box::new(compared)) } else { compared })
    }

    fn operand(&mut self) -> Result<Operand, Mistake> {
        let operand = match self.peek().clone() {
            TokenKind::Text(text) => Operand::Value(Value::Text(text)),
            TokenKind::Number(value) => Operand::Value(value),
            TokenKind::Bound(name) => Operand::Bound(name),
            TokenKind::Keyword("NULL") => Operand::Value(Value::Null),
            TokenKind::Keyword("TRUE") => Operand::Value(Value::Bool(true)),
            TokenKind::Keyword("FALSE") => Operand::Value(Value::Bool(false)),
            TokenKind::Sign("[") => return self.list(),
            TokenKind::Sign(sign @ ("-" | "+")) => return self.signed(sign),
            TokenKind::Name(name) if *self.kind(1) == TokenKind::Sign("(") => {
                return Err(self.not_here(&format!("the function {name}()")));
            }
            TokenKind::Name(_) => return self.path().map(Operand::Path),
            _ => return Err(self.unexpected()),
        };
        self.skip();
        Ok(operand)
    }

    fn signed(&mut self, sign: &str) -> Result<Operand, Mistake> {
        self.skip();
        let TokenKind::Number(value) = self.peek().clone() else { return Err(self.not_here("arithmetic")) };
        self.skip();
        let value = if sign == "-" { Value::exact_number(&format!("-{value}")).unwrap_or(value) } else { value };
        Ok(Operand::Value(value))
    }

    fn list(&mut self) -> Result<Operand, Mistake> {
        self.skip();
        let mut operands = Vec::new();
        while !self.take_sign("]") {
            if self.is_sign("[") {
                return Err(self.not_here("a list in a list"));
            }
            operands.push(self.operand()?);
            self.count_term()?;
            if !self.take_sign(",") {
                self.sign("]")?;
                break;
            }
        }
        Ok(Operand::List(operands))
    }

    /// Parses a field of the document.
    fn path(&mut self) -> Result<Path, Mistake> {
        let at = self.next;
        let path = self.path_or_variable()?;
        if path.is_empty() {
            self.next = at;
            return Err(self.not_here("the document as a value"));
        }
        Ok(path)
    }

    /// Parses a field of the document, or the document itself, which is an empty path.
    fn path_or_variable(&mut self) -> Result<Path, Mistake> {
        let TokenKind::Name(name) = self.peek().clone() else { return Err(self.unexpected()) };
        if name != self.variable {
            let message = format!("AQL: unknown variable '{name}' (while parsing)");
            return Err(Mistake::new(VARIABLE_NAME_UNKNOWN, message));
        }
        self.skip();
        let mut path = Path::new();
        loop {
            if path.len() > COLUMN_PARTS_MAX {
                return Err(too_much(&format!("a field has more than {COLUMN_PARTS_MAX} parts")));
            }
            if self.take_sign(".") {
                let name = match self.peek() {
                    TokenKind::Name(name) => name.clone(),
                    TokenKind::Keyword(_) => self.written(),
                    _ => return Err(self.unexpected()),
                };
                self.skip();
                path.push(name);
            } else if self.is_sign("[") {
                let TokenKind::Text(name) = self.kind(1).clone() else {
                    return Err(self.not_here("an index into a list"));
                };
                self.skip();
                self.skip();
                self.sign("]")?;
                path.push(name);
            } else {
                return Ok(path);
            }
        }
    }

    fn name(&mut self) -> Result<String, Mistake> {
        let TokenKind::Name(name) = self.peek().clone() else { return Err(self.unexpected()) };
        self.skip();
        Ok(name)
    }

    fn count_term(&mut self) -> Result<(), Mistake> {
        self.terms += 1;
        if self.terms > FILTER_TERMS_MAX {
            return Err(too_much(&format!("there are more than {FILTER_TERMS_MAX} terms")));
        }
        Ok(())
    }

    fn peek(&self) -> &TokenKind {
        self.kind(0)
    }

    /// Returns the kind of the token that is `ahead` tokens after the next one.
    fn kind(&self, ahead: usize) -> &TokenKind {
        self.tokens.get(self.next + ahead).map_or(&TokenKind::End, |token| &token.kind)
    }

    fn at(&self) -> usize {
        self.tokens.get(self.next).map_or(self.text.len(), |token| token.at)
    }

    /// Returns the source text of the next token.
    fn written(&self) -> String {
        let end = self.tokens.get(self.next + 1).map_or(self.text.len(), |token| token.at);
        let written = self.text.get(self.at()..end).unwrap_or_default();
        written.split(|c: char| c.is_whitespace()).next().unwrap_or_default().to_owned()
    }

    fn skip(&mut self) {
        self.next += 1;
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), TokenKind::Sign(own) if *own == sign)
    }

    fn take_sign(&mut self, sign: &str) -> bool {
        let is_it = self.is_sign(sign);
        self.next += usize::from(is_it);
        is_it
    }

    fn sign(&mut self, sign: &str) -> Result<(), Mistake> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn take_keyword(&mut self, word: &str) -> bool {
        let is_it = matches!(self.peek(), TokenKind::Keyword(own) if *own == word);
        self.next += usize::from(is_it);
        is_it
    }

    fn keyword(&mut self, word: &str) -> Result<(), Mistake> {
        if self.take_keyword(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> Mistake {
        syntax_error(self.text, self.at(), &format!("unexpected {}", self.peek().word()))
    }

    /// The error for a clause that is misplaced or not supported.
    fn other_clause(&self) -> Mistake {
        match self.peek() {
            TokenKind::Keyword(word @ ("INSERT" | "UPDATE" | "REMOVE" | "REPLACE" | "UPSERT")) => {
                Mistake::new(READ_ONLY, format!("AQL: {word} would write, and queries only read"))
            }
            TokenKind::Keyword("SORT") => self.not_here("a second SORT"),
            TokenKind::Keyword(word @ ("FOR" | "LET" | "COLLECT" | "WINDOW" | "SEARCH")) => self.not_here(word),
            _ => self.unexpected(),
        }
    }

    /// The error for valid AQL that is not supported.
    fn not_here(&self, what: &str) -> Mistake {
        let place = syntax_error(self.text, self.at(), "");
        let place = place.message.split_once(" near ").map_or("", |(_, place)| place).to_owned();
        let message = format!(
            "AQL: {what} is not understood here, near {place}; understood is FOR d IN collection FILTER .. SORT .. \
             LIMIT .. RETURN d, d.field, {{..}}, KEEP(d, ..) or UNSET(d, ..); whatever else there is to ask can be \
             asked in SQL"
        );
        Mistake::new(NOT_IMPLEMENTED, message)
    }
}

/// The error for a query that exceeds a limit on size or nesting.
fn too_much(what: &str) -> Mistake {
    Mistake::new(TOO_MUCH_NESTING, format!("AQL: too much nesting or too many objects: {what} (while parsing)"))
}

fn one_or(mut all: Vec<Expression>, join: impl FnOnce(Vec<Expression>) -> Expression) -> Expression {
    match (all.len(), all.pop()) {
        (1, Some(only)) => only,
        (_, Some(last)) => {
            all.push(last);
            join(all)
        }
        (_, None) => join(all),
    }
}
