//! The normal form of JSON: keys by their length and then their bytes, of those that come twice the last, numbers as
//! `numeric` writes them, strings without needless escapes, and a blank behind each comma and colon.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use salver_model::limits::SQL_JSON_DEPTH_MAX;
use salver_text::json::{Text, blank_end, string_end};

use super::number::{self, Number};

/// Zeros that exponents may add to a document, beside twice its length.
const ZEROS: usize = 320;

/// Why a text is not `jsonb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Fault {
    /// It is not JSON.
    Invalid,
    /// A string has a zero character, which a text has not.
    Zero,
    /// It nests too deeply.
    Deep,
    /// Its numbers have exponents that make them too long.
    Long,
}

impl Fault {
    /// Returns the message about a text.
    pub(in crate::engine) fn about(self, text: &str) -> String {
        let shown: String = text.chars().take(60).collect();
        let shown = if shown.len() < text.len() { format!("{shown}...") } else { shown };
        match self {
            Self::Invalid => format!("`{shown}` is not JSON"),
            Self::Zero => format!("`{shown}` is not JSON of texts: `\\u0000` can't be in one"),
            Self::Deep => format!("`{shown}` is not JSON that nests at most {SQL_JSON_DEPTH_MAX} levels"),
            Self::Long => {
                format!("`{shown}` is not JSON to compute with: written out, its numbers are too long")
            }
        }
    }
}

/// Returns the normal form of a text.
///
/// # Errors
/// A text that has none.
pub(in crate::engine) fn normal(text: &str) -> Result<String, Fault> {
    written(text, false)
}

/// Returns a form that is the same for equal documents: in it numbers have no zeros at their end.
///
/// # Errors
/// A text that is not JSON.
pub(in crate::engine) fn comparable(text: &str) -> Result<String, Fault> {
    written(text, true)
}

fn written(text: &str, by_value: bool) -> Result<String, Fault> {
    let out = String::with_capacity(text.len() + text.len() / 8);
    let zeros = text.len().saturating_mul(2).saturating_add(ZEROS);
    let mut writer = Writer { text, at: 0, out, zeros, depth: 0, by_value };
    writer.value()?;
    match writer.peek() {
        None => Ok(writer.out),
        Some(_) => Err(Fault::Invalid),
    }
}

/// Returns the order in which keys stand.
pub(super) fn by_key(one: &str, other: &str) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

/// Appends a text as a string of JSON.
pub(super) fn write_string(text: &str, out: &mut String) {
    let is_plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        // Writing to memory cannot fail.
        out.push_str(&serde_json::to_string(text).unwrap_or_default());
    }
}

/// Reads a text from its beginning, and writes its normal form.
struct Writer<'a> {
    text: &'a str,
    at: usize,
    out: String,
    /// Zeros that exponents may still add.
    zeros: usize,
    depth: usize,
    by_value: bool,
}

impl<'a> Writer<'a> {
    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        self.at = blank_end(self.text.as_bytes(), self.at);
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips a sign if it is next.
    fn takes(&mut self, sign: u8) -> bool {
        let is_next = self.peek() == Some(sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self) -> Result<(), Fault> {
        match self.peek().ok_or(Fault::Invalid)? {
            sign @ (b'{' | b'[') => {
                self.depth += 1;
                if self.depth > SQL_JSON_DEPTH_MAX {
                    return Err(Fault::Deep);
                }
                self.at += 1;
                if sign == b'{' {
                    self.object()?
                } else {
                    self.array()?
                }
                self.depth -= 1;
                Ok(())
            }
            b'"' => {
                let text = self.string()?;
                write_string(&text, &mut self.out);
                Ok(())
            }
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Fault> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(Fault::Invalid);
        }
        self.at += word.len();
        self.out.push_str(word);
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        let (number, length) = Number::read(&self.text[self.at..]).ok_or(Fault::Invalid)?;
        self.at += length;
        number::write(number, self.by_value, &mut self.zeros, &mut self.out).ok_or(Fault::Long)
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Fault> {
        let bytes = self.text.as_bytes();
        let (end, is_escaped) = string_end(bytes, self.at).ok_or(Fault::Invalid)?;
        let raw = &bytes[self.at + 1..end - 1];
        self.at = end;
        let text = Text { raw, is_escaped }.checked().ok_or(Fault::Invalid)?;
        if is_escaped && text.contains('\0') { Err(Fault::Zero) } else { Ok(text) }
    }

    fn array(&mut self) -> Result<(), Fault> {
        self.out.push('[');
        let mut is_first = true;
        while !(is_first && self.takes(b']')) {
            self.value()?;
            is_first = false;
            if self.takes(b']') {
                break;
            }
            if !self.takes(b',') {
                return Err(Fault::Invalid);
            }
            self.out.push_str(", ");
        }
        self.out.push(']');
        Ok(())
    }

    fn object(&mut self) -> Result<(), Fault> {
        self.out.push('{');
        let begin = self.out.len();
        let mut members: Vec<(Cow<'a, str>, Range<usize>)> = Vec::new();
        while !(members.is_empty() && self.takes(b'}')) {
            if self.peek() != Some(b'"') {
                return Err(Fault::Invalid);
            }
            let start = self.out.len();
            let key = self.string()?;
            write_string(&key, &mut self.out);
            if !self.takes(b':') {
                return Err(Fault::Invalid);
            }
            self.out.push_str(": ");
            self.value()?;
            members.push((key, start - begin..self.out.len() - begin));
            if self.takes(b'}') {
                break;
            }
            if !self.takes(b',') {
                return Err(Fault::Invalid);
            }
            self.out.push_str(", ");
        }
        if !members.is_sorted_by(|one, next| by_key(&one.0, &next.0).is_lt()) {
            self.sort(begin, members);
        }
        self.out.push('}');
        Ok(())
    }

    /// Writes the members from `begin` on in their order, and the last of those with the same key.
    fn sort(&mut self, begin: usize, mut members: Vec<(Cow<'a, str>, Range<usize>)>) {
        let written = self.out.split_off(begin);
        members.sort_by(|one, other| by_key(&one.0, &other.0));
        for (number, (key, place)) in members.iter().enumerate() {
            if members.get(number + 1).is_some_and(|(next, _)| next == key) {
                continue;
            }
            if self.out.len() > begin {
                self.out.push_str(", ");
            }
            self.out.push_str(&written[place.clone()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, comparable, normal};

    #[test]
    fn the_form_is_that_of_jsonb() {
        for (text, wanted) in [
            (r#" {"bb":1,"a" : [1,2 ,{}],"":null} "#, r#"{"": null, "a": [1, 2, {}], "bb": 1}"#),
            (r#"{"a":1,"b":2,"a":3}"#, r#"{"a": 3, "b": 2}"#),
            (r#"{"b":1,"a":{"d":1,"c":2}}"#, r#"{"a": {"c": 2, "d": 1}, "b": 1}"#),
            (r#""\u00e9\/\u0001\ud83d\ude00\"""#, "\"é/\\u0001😀\\\"\""),
            ("[1e3, -0, -0.0, 1.50e1, 1E-5, 1.10, 0e-3]", "[1000, 0, 0.0, 15.0, 0.00001, 1.10, 0.000]"),
            ("[[], [ ], [true,false,null]]", "[[], [], [true, false, null]]"),
        ] {
            assert_eq!(normal(text).as_deref(), Ok(wanted), "{text}");
            assert_eq!(normal(wanted).as_deref(), Ok(wanted), "{wanted}");
        }
        assert_eq!(comparable("[1.0, 1.50, 0.0, 100]").as_deref(), Ok("[1, 1.5, 0, 100]"));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in ["", " ", "[1,]", "{a:1}", "{\"a\" 1}", "{\"a\":1,}", "01", "1.", ".5", "-", "1e", "NaN", "tru"] {
            assert_eq!(normal(text), Err(Fault::Invalid), "{text}");
        }
        for text in
            ["truex", "1 2", "\"a\tb\"", "\"\\ud83d\"", "\"\\x\"", "[", "{", "\"", "[1 2]", "]", "'a'", "\u{a0}1"]
        {
            assert_eq!(normal(text), Err(Fault::Invalid), "{text}");
        }
        assert_eq!(normal("\"\\u0000\""), Err(Fault::Zero));
        assert_eq!(normal("1e9999"), Err(Fault::Long));
        assert_eq!(normal("1e-9999"), Err(Fault::Long));
        assert_eq!(normal(&"[".repeat(100_000)), Err(Fault::Deep));
    }
}
