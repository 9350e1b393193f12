//! `LIKE`, with the client's text meant as it stands.

use super::Dialect;

/// A function of our own on connections to SQLite: whether the first is like the second, in whatever case. Its own
/// `LIKE` knows that of ASCII only.
pub(crate) const ILIKE: &str = "salver_ilike";

impl Dialect {
    /// What follows the pattern so that `\` escapes in it.
    pub(crate) fn like_escape(self) -> &'static str {
        // The others take `\` without being told.
        if self == Self::Sqlite { " ESCAPE '\\'" } else { "" }
    }
}

/// `text` as a pattern that matches it and nothing else.
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

/// A `LIKE` pattern in the words of SQLite's `GLOB`, which, unlike its `LIKE`, tells upper from lower case.
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
