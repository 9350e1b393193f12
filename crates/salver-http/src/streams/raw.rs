//! Splits JSON without decoding it: the text of a member is passed on byte for byte, with its numbers and escapes.

use std::borrow::Cow;
use std::ops::Range;

use salver_text::json::{Ending, Reader};
use serde::de::IgnoredAny;

/// Returns whether `text` is a single JSON value, as [`members`] and [`elements`] require.
pub(super) fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// Returns the members of an object; `None` for any other value.
pub(super) fn members(text: &[u8]) -> Option<Vec<(Cow<'_, str>, Range<usize>)>> {
    let mut reader = opened(text, b'{')?;
    let (mut found, mut is_first) = (Vec::new(), true);
    while let Some(name) = reader.member(&mut is_first) {
        found.push((name.checked()?, reader.span()?));
    }
    Some(found)
}

/// Returns the elements of an array; `None` for any other value.
pub(super) fn elements(text: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut reader = opened(text, b'[')?;
    let (mut found, mut is_first) = (Vec::new(), true);
    while reader.element(&mut is_first) {
        found.push(reader.span()?);
    }
    Some(found)
}

/// Returns the content of a string; `None` for any other value.
pub(super) fn string(text: &[u8]) -> Option<Cow<'_, str>> {
    Reader::new(text).string()?.checked()
}

/// Returns the end of the value that begins at `start`; `None` when it is incomplete. The end of invalid JSON is
/// arbitrary.
pub(super) fn value_end(text: &[u8], start: usize) -> Option<usize> {
    Ending::default().find(text, start).map(|end| end.max(start + 1))
}

fn opened(text: &[u8], bracket: u8) -> Option<Reader<'_>> {
    let mut reader = Reader::new(text);
    (reader.peek()? == bracket).then(|| reader.enter())?;
    Some(reader)
}

#[cfg(test)]
mod tests {
    use super::{elements, is_json, members, string, value_end};

    #[test]
    fn parts_are_what_they_were() {
        let text = br#" {"a" : 1.0 , "b\"":{"x":[1,"}"]},"c":[ ], "d":null } "#;
        assert!(is_json(text));
        let found = members(text).unwrap();
        let shown: Vec<_> =
            found.iter().map(|(name, at)| (name.as_ref(), std::str::from_utf8(&text[at.clone()]).unwrap())).collect();
        assert_eq!(shown, [("a", "1.0"), ("b\"", r#"{"x":[1,"}"]}"#), ("c", "[ ]"), ("d", "null")]);
        let list = br#"[1, "a,\\" ,{"b":[2]},[]]"#;
        let parts: Vec<_> = elements(list).unwrap().into_iter().map(|at| &list[at]).collect();
        assert_eq!(parts, [&b"1"[..], br#""a,\\""#, br#"{"b":[2]}"#, b"[]"]);
        assert_eq!(elements(b"[]").unwrap().len(), 0);
        assert!(members(b"[1]").is_none() && elements(b"{}").is_none());
    }

    #[test]
    fn ends_and_strings() {
        assert_eq!(value_end(br#"{"a":"}"} {"#, 0), Some(9));
        assert_eq!(value_end(br#"{"a":"}"#, 0), None);
        assert_eq!(value_end(b"}}", 0), Some(1));
        assert_eq!(string(br#""a\n""#).as_deref(), Some("a\n"));
        assert_eq!(string(b"12"), None);
    }
}
