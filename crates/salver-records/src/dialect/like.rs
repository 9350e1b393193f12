//! `LIKE` patterns, with the client's text taken literally.

use super::Dialect;

/// The SQL function, registered on SQLite connections, for case-insensitive `LIKE`. SQLite's own `LIKE` ignores case
/// for ASCII only.
pub(crate) const ILIKE: &str = "salver_ilike";

impl Dialect {
    /// Returns the clause after the pattern that makes `\` the escape character.
    pub(crate) fn like_escape(self) -> &'static str {
        // For the others `\` is the default.
        if self == Self::Sqlite { " ESCAPE '\\'" } else { "" }
    }
}

/// Returns `text` as a pattern that matches exactly it.
pub(crate) fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if matches!(c, '\\' | '%' | '_') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

/// Converts a `LIKE` pattern to SQLite's `GLOB`, which, unlike its `LIKE`, is case-sensitive.
pub(crate) fn glob(pattern: &str) -> String {
    let mut glob = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        match c {
            '%' => glob.push('*'),
            '_' => glob.push('?'),
            _ => {
                let literal = if c == '\\' { chars.next().unwrap_or(c) } else { c };
                if matches!(literal, '*' | '?' | '[') {
                    glob.extend(['[', literal, ']']);
                } else {
                    glob.push(literal);
                }
            }
        }
    }
    glob
}

#[cfg(test)]
mod tests {
    use super::{escaped, glob};

    #[test]
    fn nothing_is_special() {
        assert_eq!(escaped(r"100%_\x"), r"100\%\_\\x");
        assert_eq!(glob(r"a%b_c\%*["), "a*b?c%[*][[]");
    }
}
