//! Finds where statements end in text that comes line by line: at a `;` that is not part of a quoted text, a quoted
//! name or a comment.

/// What the text before is inside of.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Inside {
    Nothing,
    /// A text, in which a backslash may escape a quote.
    Text {
        has_escapes: bool,
    },
    Name,
    /// A comment to the end of the line.
    Line,
    /// Comments within comments.
    Block(u32),
    /// A text between `$tag$`.
    Dollars(String),
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// The text, without the `;`.
    pub(super) text: String,
    /// The line of the input that it begins on, from 1.
    pub(super) line: u64,
}

impl Statement {
    /// Returns the text with its `;`, which a comment at the end of the text must not swallow.
    pub(super) fn with_end(&self) -> String {
        let ends_in_comment = self.text.lines().last().is_some_and(|line| line.contains("--"));
        format!("{}{};", self.text, if ends_in_comment { "\n" } else { "" })
    }
}

/// Text that is read.
#[derive(Debug)]
pub(super) struct Statements {
    text: String,
    /// Bytes of it that were looked at.
    at: usize,
    inside: Inside,
    /// The first byte that is neither space nor comment.
    content: Option<usize>,
    /// The line of the input that the text begins on.
    line: u64,
}

impl Statements {
    pub(super) fn new() -> Self {
        Self { text: String::new(), at: 0, inside: Inside::Nothing, content: None, line: 1 }
    }

    /// Adds a line, without its end.
    pub(super) fn push(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Counts a line that is no part of a statement.
    pub(super) fn skip_line(&mut self) {
        self.line += 1;
    }

    /// Returns the bytes that wait for their end.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns whether nothing but space and comments waits for its end.
    pub(super) fn is_empty(&self) -> bool {
        self.content.is_none() && self.inside == Inside::Nothing
    }

    /// Forgets what waits.
    pub(super) fn clear(&mut self) {
        self.take(self.text.len());
    }

    /// Returns the next complete statement.
    pub(super) fn next(&mut self) -> Option<Statement> {
        while let Some(end) = self.find_end() {
            let (content, line) = (self.content, self.line);
            let text = self.take(end);
            if let Some(statement) = content.and_then(|content| statement(&text, content, line)) {
                return Some(statement);
            }
        }
        // What is done with, and not part of a statement, is not kept.
        if self.content.is_none() && self.inside == Inside::Nothing {
            self.take(self.text.len());
        }
        None
    }

    /// Returns the last statement, which has no `;`.
    pub(super) fn last(&mut self) -> Option<Statement> {
        let (content, line, end) = (self.content, self.line, self.text.len());
        let text = self.take(end);
        content.and_then(|content| statement(&text, content, line))
    }

    /// Takes the text up to `end`, and the `;` there.
    fn take(&mut self, end: usize) -> String {
        let rest = self.text.get(end + 1..).unwrap_or_default().to_owned();
        let mut taken = std::mem::replace(&mut self.text, rest);
        taken.truncate(end);
        self.line += taken.matches('\n').count() as u64;
        (self.at, self.inside, self.content) = (0, Inside::Nothing, None);
        taken
    }

    /// Looks at the text that was not looked at yet, up to a `;` that ends a statement, whose place it returns.
    fn find_end(&mut self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at).copied() {
            let (at, next) = (self.at, bytes.get(self.at + 1).copied());
            self.at += 1;
            match &mut self.inside {
                Inside::Text { has_escapes: true } if byte == b'\\' => self.at += 1,
                Inside::Text { .. } if byte == b'\'' => self.inside = Inside::Nothing,
                Inside::Name if byte == b'"' => self.inside = Inside::Nothing,
                Inside::Line if byte == b'\n' => self.inside = Inside::Nothing,
                Inside::Block(depth) => match (byte, next) {
                    (b'*', Some(b'/')) => {
                        self.at += 1;
                        *depth -= 1;
                        if *depth == 0 {
                            self.inside = Inside::Nothing;
                        }
                    }
                    (b'/', Some(b'*')) => {
                        self.at += 1;
                        *depth += 1;
                    }
                    _ => {}
                },
                Inside::Dollars(tag) if byte == b'$' && bytes[at..].starts_with(tag.as_bytes()) => {
                    self.at = at + tag.len();
                    self.inside = Inside::Nothing;
                }
                Inside::Text { .. } | Inside::Name | Inside::Line | Inside::Dollars(_) => {}
                Inside::Nothing => match (byte, next) {
                    (b';', _) => return Some(at),
                    (b'-', Some(b'-')) => self.inside = Inside::Line,
                    (b'/', Some(b'*')) => {
                        self.at += 1;
                        self.inside = Inside::Block(1);
                    }
                    (byte, _) if byte.is_ascii_whitespace() => {}
                    (byte, _) => {
                        self.content.get_or_insert(at);
                        self.inside = begun(bytes, at, byte);
                        if let Inside::Dollars(tag) = &self.inside {
                            self.at = at + tag.len();
                        }
                    }
                },
            }
        }
        self.at = self.text.len();
        None
    }
}

/// Returns what begins at a byte.
fn begun(bytes: &[u8], at: usize, byte: u8) -> Inside {
    let before = |back: usize| at.checked_sub(back).and_then(|at| bytes.get(at)).copied();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    match byte {
        b'\'' => {
            Inside::Text { has_escapes: matches!(before(1), Some(b'e' | b'E')) && !before(2).is_some_and(is_word) }
        }
        b'"' => Inside::Name,
        b'$' if !before(1).is_some_and(is_word) => {
            let rest = &bytes[at + 1..];
            let name = rest.iter().take_while(|byte| is_word(**byte)).count();
            // `$1$` is a parameter.
            let is_tag = rest.get(name) == Some(&b'$') && !rest.first().is_some_and(u8::is_ascii_digit);
            match std::str::from_utf8(&bytes[at..at + name + 2 - usize::from(!is_tag)]) {
                Ok(tag) if is_tag => Inside::Dollars(tag.to_owned()),
                _ => Inside::Nothing,
            }
        }
        _ => Inside::Nothing,
    }
}

/// Returns a statement without the space and comments before it.
fn statement(text: &str, content: usize, line: u64) -> Option<Statement> {
    let before = text.get(..content)?.matches('\n').count() as u64;
    Some(Statement { text: text.get(content..)?.trim_end().to_owned(), line: line + before })
}

#[cfg(test)]
mod tests {
    use super::{Statement, Statements};

    fn read(lines: &[&str]) -> (Vec<(String, u64)>, bool) {
        let (mut statements, mut all) = (Statements::new(), Vec::new());
        for line in lines {
            statements.push(line);
            while let Some(statement) = statements.next() {
                all.push((statement.text, statement.line));
            }
        }
        (all, statements.is_empty())
    }

    #[track_caller]
    fn check(lines: &[&str], expected: &[(&str, u64)], is_empty: bool) {
        let expected = expected.iter().map(|(text, line)| ((*text).to_owned(), *line)).collect();
        assert_eq!(read(lines), (expected, is_empty), "{lines:?}");
    }

    #[test]
    fn statements_end_at_semicolons_alone() {
        check(&["select 1;"], &[("select 1", 1)], true);
        check(&["select 1; select 2 ;select", "3;"], &[("select 1", 1), ("select 2", 1), ("select\n3", 1)], true);
        check(&["", "-- a;b", "/* ; /* ; */ ; */ select 1;"], &[("select 1", 3)], true);
        check(&["select ';', \"a;b\", 'it''s;' ;"], &[("select ';', \"a;b\", 'it''s;'", 1)], true);
        check(&["select e'\\';', E'a\\\\';"], &[("select e'\\';', E'a\\\\'", 1)], true);
        check(&["select name'\\';"], &[("select name'\\'", 1)], true);
        check(&["select $$;$$, $a$ ; $b$ $a$;"], &[("select $$;$$, $a$ ; $b$ $a$", 1)], true);
        check(&["select $1, $x;", "select a$b;"], &[("select $1, $x", 1), ("select a$b", 2)], true);
        check(&[";;", " ; -- x;"], &[], true);
        check(&["select 'a", ";"], &[], false);
        check(&["select 1", "/* ;"], &[], false);
        check(&["/*"], &[], false);
        check(&["select 'ü;' as \"ö\";"], &[("select 'ü;' as \"ö\"", 1)], true);
    }

    #[test]
    fn an_end_is_no_part_of_a_comment() {
        let ended = |text: &str| Statement { text: text.to_owned(), line: 1 }.with_end();
        assert_eq!(ended("select 1\n-- one"), "select 1\n-- one\n;");
        assert_eq!(ended("-- one\nselect 1"), "-- one\nselect 1;");
    }

    #[test]
    fn the_last_needs_none() {
        let mut statements = Statements::new();
        statements.push("select 1; -- one");
        statements.push(" select 2 ");
        assert_eq!(statements.next().map(|statement| statement.text), Some("select 1".to_owned()));
        assert_eq!(statements.next(), None);
        let last = statements.last().map(|statement| (statement.text, statement.line));
        assert_eq!(last, Some(("select 2".to_owned(), 2)));
        assert_eq!(statements.last(), None);
    }
}
