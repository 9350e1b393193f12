//! Splits JSON without decoding it: the text of a member is passed on byte for byte, with its numbers and escapes.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::IgnoredAny;

/// Returns whether `text` is a single JSON value, as [`members`] and [`elements`] require.
pub(super) fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// Returns the members of an object; `None` for any other value.
pub(super) fn members(text: &[u8]) -> Option<Vec<(Cow<'_, str>, Range<usize>)>> {
    let mut at = opened(text, b'{')?;
    let mut found = Vec::new();
    while text.get(at) == Some(&b'"') {
        let name = at..string_end(text, at)?;
        let value = skip_space(text, skip_space(text, name.end) + 1);
        let end = value_end(text, value)?;
        found.push((string(&text[name])?, value..end));
        at = skip_space(text, end);
        at = if text.get(at) == Some(&b',') { skip_space(text, at + 1) } else { at };
    }
    Some(found)
}

/// Returns the elements of an array; `None` for any other value.
pub(super) fn elements(text: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut at = opened(text, b'[')?;
    let mut found = Vec::new();
    while text.get(at).is_some_and(|byte| *byte != b']') {
        let end = value_end(text, at)?;
        found.push(at..end);
        at = skip_space(text, end);
        at = if text.get(at) == Some(&b',') { skip_space(text, at + 1) } else { at };
    }
    Some(found)
}

/// Returns the content of a string; `None` for any other value.
pub(super) fn string(text: &[u8]) -> Option<Cow<'_, str>> {
    let inner = text.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if inner.contains(&b'\\') {
        return serde_json::from_slice(text).ok().map(Cow::Owned);
    }
    std::str::from_utf8(inner).ok().map(Cow::Borrowed)
}

/// Returns the end of the value that begins at `start`; `None` when it is incomplete. The end of invalid JSON is
/// arbitrary.
pub(super) fn value_end(text: &[u8], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = start;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                at = string_end(text, at)?;
                if depth == 0 {
                    return Some(at);
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b'}' | b']' | b',' | b' ' | b'\n' | b'\r' | b'\t' if depth == 0 => return Some(at.max(start + 1)),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns the first position from `at` on that is not white space.
pub(super) fn skip_space(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).unwrap_or(rest.len())
}

fn opened(text: &[u8], bracket: u8) -> Option<usize> {
    let at = skip_space(text, 0);
    (text.get(at) == Some(&bracket)).then(|| skip_space(text, at + 1))
}

/// Returns the end of the string that begins at `start`.
fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
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
