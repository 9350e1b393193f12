//! Percent-encoding of parts of paths and URLs (RFC 3986), where `+` is a plus.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Characters that would end a path segment or need escaping in one.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Encodes `text` as a path segment.
#[must_use]
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, SEGMENT).to_string()
}

/// Decodes `text`. Malformed escapes stay as they are, and so does a text that is not UTF-8 when decoded.
#[must_use]
pub fn decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn escapes() {
        for (text, decoded) in [
            ("a%20b+c", "a b+c"),
            ("%C3%a9", "é"),
            ("%", "%"),
            ("%4", "%4"),
            ("%4x%", "%4x%"),
            ("%+1", "%+1"),
            ("%-1", "%-1"),
            ("%2541", "%41"),
            ("%ff%41", "%ff%41"),
            ("é", "é"),
        ] {
            assert_eq!(decode(text), decoded, "{text}");
        }
        assert_eq!(encode("a b/é-_.~%"), "a%20b%2F%C3%A9-_.~%25");
    }
}
