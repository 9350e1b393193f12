//! WordPress's preprocessing of passwords before hashing.

/// Characters that are trimmed from both ends (PHP's `trim`).
const BLANKS: [char; 6] = [' ', '\t', '\n', '\r', '\0', '\x0b'];

/// Returns the password as WordPress's own pages hash it: every form passes through `wp_magic_quotes`
/// (<https://developer.wordpress.org/reference/functions/wp_magic_quotes/>), which puts a backslash before quotes.
pub(super) fn from_form(password: &str) -> String {
    let mut text = String::with_capacity(password.len());
    for letter in trimmed(password).chars() {
        match letter {
            '\'' | '"' | '\\' => text.extend(['\\', letter]),
            '\0' => text.push_str("\\0"),
            _ => text.push(letter),
        }
    }
    text
}

/// Returns the password as WordPress's other programs hash it.
pub(super) fn trimmed(password: &str) -> &str {
    password.trim_matches(BLANKS)
}

#[cfg(test)]
mod tests {
    use super::{from_form, trimmed};

    #[test]
    fn as_wordpress_has_them() {
        assert_eq!(from_form(" it's \\ \"x\"\n"), "it\\'s \\\\ \\\"x\\\"");
        assert_eq!((from_form("plain"), trimmed("\0 plain\t")), ("plain".to_owned(), "plain"));
    }
}
