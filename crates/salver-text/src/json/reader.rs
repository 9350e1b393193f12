//! Pull reader of JSON text. Around what is entered, brackets, commas, colons and quotes must be in place; values that
//! are skipped are trusted, which is cheap. On invalid JSON its results are meaningless or empty, but it never panics
//! or loops forever.

use std::borrow::Cow;
use std::ops::Range;

use super::ending::Ending;
use super::escape::unescape;
use super::scan::{blank_end, string_end};

/// Position of the reader.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    is_lost: bool,
}

/// Raw text between the quotes of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    /// Its bytes, still escaped.
    pub raw: &'a [u8],
    /// Whether it has escapes, or control characters, which are not allowed.
    pub is_escaped: bool,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the beginning of a text.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, is_lost: false }
    }

    /// Returns the place of the reader in the text.
    #[must_use]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns whether something was not where it must be. The reader then is at the end of the text.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Returns the next byte that is not white space; `None` at the end.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        self.at = blank_end(self.text, self.at);
        self.text.get(self.at).copied()
    }

    /// Enters the next object or array, past its `{` or `[`.
    #[inline]
    pub fn enter(&mut self) {
        self.at += 1;
    }

    /// Reads the name of the next member of an object and stops before its value; `None` at the end of the object.
    #[inline]
    pub fn member(&mut self, is_first: &mut bool) -> Option<Text<'a>> {
        if !self.goes_on(b'}', is_first) {
            return None;
        }
        let name = self.string()?;
        self.colon()?;
        Some(name)
    }

    /// Skips the colon behind a name.
    #[inline]
    pub fn colon(&mut self) -> Option<()> {
        if self.peek() != Some(b':') {
            return self.give_up();
        }
        self.at += 1;
        Some(())
    }

    /// Returns whether the object has another member, and stops before its name.
    #[inline]
    pub fn name(&mut self, is_first: &mut bool) -> bool {
        self.goes_on(b'}', is_first)
    }

    /// Skips the next member's name and colon if they are exactly `lead`. Returns whether they were.
    #[inline]
    pub fn member_is(&mut self, lead: &[u8], is_first: bool) -> bool {
        let mut at = blank_end(self.text, self.at);
        if !is_first {
            if self.text.get(at) != Some(&b',') {
                return false;
            }
            at = blank_end(self.text, at + 1);
        }
        let is_it = self.text.get(at..).is_some_and(|rest| rest.starts_with(lead));
        if is_it {
            self.at = at + lead.len();
        }
        is_it
    }

    /// Returns whether the array has another element, and stops before it.
    #[inline]
    pub fn element(&mut self, is_first: &mut bool) -> bool {
        self.goes_on(b']', is_first)
    }

    #[inline]
    fn goes_on(&mut self, end: u8, is_first: &mut bool) -> bool {
        let first = std::mem::replace(is_first, false);
        match self.peek() {
            Some(byte) if byte == end => {
                self.at += 1;
                false
            }
            Some(b',') if !first => {
                self.at += 1;
                self.peek().is_some() || self.give_up::<()>().is_some()
            }
            Some(_) if first => true,
            _ => {
                self.give_up::<()>();
                false
            }
        }
    }

    fn give_up<T>(&mut self) -> Option<T> {
        self.at = self.text.len();
        self.is_lost = true;
        None
    }

    /// Reads a string.
    #[inline]
    pub fn string(&mut self) -> Option<Text<'a>> {
        if self.peek() != Some(b'"') {
            return self.give_up();
        }
        let Some((end, is_escaped)) = string_end(self.text, self.at) else { return self.give_up() };
        let raw = &self.text[self.at + 1..end - 1];
        self.at = end;
        Some(Text { raw, is_escaped })
    }

    /// Skips the next value and returns its text.
    #[inline]
    pub fn skip(&mut self) -> Option<&'a [u8]> {
        self.span().map(|span| &self.text[span])
    }

    /// Skips the next value and returns its place.
    #[inline]
    pub fn span(&mut self) -> Option<Range<usize>> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => _ = self.string()?,
            b'{' | b'[' => match Ending::default().find(self.text, start) {
                Some(end) => self.at = end,
                None => return self.give_up(),
            },
            _ => {
                let rest = &self.text[start..];
                let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b':' | b' ' | b'\t' | b'\n' | b'\r');
                self.at = start + rest.iter().position(is_end).unwrap_or(rest.len());
                if self.at == start {
                    return self.give_up();
                }
            }
        }
        Some(start..self.at)
    }
}

impl<'a> Text<'a> {
    /// Returns the unescaped bytes.
    #[must_use]
    pub fn unescaped(&self) -> Cow<'a, [u8]> {
        if !self.is_escaped {
            return Cow::Borrowed(self.raw);
        }
        let mut out = Vec::with_capacity(self.raw.len());
        self.unescape_into(&mut out);
        Cow::Owned(out)
    }

    /// Returns the unescaped text.
    #[must_use]
    pub fn to_text(self) -> Cow<'a, str> {
        match self.unescaped() {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Returns the unescaped text; `None` when it has control characters, malformed escapes, halves of surrogate pairs,
    /// or is not UTF-8.
    #[must_use]
    pub fn checked(&self) -> Option<Cow<'a, str>> {
        if !self.is_escaped {
            return std::str::from_utf8(self.raw).ok().map(Cow::Borrowed);
        }
        if self.raw.iter().any(|byte| *byte < 0x20) {
            return None;
        }
        let mut out = Vec::with_capacity(self.raw.len());
        self.unescape_with(&mut out, unescape)?;
        String::from_utf8(out).ok().map(Cow::Owned)
    }

    /// Appends the unescaped bytes. What is no escape becomes U+FFFD.
    pub fn unescape_into(&self, out: &mut Vec<u8>) {
        let lossy = |text: &[u8]| unescape(text).or(Some((char::REPLACEMENT_CHARACTER, unit_length(text))));
        let _ = self.unescape_with(out, lossy);
    }

    #[inline]
    fn unescape_with(&self, out: &mut Vec<u8>, read: impl Fn(&[u8]) -> Option<(char, usize)>) -> Option<()> {
        let mut rest = self.raw;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            out.extend_from_slice(&rest[..at]);
            let (letter, length) = read(&rest[at..])?;
            out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            rest = rest.get(at + length..).unwrap_or_default();
        }
        out.extend_from_slice(rest);
        Some(())
    }
}

/// Returns the length of what stands in the place of an escape.
fn unit_length(text: &[u8]) -> usize {
    if text.get(1) == Some(&b'u') { 6 } else { 2 }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::Reader;

    #[test]
    fn walks() {
        let mut reader = Reader::new(br#" { "a" : [1, {"x":"]}"} ,"\"]"] , "b\u0063\ud83d\ude00\n":-1e5}"#);
        assert_eq!(reader.peek(), Some(b'{'));
        reader.enter();
        let mut is_first = true;
        assert_eq!(reader.member(&mut is_first).expect("a member").to_text(), "a");
        assert_eq!(reader.skip(), Some(&br#"[1, {"x":"]}"} ,"\"]"]"#[..]));
        assert_eq!(reader.member(&mut is_first).expect("a member").to_text(), "bc😀\n");
        assert_eq!(reader.skip(), Some(&b"-1e5"[..]));
        assert_eq!(reader.member(&mut is_first), None);
        assert_eq!(reader.peek(), None);
    }

    #[test]
    fn what_is_not_in_its_place_is_noticed() {
        for bad in
            ["{\"a\" 1}", "{\"a\":1,}", "{\"a\":1,", "{\"a\":}", "{\"a\":1 \"b\":2}", "{1:2}", "{\"a\":1", "{\"a"]
        {
            let mut reader = Reader::new(bad.as_bytes());
            let mut is_first = true;
            reader.peek();
            reader.enter();
            while reader.member(&mut is_first).is_some() && reader.skip().is_some() {}
            assert!(reader.is_lost(), "{bad}");
        }
    }

    #[test]
    fn checked_strings() {
        let read = |text: &str| Reader::new(format!("\"{text}\"").as_bytes()).string()?.checked().map(Cow::into_owned);
        for text in ["", "a", "é", "a\\n\\u00e9\\/", "\\ud83d\\ude00", "\\u+041", "\\ud83d", "\\x", "\n", "\u{1}\\n"] {
            assert_eq!(read(text), serde_json::from_str(&format!("\"{text}\"")).ok(), "{text}");
        }
    }

    #[test]
    fn nonsense_ends() {
        let pieces = ["{", "}", "[", "]", "\"", "\\", ",", ":", "a", "1", " ", "\\u", "\\ud83d"];
        for seed in 0..20_000_usize {
            let mut text = String::new();
            let mut n = seed;
            while n > 0 {
                text.push_str(pieces[n % pieces.len()]);
                n /= pieces.len();
            }
            let mut reader = Reader::new(text.as_bytes());
            while reader.clone().peek().is_some() {
                let mut is_first = true;
                reader.enter();
                while let Some(name) = reader.member(&mut is_first) {
                    let _ = (name.unescaped(), name.checked());
                    reader.skip();
                }
                is_first = true;
                while reader.element(&mut is_first) {
                    reader.skip();
                }
            }
        }
    }
}
