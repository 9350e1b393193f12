//! Finds the statements of a text and their words, as PostgreSQL's lexer does
//! (<https://www.postgresql.org/docs/16/sql-syntax-lexical.html>): what stands in quotes or comments separates nothing.

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// White space or a comment.
    Space,
    /// A word, a number or a name, without quotes.
    Word,
    /// Anything in quotes, with them.
    Quoted,
    /// A semicolon.
    End,
    /// Any other character.
    Other,
}

/// Returns the statements of a text, without the semicolons between them. Those without a word are left out.
pub(super) fn statements(text: &str) -> Vec<&str> {
    let (mut found, mut begin, mut has_words) = (Vec::new(), 0, false);
    for (piece, at, end) in pieces(text) {
        match piece {
            Piece::Space => {}
            Piece::End => {
                if has_words {
                    found.push(&text[begin..at]);
                }
                (begin, has_words) = (end, false);
            }
            Piece::Word | Piece::Quoted | Piece::Other => has_words = true,
        }
    }
    if has_words {
        found.push(&text[begin..]);
    }
    found
}

/// Returns the words, quoted texts and other characters of a statement, each with the place where it begins.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    pieces(text).filter(|(piece, ..)| *piece != Piece::Space).map(|(_, at, end)| (at, &text[at..end]))
}

/// Returns the largest number of a parameter (`$1`) in a statement, 0 if it has none; `None` if it might have others.
pub(super) fn largest_parameter(text: &str) -> Option<usize> {
    let mut largest = 0;
    let mut words = words(text).peekable();
    while let Some((at, word)) = words.next() {
        match word {
            "?" => return None,
            "$" => {
                let number =
                    words.peek().filter(|(next, _)| *next == at + 1).map(|(_, number)| number.parse::<usize>());
                largest = largest.max(number?.ok().filter(|number| *number > 0)?);
            }
            _ => {}
        }
    }
    Some(largest)
}

/// Returns the pieces of a text in order, with their first byte and the one after the last.
fn pieces(text: &str) -> impl Iterator<Item = (Piece, usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        let (piece, length) = piece(rest);
        let begin = at;
        at += length;
        Some((piece, begin, at))
    })
}

/// Returns the first piece of a text that is not empty, and its length.
fn piece(text: &str) -> (Piece, usize) {
    let bytes = text.as_bytes();
    let first = bytes[0];
    match first {
        b';' => (Piece::End, 1),
        b'-' if bytes.get(1) == Some(&b'-') => (Piece::Space, text.find('\n').unwrap_or(text.len())),
        b'/' if bytes.get(1) == Some(&b'*') => (Piece::Space, comment(bytes)),
        b'\'' => (Piece::Quoted, quoted(bytes, b'\'', false)),
        b'"' => (Piece::Quoted, quoted(bytes, b'"', false)),
        b'e' | b'E' if bytes.get(1) == Some(&b'\'') => (Piece::Quoted, 1 + quoted(&bytes[1..], b'\'', true)),
        b'$' => dollars(text).map_or((Piece::Other, 1), |length| (Piece::Quoted, length)),
        _ => {
            let char = text.chars().next().unwrap_or_default();
            if char.is_whitespace() {
                (Piece::Space, run(text, char::is_whitespace))
            } else if is_of_word(char) {
                (Piece::Word, run(text, is_of_word))
            } else {
                (Piece::Other, char.len_utf8())
            }
        }
    }
}

fn is_of_word(char: char) -> bool {
    char.is_alphanumeric() || matches!(char, '_' | '$')
}

/// Returns the length of the characters at the beginning that are such.
fn run(text: &str, is_such: impl Fn(char) -> bool) -> usize {
    text.find(|char| !is_such(char)).unwrap_or(text.len())
}

/// Returns the length of a text in quotes, in which a quote is written twice, or after a backslash.
fn quoted(bytes: &[u8], quote: u8, has_escapes: bool) -> usize {
    let mut at = 1;
    while at < bytes.len() {
        if bytes[at] == b'\\' && has_escapes {
            at += 2;
        } else if bytes[at] != quote {
            at += 1;
        } else if bytes.get(at + 1) == Some(&quote) {
            at += 2;
        } else {
            return at + 1;
        }
    }
    bytes.len()
}

/// Returns the length of a comment, in which there may be others.
fn comment(bytes: &[u8]) -> usize {
    let (mut at, mut depth) = (2, 1);
    while at < bytes.len() && depth > 0 {
        match bytes.get(at..at + 2) {
            Some(b"/*") => (at, depth) = (at + 2, depth + 1),
            Some(b"*/") => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    at
}

/// Returns the length of a text between two equal tags like `$$` or `$tag$`; `None` if it does not begin with one.
fn dollars(text: &str) -> Option<usize> {
    let name = run(&text[1..], |char| char.is_alphanumeric() || char == '_');
    let is_number = text[1..].starts_with(|char: char| char.is_ascii_digit());
    let tag = text.get(..name + 2).filter(|tag| tag.ends_with('$') && !is_number)?;
    Some(text[tag.len()..].find(tag).map_or(text.len(), |end| end + 2 * tag.len()))
}

#[cfg(test)]
mod tests {
    use super::{largest_parameter, statements, words};

    #[test]
    fn statements_end_at_semicolons_that_count() {
        assert_eq!(statements("select 1"), ["select 1"]);
        assert_eq!(statements("begin; select 1 ;; -- no; more\n;"), ["begin", " select 1 "]);
        for whole in [
            "select ';', \"a;b\", e'\\';', 'it''s;'",
            "select /* a; /* b; */ c; */ 1",
            "select $$;$$, $t$ $$ ; $t$",
            "select 1 -- ; the end",
            "select 'open;",
            "select /* open;",
            "select $x$ open;",
        ] {
            assert_eq!(statements(whole), [whole]);
        }
        assert_eq!(statements("select '\\'; select 2"), ["select '\\'", " select 2"]);
        assert_eq!(statements("select $1;select $2"), ["select $1", "select $2"]);
        assert!(statements(" ; /* nothing */ ; -- at all").is_empty());
    }

    #[test]
    fn parameters_have_numbers() {
        for (text, wanted) in [
            ("select 1", Some(0)),
            ("select $1, '$3', $2::text -- $4", Some(2)),
            ("select $$ $7 $$", Some(0)),
            ("select a$5", Some(0)),
            ("select $name", None),
            ("select $0", None),
            ("select $ 1", None),
            ("select ?", None),
            ("select $99999999999999999999", None),
        ] {
            assert_eq!(largest_parameter(text), wanted, "{text}");
        }
    }

    #[test]
    fn words_of_a_statement() {
        let found: Vec<_> = words("SET  \"Time Zone\"/**/ TO 'utc'").map(|(_, word)| word).collect();
        assert_eq!(found, ["SET", "\"Time Zone\"", "TO", "'utc'"]);
    }
}
