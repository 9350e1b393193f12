//! Forms and query strings, `name=value&name=value`: percent-encoded, where `+` is a space. The crate
//! `form_urlencoded` replaces what is not UTF-8, which most users of this module refuse.

use std::borrow::Cow;
use std::str::Utf8Error;

use percent_encoding::percent_decode;

/// Splits a form into names and values, still encoded. A name without `=` has an empty value; empty pairs are skipped.
pub fn pairs(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")))
}

/// Decodes a name or a value. Malformed escapes stay as they are.
///
/// # Errors
/// When it is not UTF-8.
pub fn decode(text: &str) -> Result<Cow<'_, str>, Utf8Error> {
    match bytes(text) {
        Cow::Borrowed(_) => Ok(Cow::Borrowed(text)),
        Cow::Owned(bytes) => String::from_utf8(bytes).map(Cow::Owned).map_err(|error| error.utf8_error()),
    }
}

/// Decodes a name or a value to bytes of any kind.
#[must_use]
pub fn bytes(text: &str) -> Cow<'_, [u8]> {
    if !text.bytes().any(|byte| matches!(byte, b'+' | b'%')) {
        return Cow::Borrowed(text.as_bytes());
    }
    let spaced: Vec<u8> = text.bytes().map(|byte| if byte == b'+' { b' ' } else { byte }).collect();
    Cow::Owned(percent_decode(&spaced).collect())
}

#[cfg(test)]
mod tests {
    use super::{bytes, decode, pairs};

    #[test]
    fn names_and_values() {
        let found: Vec<_> = pairs("a=1&&b&=c&d=e=f&").collect();
        assert_eq!(found, [("a", "1"), ("b", ""), ("", "c"), ("d", "e=f")]);
        assert_eq!(pairs("").count(), 0);
    }

    #[test]
    fn escapes() {
        for (text, decoded) in
            [("a+b%2B%20c", "a b+ c"), ("%C3%a9", "é"), ("%+1", "% 1"), ("%4", "%4"), ("%2541", "%41"), ("é", "é")]
        {
            assert_eq!(decode(text).as_deref(), Ok(decoded), "{text}");
        }
        assert!(decode("%FF").is_err());
        assert_eq!(*bytes("%FF+"), *b"\xff ");
    }
}
