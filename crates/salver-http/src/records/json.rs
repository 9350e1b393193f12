//! A JSON parser that preserves the digits of numbers and the text of nested objects and arrays, as records need it.

use std::borrow::Cow;

use ahash::AHashMap;
use salver_model::limits::JSON_DEPTH_MAX;
use salver_model::records::{Field, Record};
use salver_text::json;

/// Maximum number of members that are scanned for repeated names; larger objects use an index.
pub(super) const SCANNED_MEMBERS: usize = 16;

/// A position in a JSON text. After an error the reader must not be used any more.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    text: &'a str,
    inner: json::Reader<'a>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, inner: json::Reader::new(text.as_bytes()) }
    }

    /// Parses all of `text` with `read`; `None` when anything is left over.
    pub(super) fn whole<T>(text: &'a str, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let mut reader = Self::new(text);
        let value = read(&mut reader)?;
        (reader.peek().is_none() && !reader.inner.is_lost()).then_some(value)
    }

    /// Skips white space and returns the next byte without consuming it.
    pub(super) fn peek(&mut self) -> Option<u8> {
        self.inner.peek()
    }

    fn enter(&mut self, bracket: u8) -> Option<()> {
        (self.peek()? == bracket).then(|| self.inner.enter())
    }

    /// Parses an object; `each` parses the value of every member.
    pub(super) fn object(&mut self, mut each: impl FnMut(&mut Self, Cow<'a, str>) -> Option<()>) -> Option<()> {
        self.enter(b'{')?;
        let mut is_first = true;
        while self.inner.name(&mut is_first) {
            let name = self.string()?;
            self.inner.colon()?;
            each(self, name)?;
        }
        (!self.inner.is_lost()).then_some(())
    }

    /// Parses an array; `each` parses every item.
    pub(super) fn array(&mut self, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.enter(b'[')?;
        let mut is_first = true;
        while self.inner.element(&mut is_first) {
            each(self)?;
        }
        (!self.inner.is_lost()).then_some(())
    }

    /// Parses and decodes a string.
    pub(super) fn string(&mut self) -> Option<Cow<'a, str>> {
        let text = self.inner.string()?;
        if text.is_escaped {
            return text.checked();
        }
        // Of a text that is UTF-8, so this needs no check.
        let end = self.inner.at() - 1;
        Some(Cow::Borrowed(&self.text[end - text.raw.len()..end]))
    }

    /// Parses a number or a word, and returns its text.
    fn bare(&mut self) -> Option<&'a str> {
        let text = &self.text[self.inner.span()?];
        (is_number(text) || matches!(text, "null" | "true" | "false")).then_some(text)
    }

    /// Skips one value, and returns its text.
    pub(super) fn skip(&mut self) -> Option<&'a str> {
        self.peek()?;
        let start = self.inner.at();
        self.pass(0)?;
        Some(&self.text[start..self.inner.at()])
    }

    fn pass(&mut self, depth: usize) -> Option<()> {
        (depth < JSON_DEPTH_MAX).then_some(())?;
        match self.peek()? {
            b'{' => self.object(|reader, _| reader.pass(depth + 1)),
            b'[' => self.array(|reader| reader.pass(depth + 1)),
            b'"' => self.string().map(|_| ()),
            _ => self.bare().map(|_| ()),
        }
    }

    /// Parses any value as a field.
    pub(super) fn field(&mut self) -> Option<Field> {
        Some(match self.peek()? {
            b'"' => Field::Text(self.string()?.into_owned()),
            b'{' | b'[' => Field::Json(self.skip()?.to_owned()),
            _ => match self.bare()? {
                "null" => Field::Null,
                "true" => Field::Bool(true),
                "false" => Field::Bool(false),
                number => Field::Number(number.to_owned()),
            },
        })
    }

    /// Parses an object as a record. Among members of the same name the last one wins.
    pub(super) fn record(&mut self) -> Option<Record> {
        let mut record = Record::new();
        let mut index: AHashMap<String, usize> = AHashMap::new();
        self.object(|reader, name| {
            let field = reader.field()?;
            let earlier = if record.len() <= SCANNED_MEMBERS {
                record.iter().position(|(own, _)| *own == *name)
            } else {
                if index.is_empty() {
                    index.extend(record.iter().enumerate().map(|(at, (own, _))| (own.clone(), at)));
                }
                let next = record.len();
                let at = *index.entry(name.clone().into_owned()).or_insert(next);
                (at < next).then_some(at)
            };
            match earlier {
                Some(at) => record[at].1 = field,
                None => record.push((name.into_owned(), field)),
            }
            Some(())
        })?;
        Some(record)
    }

    /// Parses an object or an array of objects. Returns the records, and whether it was an array.
    pub(super) fn records(&mut self, records_max: usize) -> Option<(Vec<Record>, bool)> {
        if self.peek()? != b'[' {
            return Some((vec![self.record()?], false));
        }
        let mut records = Vec::new();
        self.array(|reader| {
            records.push(reader.record()?);
            (records.len() <= records_max).then_some(())
        })?;
        Some((records, true))
    }
}

/// Returns whether `text` is a number in JSON's syntax.
fn is_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let whole = usize::from(bytes.first() == Some(&b'-'));
    let mut at = digits(whole);
    if at == whole || (bytes[whole] == b'0' && at > whole + 1) {
        return false;
    }
    if bytes.get(at) == Some(&b'.') {
        let fraction = at + 1;
        at = digits(fraction);
        if at == fraction {
            return false;
        }
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let power = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = digits(power);
        if at == power {
            return false;
        }
    }
    at == bytes.len()
}

#[cfg(test)]
mod tests {
    use salver_model::records::Field;

    use super::Reader;

    fn record(text: &str) -> Option<Vec<(String, Field)>> {
        Reader::whole(text, Reader::record)
    }

    #[test]
    fn digits_and_nested_texts_are_kept() {
        let read =
            record(r#" {"a":23.010,"b":12345678901234567890,"c":{"x": [1, 2]},"d":"A\/é","a":-0.5e+3,"e":null} "#);
        let expected = [
            ("a", Field::Number("-0.5e+3".into())),
            ("b", Field::Number("12345678901234567890".into())),
            ("c", Field::Json(r#"{"x": [1, 2]}"#.into())),
            ("d", Field::Text("A/é".into())),
            ("e", Field::Null),
        ];
        assert_eq!(read, Some(expected.map(|(name, field)| (name.to_owned(), field)).to_vec()));
    }

    #[test]
    fn many_members_with_repeats() {
        let members: Vec<String> = (0..100).map(|n| format!("\"c{}\":{n}", n % 50)).collect();
        let read = record(&format!("{{{}}}", members.join(","))).unwrap();
        assert_eq!(read.len(), 50);
        assert!(
            read.iter().enumerate().all(|(n, (name, field))| {
                *name == format!("c{n}") && *field == Field::Number((n + 50).to_string())
            })
        );
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for bad in [
            "",
            "{",
            "}",
            "{\"",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":01}",
            "{\"a\":1.}",
            "{\"a\":.5}",
            "{\"a\":1e}",
            "{\"a\":-}",
            "{\"a\":nul}",
            "{\"a\":\"\n\"}",
            "{\"a\":\"\u{1}\"}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"\\",
            "{\"a\":\"\\\"",
            "{\"a\":\"\\ud800\"}",
            "{\"a\":1}x",
            "[1]",
            "{a:1}",
            "{\"a\":+1}",
        ] {
            assert_eq!(record(bad), None, "{bad}");
        }
        assert_eq!(record(&format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200))), None);
    }

    #[test]
    fn reading_agrees_with_the_library() {
        let seeds =
            ["{\"a\":[1,{\"b\":\"x\\u00e9\"}],\"c\":-1.5e3,\"d\":true}", "[{\"a\":null},{}]", "{\"k\":\"\\\\\"}"];
        let mut state = 7_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for seed in seeds {
            for _ in 0..20_000 {
                let mut bytes = seed.as_bytes().to_vec();
                for _ in 0..=next(3) {
                    let at = next(bytes.len());
                    match next(3) {
                        0 => bytes[at] = b"{}[]\",:\\0123.eE+-ntf "[next(21)],
                        1 => drop(bytes.remove(at)),
                        _ => bytes.insert(at, b"{}[]\",:\\0123.eE+-ntf "[next(21)]),
                    }
                }
                let Ok(text) = String::from_utf8(bytes) else { continue };
                let ours = Reader::whole(&text, Reader::skip).is_some();
                let theirs = serde_json::from_str::<serde_json::Value>(&text);
                // serde_json stops at a number that is out of range, whatever follows.
                if theirs.as_ref().is_err_and(|error| error.to_string().contains("out of range")) {
                    continue;
                }
                assert_eq!(ours, theirs.is_ok(), "{text}");
            }
        }
    }
}
