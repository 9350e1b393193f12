//! Splits a query text into tokens. Keywords are case-insensitive; comments are skipped.

use salver_model::Value;
use salver_model::limits::AQL_TOKENS_MAX;
use salver_text::json::unescape;

use super::{Mistake, QUERY_PARSE, TOO_MUCH_NESTING};

/// Maximum length of the excerpt of a query that a message quotes, in bytes.
const REGION_BYTES: usize = 32;

/// A token of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    /// The kind of the token.
    pub(super) kind: TokenKind,
    /// The offset of its first byte in the text.
    pub(super) at: usize,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TokenKind {
    /// A keyword, in upper case.
    Keyword(&'static str),
    /// An identifier.
    Name(String),
    /// A string literal.
    Text(String),
    /// A number literal.
    Number(Value),
    /// `@name`
    Bound(String),
    /// `@@name`
    BoundCollection(String),
    /// An operator or punctuation.
    Sign(&'static str),
    /// The end of the text.
    End,
}

const KEYWORDS: [&str; 38] = [
    "FOR",
    "LET",
    "FILTER",
    "RETURN",
    "COLLECT",
    "SORT",
    "LIMIT",
    "WINDOW",
    "ASC",
    "DESC",
    "IN",
    "WITH",
    "INTO",
    "AGGREGATE",
    "GRAPH",
    "SHORTEST_PATH",
    "K_SHORTEST_PATHS",
    "K_PATHS",
    "ALL_SHORTEST_PATHS",
    "DISTINCT",
    "REMOVE",
    "INSERT",
    "UPDATE",
    "REPLACE",
    "UPSERT",
    "NULL",
    "TRUE",
    "FALSE",
    "NOT",
    "AND",
    "OR",
    "LIKE",
    "ANY",
    "ALL",
    "NONE",
    "OUTBOUND",
    "INBOUND",
    "SEARCH",
];

/// Longer signs come first, so that a prefix is not matched in place of the whole.
const SIGNS: [&str; 31] = [
    "...", "==", "!=", "<=", ">=", "=~", "!~", "&&", "||", "::", "..", "<", ">", "=", "!", "+", "-", "*", "/", "%",
    "?", ":", ",", "(", ")", "{", "}", "[", "]", ".", ";",
];

/// Splits `text` into tokens, the last of which is [`TokenKind::End`].
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Mistake> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks()?;
        let at = lexer.at;
        let kind = lexer.token()?;
        let is_end = kind == TokenKind::End;
        tokens.push(Token { kind, at });
        if tokens.len() > AQL_TOKENS_MAX {
            let message =
                format!("AQL: too much nesting or too many objects: more than {AQL_TOKENS_MAX} words and signs");
            return Err(Mistake::new(TOO_MUCH_NESTING, message));
        }
        if is_end {
            return Ok(tokens);
        }
    }
}

/// The syntax error at byte `at` of the text.
pub(super) fn syntax_error(text: &str, at: usize, what: &str) -> Mistake {
    Mistake::new(
        QUERY_PARSE,
        format!(
            "AQL: syntax error, {what} near '{}' at position {} (while parsing)",
            region(text, at),
            position(text, at)
        ),
    )
}

/// Returns the text at `at`, shortened.
fn region(text: &str, at: usize) -> String {
    let rest = text.get(at..).unwrap_or_default();
    let end = (0..=REGION_BYTES.min(rest.len())).rev().find(|end| rest.is_char_boundary(*end)).unwrap_or(0);
    let more = if end < rest.len() { "..." } else { "" };
    format!("{}{more}", &rest[..end])
}

/// Formats the line and column of `at`, counted from 1.
fn position(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    format!("{line}:{column}")
}

impl TokenKind {
    /// Returns its name in messages.
    pub(super) fn word(&self) -> String {
        match self {
            Self::Keyword(word @ ("ASC" | "DESC" | "IN" | "WITH" | "INTO" | "AGGREGATE" | "DISTINCT" | "GRAPH")) => {
                format!("{word} keyword")
            }
            Self::Keyword(word @ ("NULL" | "TRUE" | "FALSE")) => word.to_ascii_lowercase(),
            Self::Keyword(word @ ("NOT" | "AND" | "OR" | "LIKE")) => format!("{} operator", word.to_ascii_lowercase()),
            Self::Keyword(word @ ("INSERT" | "UPDATE" | "REMOVE" | "REPLACE" | "UPSERT")) => format!("{word} command"),
            Self::Keyword(word) => format!("{word} declaration"),
            Self::Name(_) => "identifier".to_owned(),
            Self::Text(_) => "quoted string".to_owned(),
            Self::Number(Value::Float(_)) => "number".to_owned(),
            Self::Number(_) => "integer number".to_owned(),
            Self::Bound(_) => "bind parameter".to_owned(),
            Self::BoundCollection(_) => "bind data source parameter".to_owned(),
            Self::Sign("=") => "assignment".to_owned(),
            Self::Sign("!") => "not operator".to_owned(),
            Self::Sign("&&") => "and operator".to_owned(),
            Self::Sign("||") => "or operator".to_owned(),
            Self::Sign(sign @ ("==" | "!=" | "<" | ">" | "<=" | ">=" | "=~" | "!~" | "+" | "-" | "*" | "/" | "%")) => {
                format!("{sign} operator")
            }
            Self::Sign(sign) => (*sign).to_owned(),
            Self::End => "end of query string".to_owned(),
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn wrong(&self, at: usize, what: &str) -> Mistake {
        syntax_error(self.text, at, what)
    }

    fn skip_blanks(&mut self) -> Result<(), Mistake> {
        loop {
            let rest = self.rest();
            let blanks = rest.len() - rest.trim_start().len();
            self.at += blanks;
            let rest = self.rest();
            if rest.starts_with("//") {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if rest.starts_with("/*") {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    None => return Err(self.wrong(self.at, "unexpected unterminated multi-line comment")),
                }
            } else if blanks == 0 {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Result<TokenKind, Mistake> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(TokenKind::End) };
        match first {
            '\'' | '"' => self.quoted(first).map(TokenKind::Text),
            '`' | '´' => self.quoted(first).map(TokenKind::Name),
            '0'..='9' => self.number(),
            '@' => self.bound(),
            _ if starts_name(first) => Ok(word(self.name())),
            _ => match SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
                Some(sign) => {
                    self.at += sign.len();
                    Ok(TokenKind::Sign(sign))
                }
                None => Err(self.wrong(self.at, "unexpected character")),
            },
        }
    }

    fn name(&mut self) -> &'t str {
        let rest = self.rest();
        let end = rest.find(|c: char| !starts_name(c) && !c.is_ascii_digit()).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn bound(&mut self) -> Result<TokenKind, Mistake> {
        let start = self.at;
        let signs = self.rest().len() - self.rest().trim_start_matches('@').len();
        self.at += signs;
        let name = self.name().to_owned();
        match (signs, name.is_empty()) {
            (1, false) => Ok(TokenKind::Bound(name)),
            (2, false) => Ok(TokenKind::BoundCollection(name)),
            _ => Err(self.wrong(start, "unexpected character")),
        }
    }

    fn number(&mut self) -> Result<TokenKind, Mistake> {
        let start = self.at;
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let rest = self.rest();
        let mut end = digits(rest);
        if rest[end..].starts_with('.') && digits(&rest[end + 1..]) > 0 {
            end += 1 + digits(&rest[end + 1..]);
        }
        if rest[end..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
            let exponent = digits(&rest[end + 1 + sign..]);
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        self.at += end;
        let follows = self.rest().chars().next().is_some_and(starts_name);
        match Value::exact_number(&rest[..end]) {
            Some(value) if !follows => Ok(TokenKind::Number(value)),
            _ => Err(self.wrong(start, "unexpected number")),
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, Mistake> {
        let start = self.at;
        self.at += quote.len_utf8();
        let mut text = String::new();
        loop {
            let Some(c) = self.next_char() else {
                return Err(self.wrong(start, "unexpected unterminated string literal"));
            };
            match c {
                c if c == quote => return Ok(text),
                '\\' => match self.escaped() {
                    Some(c) => text.push(c),
                    None => return Err(self.wrong(start, "unexpected escape sequence in string literal")),
                },
                c => text.push(c),
            }
        }
    }

    fn next_char(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Decodes the escape sequence after a backslash.
    fn escaped(&mut self) -> Option<char> {
        let escape = &self.text.as_bytes()[self.at - 1..];
        match unescape(escape) {
            Some((letter, length)) => {
                self.at += length - 1;
                Some(letter)
            }
            None if escape.get(1) == Some(&b'u') => None,
            // Other characters stand for themselves.
            None => self.next_char(),
        }
    }
}

fn starts_name(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

fn word(text: &str) -> TokenKind {
    match KEYWORDS.into_iter().find(|keyword| keyword.eq_ignore_ascii_case(text)) {
        Some(keyword) => TokenKind::Keyword(keyword),
        None => TokenKind::Name(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use salver_model::Value;

    use super::{TokenKind, tokens};

    fn kinds(text: &str) -> Vec<TokenKind> {
        tokens(text)
            .unwrap_or_else(|mistake| panic!("{}", mistake.message))
            .into_iter()
            .map(|token| token.kind)
            .collect()
    }

    #[test]
    fn tokens_of_every_kind() {
        let expected = vec![
            TokenKind::Keyword("FOR"),
            TokenKind::Name("d".into()),
            TokenKind::Sign("=="),
            TokenKind::Number(Value::Float(1.5e3)),
            TokenKind::Text("a\"\n\u{1F600}é".into()),
            TokenKind::Bound("v".into()),
            TokenKind::BoundCollection("c".into()),
            TokenKind::Name("a b".into()),
            TokenKind::End,
        ];
        let text = "for // comment\n d /* and\nanother */ == 1.5e3 'a\"\\n\\uD83D\\uDE00\\u00e9' @v @@c `a b`";
        assert_eq!(kinds(text), expected);
    }

    #[test]
    fn what_is_no_token_is_said_where_it_stands() {
        for (text, at) in [
            ("FOR #", "1:5"),
            ("\n 'open", "2:2"),
            ("/* open", "1:1"),
            ("1x", "1:1"),
            ("@@@x", "1:1"),
            ("'\\u12'", "1:1"),
            ("'\\u+041'", "1:1"),
            ("é", "1:1"),
        ] {
            let mistake = tokens(text).unwrap_err();
            assert_eq!(mistake.number, 1501, "{text}");
            assert!(mistake.message.contains(&format!("at position {at} (while parsing)")), "{}", mistake.message);
        }
    }
}
