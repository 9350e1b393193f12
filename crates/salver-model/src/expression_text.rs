//! The text of expressions in settings, token by token: what rules and masks have in common.

use crate::error::{Error, Result};

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token<'t> {
    /// A keyword, or a name.
    Word(&'t str),
    /// A name in double quotes.
    Name(&'t str),
    /// A text in single quotes, in which a quote was doubled.
    Text(String),
    /// Digits with a sign or a point, or what looks like it.
    Number(&'t str),
    /// One of the signs, or any other character.
    Sign(&'t str),
}

/// Signs of two characters; all others have one.
const LONG_SIGNS: [&str; 5] = ["!=", "<>", "<=", ">=", "||"];

/// Returns the error for a text that can't be read: the text, the place in bytes, and why.
pub(crate) type Broken = fn(&str, usize, &str) -> Error;

/// The tokens of a text, of which some were read.
#[derive(Debug)]
pub(crate) struct ExpressionText<'t> {
    text: &'t str,
    broken: Broken,
    tokens: Vec<(usize, Token<'t>)>,
    at: usize,
}

impl<'t> ExpressionText<'t> {
    /// Splits `text`.
    ///
    /// # Errors
    /// That of `broken`.
    pub(crate) fn new(text: &'t str, broken: Broken) -> Result<Self> {
        let tokens = tokens(text).map_err(|(at, why)| broken(text, at, why))?;
        Ok(Self { text, broken, tokens, at: 0 })
    }

    /// Returns the next token, if there is one.
    pub(crate) fn peek(&self) -> Option<&Token<'t>> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    /// Goes on to the token after the next.
    pub(crate) fn skip(&mut self) {
        self.at += 1;
    }

    /// Goes back to the token before the next.
    pub(crate) fn back(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    /// Takes the next token if it is this word, in whatever case.
    pub(crate) fn take_word(&mut self, wanted: &str) -> bool {
        let is_found = matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(wanted));
        self.at += usize::from(is_found);
        is_found
    }

    /// Takes the next token if it is this sign.
    pub(crate) fn take_sign(&mut self, wanted: &str) -> bool {
        let is_found = matches!(self.peek(), Some(Token::Sign(sign)) if *sign == wanted);
        self.at += usize::from(is_found);
        is_found
    }

    /// Takes this sign.
    ///
    /// # Errors
    /// If something else comes.
    pub(crate) fn require(&mut self, sign: &str) -> Result<()> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}`"))) }
    }

    /// Checks that nothing follows.
    ///
    /// # Errors
    /// If something does where `wanted` could stand.
    pub(crate) fn end(&self, wanted: &str) -> Result<()> {
        if self.peek().is_none() { Ok(()) } else { Err(self.unexpected(wanted)) }
    }

    /// Returns the error for something else than `wanted`.
    pub(crate) fn unexpected(&self, wanted: &str) -> Error {
        let at = self.tokens.get(self.at).map_or(self.text.len(), |(at, _)| *at);
        (self.broken)(self.text, at, &format!("expected {wanted}"))
    }

    /// Returns the error for the text as a whole.
    pub(crate) fn refuse(&self, why: &str) -> Error {
        (self.broken)(self.text, 0, why)
    }
}

/// Returns the tokens with their places in bytes, or the place of what is none, and why.
fn tokens(text: &str) -> std::result::Result<Vec<(usize, Token<'_>)>, (usize, &'static str)> {
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
                Token::Text(value)
            }
            b'"' => {
                let length = text[at + 1..].find('"').ok_or((at, "the quote is not closed"))?;
                at += length + 2;
                Token::Name(&text[start + 1..at - 1])
            }
            b'0'..=b'9' | b'-' | b'+' => {
                at = run(at + 1, &|b| b.is_ascii_alphanumeric() || b == b'.');
                Token::Number(&text[start..at])
            }
            b if b.is_ascii_alphabetic() || b == b'_' || b >= 0x80 => {
                at = run(at, &|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.' || b >= 0x80);
                Token::Word(&text[start..at])
            }
            _ => {
                at += if LONG_SIGNS.iter().any(|sign| text[at..].starts_with(sign)) { 2 } else { 1 };
                Token::Sign(&text[start..at])
            }
        };
        tokens.push((start, token));
    }
    Ok(tokens)
}

/// Reads a quoted text, and returns it with its end.
fn quoted(text: &str, start: usize) -> std::result::Result<(String, usize), (usize, &'static str)> {
    let (mut value, mut at) = (String::new(), start + 1);
    loop {
        let length = text[at..].find('\'').ok_or((start, "the quote is not closed"))?;
        value.push_str(&text[at..at + length]);
        at += length + 1;
        if !text[at..].starts_with('\'') {
            break;
        }
        value.push('\'');
        at += 1;
    }
    // No text of PostgreSQL has it.
    if value.contains('\0') { Err((start, "a text can't have NUL")) } else { Ok((value, at)) }
}
