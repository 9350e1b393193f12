//! Fast reader of validated JSON text. It trusts the text, so that it can skip values cheaply. On invalid JSON its
//! results are meaningless or empty, but it never panics or loops forever.

use std::borrow::Cow;

use super::scan::{blank_end, plain_end};

/// Position of the reader.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

/// Raw text between the quotes of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text<'a> {
    pub(crate) raw: &'a [u8],
    pub(crate) is_escaped: bool,
}

impl<'a> Reader<'a> {
    /// Creates a reader at the beginning of a text.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next byte that is not white space; `None` at the end.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        self.at = blank_end(self.text, self.at);
        self.text.get(self.at).copied()
    }

    /// Enters the next object or array, past its `{` or `[`.
    #[inline]
    pub(crate) fn enter(&mut self) {
        self.at += 1;
    }

    /// Reads the name of the next member of an object and stops before its value; `None` at the end of the object.
    #[inline]
    pub(crate) fn member(&mut self, is_first: &mut bool) -> Option<Text<'a>> {
        if !self.goes_on(b'}', is_first) {
            return None;
        }
        let name = self.string();
        if name.is_none() || self.peek() != Some(b':') {
            return self.give_up();
        }
        self.at += 1;
        name
    }

    /// Skips the next member's name and colon if they are exactly `lead`. Returns whether they were.
    #[inline]
    pub(crate) fn member_is(&mut self, lead: &[u8], is_first: bool) -> bool {
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
    pub(crate) fn element(&mut self, is_first: &mut bool) -> bool {
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
                self.peek().is_some()
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
        None
    }

    /// Reads a string.
    #[inline]
    pub(crate) fn string(&mut self) -> Option<Text<'a>> {
        if self.peek() != Some(b'"') {
            return self.give_up();
        }
        let start = self.at + 1;
        let mut is_escaped = false;
        self.at = start;
        loop {
            self.at = plain_end(self.text, self.at);
            match self.text.get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    is_escaped = true;
                    self.at += 2;
                }
                Some(_) => self.at += 1,
                None => return self.give_up(),
            }
        }
        let raw = &self.text[start..self.at];
        self.at += 1;
        Some(Text { raw, is_escaped })
    }

    /// Skips the next value and returns its text.
    #[inline]
    pub(crate) fn skip(&mut self) -> Option<&'a [u8]> {
        let first = self.peek()?;
        let start = self.at;
        match first {
            b'"' => _ = self.string()?,
            b'{' | b'[' => self.skip_nested()?,
            _ => {
                let rest = &self.text[start..];
                let is_end = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b':' | b' ' | b'\t' | b'\n' | b'\r');
                self.at = start + rest.iter().position(is_end).unwrap_or(rest.len());
                if self.at == start {
                    return self.give_up();
                }
            }
        }
        Some(&self.text[start..self.at])
    }

    fn skip_nested(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.text.get(self.at) {
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => depth -= 1,
                Some(_) => {}
                None => return self.give_up(),
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }
}

impl<'a> Text<'a> {
    /// Returns the unescaped bytes.
    pub(crate) fn unescaped(&self) -> Cow<'a, [u8]> {
        if !self.is_escaped {
            return Cow::Borrowed(self.raw);
        }
        let mut out = Vec::with_capacity(self.raw.len());
        self.unescape_into(&mut out);
        Cow::Owned(out)
    }

    /// Returns the unescaped text.
    pub(crate) fn to_text(self) -> Cow<'a, str> {
        match self.unescaped() {
            Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Appends the unescaped bytes.
    pub(crate) fn unescape_into(&self, out: &mut Vec<u8>) {
        let mut rest = self.raw;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            out.extend_from_slice(&rest[..at]);
            let (byte, tail) = match rest.get(at + 1) {
                Some(b'b') => (8, at + 2),
                Some(b'f') => (12, at + 2),
                Some(b'n') => (b'\n', at + 2),
                Some(b'r') => (b'\r', at + 2),
                Some(b't') => (b'\t', at + 2),
                Some(b'u') => {
                    let (letter, length) = unescape_code(&rest[at..]);
                    out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                    rest = rest.get(at + length..).unwrap_or_default();
                    continue;
                }
                Some(other) => (*other, at + 2),
                None => (b'\\', at + 1),
            };
            out.push(byte);
            rest = &rest[tail..];
        }
        out.extend_from_slice(rest);
    }
}

/// Returns the character of `\uXXXX` or of a surrogate pair, and the length of its escape.
fn unescape_code(text: &[u8]) -> (char, usize) {
    let code = |at: usize| {
        let digits = text.get(at..at + 4).and_then(|digits| std::str::from_utf8(digits).ok())?;
        u32::from_str_radix(digits, 16).ok()
    };
    let high = code(2).unwrap_or(0xfffd);
    if let 0xd800..=0xdbff = high
        && text.get(6..8) == Some(b"\\u")
        && let Some(low @ 0xdc00..=0xdfff) = code(8)
    {
        let letter = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(letter).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

#[cfg(test)]
mod tests {
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
                    name.unescaped();
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
