//! JSON as PHP writes it.

/// Escapes `/` and the line separators of Unicode as PHP does, whether they are escaped already or not.
pub(crate) fn as_php(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + 16);
    let mut letters = json.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                out.push('\\');
                out.extend(letters.next());
            }
            '/' => out.push_str("\\/"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::as_php;

    #[test]
    fn escapes_of_php() {
        assert_eq!(as_php(r#"["a/b","a\/b","a\\/b","\""]"#), r#"["a\/b","a\/b","a\\\/b","\""]"#);
        assert_eq!(as_php("\u{2028}"), "\\u2028");
    }
}
