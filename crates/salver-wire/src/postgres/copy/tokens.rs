//! Reads the words of a `COPY` statement: names, texts in quotes, and what is wrong where another stands.

use std::iter::Peekable;

use super::literal;
use crate::postgres::refusal::Refusal;
use crate::postgres::statement_text::words;

/// What is wrong with the words of a statement.
pub(super) const SYNTAX_ERROR: &str = "42601";
/// What is wrong with the escapes of a text.
const WRONG_ESCAPE: &str = "22025";

/// Words that are no names unless they stand in double quotes: those that PostgreSQL 15 reserves.
const RESERVED: &str = " all analyse analyze and any array as asc asymmetric authorization binary both case cast check \
    collate collation column concurrently constraint create cross current_catalog current_date current_role \
    current_schema current_time current_timestamp current_user default deferrable desc distinct do else end except \
    false fetch for foreign freeze from full grant group having ilike in initially inner intersect into is isnull join \
    lateral leading left like limit localtime localtimestamp natural not notnull null offset on only or order outer \
    overlaps placing primary references returning right select session_user similar some symmetric table tablesample \
    then to trailing true union unique user using variadic verbose when where window with ";

/// A name as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name<'t> {
    /// As it is written, with its quotes.
    pub(super) written: &'t str,
    /// In lower case, or what stands in its quotes.
    pub(super) meant: String,
    /// Where it begins, in bytes.
    pub(super) at: usize,
}

impl Name<'_> {
    /// Returns whether it stands in quotes, and so means nothing but itself.
    pub(super) fn is_quoted(&self) -> bool {
        self.written.starts_with('"')
    }
}

/// The words of a statement that are not read yet.
pub(super) struct Tokens<'t> {
    text: &'t str,
    words: Peekable<Box<dyn Iterator<Item = (usize, &'t str)> + 't>>,
}

impl<'t> Tokens<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let words: Box<dyn Iterator<Item = (usize, &'t str)>> = Box::new(words(text));
        Self { text, words: words.peekable() }
    }

    /// Returns where the next word begins, in bytes; at the end that is the length of the text.
    pub(super) fn at(&mut self) -> usize {
        self.words.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    /// Returns the next word as it is written; empty at the end.
    pub(super) fn peek(&mut self) -> &'t str {
        self.words.peek().map_or("", |(_, word)| *word)
    }

    /// Reads the next word, whatever it is; empty at the end.
    pub(super) fn take(&mut self) -> &'t str {
        self.words.next().map_or("", |(_, word)| word)
    }

    /// Reads the next word if it is this, in any case.
    pub(super) fn is(&mut self, word: &str) -> bool {
        let is = self.peek().eq_ignore_ascii_case(word);
        if is {
            self.take();
        }
        is
    }

    /// Reads the next word, which must be this.
    ///
    /// # Errors
    /// `42601` if it is another.
    pub(super) fn expect(&mut self, word: &str) -> Result<(), Refusal> {
        if self.is(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Reads the name of a table or a column.
    ///
    /// # Errors
    /// `42601` if the next word is none, or is one that must stand in quotes to be one.
    pub(super) fn name(&mut self) -> Result<Name<'t>, Refusal> {
        let is_reserved = RESERVED.contains(&format!(" {} ", self.peek().to_ascii_lowercase()));
        if is_reserved { Err(self.unexpected()) } else { self.label() }
    }

    /// Reads a name that may also be a reserved word.
    ///
    /// # Errors
    /// `42601` if the next word is none.
    pub(super) fn label(&mut self) -> Result<Name<'t>, Refusal> {
        let (written, at) = (self.peek(), self.at());
        let meant = match written.chars().next() {
            Some('"') => literal::in_quotes(written, '"').filter(|name| !name.is_empty()),
            Some(first) if first.is_alphabetic() || first == '_' => {
                // A text with escapes begins with a letter, too.
                (!written.contains('\'')).then(|| written.to_lowercase())
            }
            _ => None,
        };
        let meant = meant.ok_or_else(|| self.unexpected())?;
        self.take();
        Ok(Name { written, meant, at })
    }

    /// Reads names with commas between them.
    ///
    /// # Errors
    /// `42601` if there are none.
    pub(super) fn names(&mut self) -> Result<Vec<Name<'t>>, Refusal> {
        let mut names = vec![self.name()?];
        while self.is(",") {
            names.push(self.name()?);
        }
        Ok(names)
    }

    /// Returns whether the next word is a text in quotes.
    pub(super) fn is_at_text(&mut self) -> bool {
        let word = self.peek();
        word.starts_with(['\'', '$']) && word.len() > 1 || word.contains('\'') && word.starts_with(['e', 'E'])
    }

    /// Reads a text in quotes.
    ///
    /// # Errors
    /// `42601` if the next word is none or does not end, and what is wrong with its escapes.
    pub(super) fn text(&mut self) -> Result<String, Refusal> {
        if !self.is_at_text() {
            return Err(self.unexpected());
        }
        match literal::text(self.peek()) {
            Ok(Some(text)) => {
                self.take();
                Ok(text)
            }
            Ok(None) => {
                let message = format!("unterminated quoted string at or near \"{}\"", self.peek());
                Err(self.refusal(SYNTAX_ERROR, message))
            }
            Err(message) => Err(self.refusal(WRONG_ESCAPE, message)),
        }
    }

    /// Returns the refusal of the next word.
    pub(super) fn unexpected(&mut self) -> Refusal {
        let near = match self.peek() {
            "" => "end of input".to_owned(),
            word => format!("or near \"{word}\""),
        };
        self.refusal(SYNTAX_ERROR, format!("syntax error at {near}"))
    }

    /// Returns a refusal of the next word with this message.
    pub(super) fn refusal(&mut self, state: &'static str, message: String) -> Refusal {
        let at = self.at();
        self.refusal_at(at, state, message)
    }

    /// Returns a refusal of what begins there, in bytes.
    pub(super) fn refusal_at(&self, at: usize, state: &'static str, message: String) -> Refusal {
        Refusal { position: Some(self.text[..at].chars().count() + 1), ..Refusal::new(state, message) }
    }
}

#[cfg(test)]
mod tests {
    use super::Tokens;

    #[test]
    fn names_are_words_or_in_quotes() {
        let meant = |text: &str| Tokens::of(text).name().map(|name| name.meant).map_err(|refusal| refusal.message);
        assert_eq!(meant("People x"), Ok("people".to_owned()));
        assert_eq!(meant("_a$1"), Ok("_a$1".to_owned()));
        assert_eq!(meant("\"A \"\"b\""), Ok("A \"b".to_owned()));
        assert_eq!(meant("\"select\""), Ok("select".to_owned()));
        assert_eq!(meant("éa"), Ok("éa".to_owned()));
        for (text, near) in [
            ("SELECT x", "or near \"SELECT\""),
            ("1a", "or near \"1a\""),
            ("'x'", "or near \"'x'\""),
            ("e'x'", "or near \"e'x'\""),
            ("\"\"", "or near \"\"\"\""),
            ("", "end of input"),
        ] {
            assert_eq!(meant(text), Err(format!("syntax error at {near}")), "{text}");
        }
    }

    #[test]
    fn positions_count_characters() {
        let mut tokens = Tokens::of("é 'ü' x");
        tokens.take();
        assert_eq!(tokens.text().unwrap(), "ü");
        assert_eq!(tokens.unexpected().position, Some(7));
        tokens.take();
        assert_eq!(tokens.unexpected().position, Some(8));
    }
}
