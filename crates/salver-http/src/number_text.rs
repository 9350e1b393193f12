//! Numbers as texts, with all their digits: those of URLs and forms, and those of JSON, which serde_json would round;
//! and booleans as texts.

use std::fmt::Write as _;

use salver_text::json::string_end;
use serde_json::Value as Json;

/// Returns whether a text is a whole number, of any size that a double can have.
pub(crate) fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) && is_number(text)
}

/// Returns whether a text is a number, in the range of doubles.
pub(crate) fn is_number(text: &str) -> bool {
    text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Returns whether a text is a number as JSON writes it.
pub(crate) fn is_json_number(text: &str) -> bool {
    let is_bare = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    is_bare && serde_json::from_str::<Json>(text).is_ok_and(|value| value.is_number())
}

/// Writes a number as JSON does, with the digits that it has; `None` for any other text.
pub(crate) fn json_number(text: &str) -> Option<String> {
    if !is_number(text) {
        return None;
    }
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = unsigned.find(['e', 'E']).map_or((unsigned, ""), |at| unsigned.split_at(at));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(whole, rest)| (whole, Some(rest)));
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let is_zero = whole == "0" && fraction.is_none() && exponent.is_empty();
    let mut out = String::with_capacity(text.len() + 2);
    out.push_str(if is_zero { "" } else { sign });
    out.push_str(whole);
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    out.push_str(exponent);
    Some(out)
}

/// Parses a boolean of a URL or a form, as JSON, Python and R write it.
pub(crate) fn truth(text: &str) -> Option<bool> {
    match text {
        "true" | "TRUE" | "True" | "T" | "t" | "1" => Some(true),
        "false" | "FALSE" | "False" | "F" | "f" | "0" => Some(false),
        _ => None,
    }
}

/// Returns whether a value has numbers that serde_json may have rounded.
pub(crate) fn is_rounded(value: &Json) -> bool {
    match value {
        Json::Number(number) => number.is_f64(),
        Json::Array(elements) => elements.iter().any(is_rounded),
        Json::Object(members) => members.values().any(is_rounded),
        Json::Null | Json::Bool(_) | Json::String(_) => false,
    }
}

/// Returns a text of JSON, which must be valid, without white space, with its numbers as they are written.
pub(crate) fn compact(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => string_end(bytes, at).map_or(bytes.len(), |(end, _)| end),
            _ => at + 1,
        };
        if !byte.is_ascii_whitespace() {
            out.push_str(text.get(at..end).unwrap_or_default());
        }
        at = end;
    }
    out
}

/// Appends a name and a value, which is JSON, to an object that is being written.
pub(crate) fn push_member(out: &mut String, name: &str, value: &str) {
    // Writing to a string does not fail.
    let _ = write!(out, "{}{}:{value}", if out.len() > 1 { "," } else { "" }, Json::from(name));
}

#[cfg(test)]
mod tests {
    use super::{compact, is_json_number, is_whole, json_number};

    #[test]
    fn numbers_keep_their_digits() {
        for (text, number) in [
            ("1.10", Some("1.10")),
            ("+007", Some("7")),
            ("-0", Some("0")),
            ("-0.0", Some("-0.0")),
            (".5", Some("0.5")),
            ("5.", Some("5.0")),
            ("-1E+5", Some("-1E+5")),
            ("123456789012345678901234567890", Some("123456789012345678901234567890")),
            ("1e400", None),
            ("inf", None),
            ("nan", None),
            ("", None),
            ("-", None),
            ("1 ", None),
            ("0x1", None),
        ] {
            assert_eq!(json_number(text).as_deref(), number, "{text}");
            assert!(number.is_none_or(is_json_number), "{text}");
        }
        let huge = "9".repeat(400);
        for (text, whole) in [("12", true), ("-3", true), ("1.0", false), ("1e3", false), ("", false), (&*huge, false)]
        {
            assert_eq!(is_whole(text), whole, "{text}");
        }
        for text in [" 5", "5 ", "007", "1e400", "true", "\"1\"", "[1]", ""] {
            assert!(!is_json_number(text), "{text}");
        }
    }

    #[test]
    fn texts_without_white_space() {
        let text = " {\"a b\" : [ 1.10 ,\t\"x \\\" y\", {\"\u{e9}\":\n-1e5} ] } ";
        assert_eq!(compact(text), "{\"a b\":[1.10,\"x \\\" y\",{\"\u{e9}\":-1e5}]}");
    }
}
