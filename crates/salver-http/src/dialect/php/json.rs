//! Text in JSON as PHP writes it.

/// Writes `text` as a JSON string as PHP does: `/` and the line separators of Unicode are escaped.
pub(super) fn write_string(text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    salver_formats::json::write_string(text, out);
    if text.contains(['/', '\u{2028}', '\u{2029}']) {
        let written = String::from_utf8_lossy(&out[start..]).into_owned();
        out.truncate(start);
        out.extend_from_slice(as_php(&written).as_bytes());
    }
}

/// Escapes complete JSON as PHP does. The escaped characters can occur only within strings.
pub(crate) fn as_php(json: &str) -> String {
    json.replace('/', "\\/").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::write_string;

    #[test]
    fn strings_as_php_writes_them() {
        let mut out = Vec::new();
        write_string("a/b\u{2028}\"ü", &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "\"a\\/b\\u2028\\\"ü\"");
    }
}
