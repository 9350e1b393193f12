//! Search for the end of a value whose text may come in pieces. It counts brackets and skips strings, and checks
//! nothing else: where an invalid value ends is arbitrary. Large files and every skipped value go through it, which is
//! why it knows less of the grammar than `event/skim.rs` of `salver-streams`.

use super::scan::{plain_end, string_end};

/// State between two pieces.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ending {
    depth: usize,
    in_text: bool,
    behind_backslash: bool,
    has_begun: bool,
}

impl Ending {
    /// Continues at `at` in the next piece, first at the first byte of the value. Returns the end of the value; `None`
    /// when the piece ends before. The end of a number or word is the byte behind it, which the text may lack; so a
    /// value whose end is its beginning is none.
    #[inline]
    pub fn find(&mut self, text: &[u8], mut at: usize) -> Option<usize> {
        self.has_begun |= at < text.len();
        if self.in_text {
            at = self.text_end(text, at)?;
            if self.depth == 0 {
                return Some(at);
            }
        }
        let mut depth = std::mem::take(&mut self.depth);
        loop {
            match text.get(at) {
                Some(b'"') => {
                    let Some((end, _)) = string_end(text, at) else {
                        (self.depth, self.in_text) = (depth, true);
                        return self.text_end(text, at + 1);
                    };
                    at = end;
                    if depth == 0 {
                        return Some(at);
                    }
                    continue;
                }
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                Some(b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n') if depth == 0 => return Some(at),
                Some(_) => {}
                None => {
                    self.depth = depth;
                    return None;
                }
            }
            at += 1;
        }
    }

    /// Returns whether the value would be incomplete if the text ended here.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.depth > 0 || self.in_text || !self.has_begun
    }

    /// Returns the place behind the closing quote.
    fn text_end(&mut self, text: &[u8], mut at: usize) -> Option<usize> {
        loop {
            if self.behind_backslash {
                text.get(at)?;
                at += 1;
            }
            at = plain_end(text, at);
            self.behind_backslash = false;
            let byte = *text.get(at)?;
            at += 1;
            if byte == b'"' {
                self.in_text = false;
                return Some(at);
            }
            self.behind_backslash = byte == b'\\';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Ending;

    #[test]
    fn in_pieces_of_any_size() {
        let values = [
            "{}",
            "[1,[\"]\\\"}\",{}]]",
            "\"a\\\\\"",
            "\"\\\"\n\"",
            "-1.5e3",
            "null",
            "{\"a\":\"b\\u0041,\",\"c\":[]}",
        ];
        for value in values {
            let text = format!("{value} ,");
            for size in 1..=text.len() {
                let mut ending = Ending::default();
                assert!(ending.is_open());
                let found = text.as_bytes().chunks(size).enumerate().find_map(|(index, piece)| {
                    let end = ending.find(piece, 0)?;
                    Some(index * size + end)
                });
                assert_eq!(found, Some(value.len()), "{value} by {size}");
                assert!(!ending.is_open());
            }
        }
    }

    #[test]
    fn what_does_not_end() {
        for (text, is_open) in [("", true), ("{\"a\":1", true), ("\"a\\\"", true), ("[[]", true), ("12", false)] {
            let mut ending = Ending::default();
            assert_eq!(ending.find(text.as_bytes(), 0), None, "{text}");
            assert_eq!(ending.is_open(), is_open, "{text}");
        }
        assert_eq!(Ending::default().find(b"}}", 0), Some(0));
    }
}
