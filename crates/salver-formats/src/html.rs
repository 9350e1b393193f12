//! Text of others in HTML pages: escaped, without control characters, and unable to turn the text around it.

use std::borrow::Cow;

use crate::escape;

const OPENING: &[u8] = b"<bdi>";
const CLOSING: &[u8] = b"</bdi>";

/// Returns whether a character changes the direction of the text around it, without being visible itself.
fn is_directional(char: char) -> bool {
    matches!(char, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns `text` for a quoted attribute.
#[must_use]
pub fn attribute(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    escape::html(text.as_bytes(), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns `text` for the content of an element, where other text may stand beside it.
#[must_use]
pub fn content(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    escape::html(text.as_bytes(), &mut out);
    isolate(0, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns `text` for a place that has no elements, like the title of a page; characters that would turn the text
/// around it become U+FFFD.
pub(crate) fn undirected(text: &str) -> Cow<'_, str> {
    match text.contains(is_directional) {
        true => text.replace(is_directional, "\u{fffd}").into(),
        false => text.into(),
    }
}

/// Isolates the text that begins at `start`, if it would turn what stands beside it.
pub(crate) fn isolate(start: usize, out: &mut Vec<u8>) {
    // Most text is checked no further: what begins these characters in UTF-8 is rare.
    if memchr::memchr2(0xd8, 0xe2, &out[start..]).is_none() {
        return;
    }
    if String::from_utf8_lossy(&out[start..]).contains(is_directional) {
        out.splice(start..start, OPENING.iter().copied());
        out.extend_from_slice(CLOSING);
    }
}

#[cfg(test)]
mod tests {
    use super::{attribute, content, undirected};

    #[test]
    fn what_turns_text_is_isolated() {
        for turning in ["a\u{202e}b", "\u{2066}", "\u{61c}x", "\u{200f}"] {
            assert_eq!(content(turning), format!("<bdi>{turning}</bdi>"));
            assert_eq!(attribute(turning), turning);
        }
        assert_eq!(content("a\0<b>\u{202e}"), "<bdi>a\u{fffd}&lt;b&gt;\u{202e}</bdi>");
        for plain in ["", "abc", "…", "\u{5d0}", "\u{2028}", "\u{637}"] {
            assert_eq!(content(plain), plain);
        }
        assert_eq!(undirected("a\u{202e}b"), "a\u{fffd}b");
        assert_eq!(undirected("ab"), "ab");
    }
}
