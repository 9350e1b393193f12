//! Embeds text that is JSON in the output: without white space, and with the same escapes in its strings as elsewhere.

use salver_text::json::pieces;
use serde::de::IgnoredAny;

use super::string;

/// Appends `text` as a value when it is an object or array; else appends nothing and returns `false`.
pub(crate) fn embedded(text: &str, out: &mut Vec<u8>) -> bool {
    let begins = text.trim_start_matches([' ', '\t', '\r', '\n']).as_bytes().first();
    if !matches!(begins, Some(b'{' | b'[')) || serde_json::from_str::<IgnoredAny>(text).is_err() {
        return false;
    }
    for piece in pieces(text) {
        if piece.starts_with('"') { literal(piece, out) } else { out.extend_from_slice(piece.as_bytes()) }
    }
    true
}

/// Appends a string literal, which `text` has with its quotes.
fn literal(text: &str, out: &mut Vec<u8>) {
    if !text.contains('\\') {
        return string(&text[1..text.len() - 1], out);
    }
    match serde_json::from_str::<String>(text) {
        Ok(plain) => string(&plain, out),
        // A lone surrogate is not text; as an escape it is still JSON.
        Err(_) => out.extend_from_slice(text.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::embedded;

    #[test]
    fn json_and_what_is_not() {
        for (text, expected) in [
            (r#"{"depth": false, "model":"TRX\/120"}"#, Some(r#"{"depth":false,"model":"TRX\/120"}"#)),
            (" [1.50, null, \"\\u00e9\\n \u{e9}/\"]", Some("[1.50,null,\"\u{e9}\\n \u{e9}\\/\"]")),
            ("{}", Some("{}")),
            ("12", None),
            ("\"x\"", None),
            ("", None),
            ("[1", None),
            ("{} x", None),
        ] {
            let mut out = Vec::new();
            assert_eq!(embedded(text, &mut out), expected.is_some(), "{text}");
            assert_eq!(String::from_utf8(out).unwrap(), expected.unwrap_or(""), "{text}");
        }
    }
}
