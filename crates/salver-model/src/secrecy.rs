//! Masking of secrets in text: passwords and tokens in URLs, and values whose names mark them as secrets.

use std::borrow::Cow;

/// Replacement for a secret.
pub const MASK: &str = "***";

/// Parts of names that mark their values as secrets.
const SECRETIVE: [&str; 10] = ["pass", "pwd", "secret", "token", "key", "sig", "credential", "auth", "jaas", "cookie"];

/// Returns whether the value of `name` is likely a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRETIVE.iter().any(|part| name.contains(part))
}

/// Replaces the passwords and tokens of the URLs in a text with [`MASK`].
#[must_use]
pub fn masked(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, url) = rest.split_at(at + 3);
        let end =
            url.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>')).unwrap_or(url.len());
        let (url, behind) = url.split_at(end);
        out.push_str(before);
        out.push_str(&masked_url(url, before.ends_with("http://") || before.ends_with("https://")));
        rest = behind;
    }
    if out.is_empty() {
        return masked_words(Cow::Borrowed(text));
    }
    out.push_str(rest);
    masked_words(Cow::Owned(out))
}

/// Replaces the passwords and tokens of a URL with [`MASK`], whatever characters they contain.
#[must_use]
pub fn masked_alone(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
            format!("{scheme}://{}", masked_url(rest, is_web))
        }
        // The text before a host may be a password even if the scheme is missing.
        None => url.rfind('@').map_or_else(|| url.to_owned(), |at| format!("{MASK}{}", &url[at..])),
    }
}

/// Returns the password of a URL, behind its scheme, as written and unescaped.
#[must_use]
pub fn password_of(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let (user, _) = rest.split_at(user_end(rest)?);
    user.split_once(':').map(|(_, password)| password.to_owned())
}

/// Returns the end of the user and password of a URL, behind its scheme: the last `@` before its path. Passwords may
/// contain unescaped slashes, too.
fn user_end(rest: &str) -> Option<usize> {
    let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    if let Some(at) = rest[..authority].rfind('@') {
        return Some(at);
    }
    let (_, port) = rest[..authority].rsplit_once(':')?;
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) || port.ends_with(']');
    if is_port { None } else { rest.rfind('@') }
}

/// Masks a URL behind its scheme. In web URLs a user without a password is a token.
fn masked_url(rest: &str, is_web: bool) -> String {
    let mut out = String::with_capacity(rest.len());
    let mut rest = rest;
    if let Some(at) = user_end(rest) {
        match rest[..at].split_once(':') {
            Some((user, _)) if !is_web => out.push_str(&format!("{user}:{MASK}")),
            None if !is_web => out.push_str(&rest[..at]),
            _ => out.push_str(MASK),
        }
        rest = &rest[at..];
    }
    let Some((path, query)) = rest.split_once('?') else {
        out.push_str(rest);
        return out;
    };
    out.push_str(path);
    for (index, pair) in query.split('&').enumerate() {
        out.push(if index == 0 { '?' } else { '&' });
        match pair.split_once('=') {
            Some((name, _)) if is_secret_name(name) => out.push_str(&format!("{name}={MASK}")),
            _ => out.push_str(pair),
        }
    }
    out
}

/// Masks `password=...`, as in drivers' settings.
fn masked_words(text: Cow<'_, str>) -> Cow<'_, str> {
    const WORDS: [&str; 2] = ["password=", "passwd="];
    let mut text = text;
    for word in WORDS {
        let mut from = 0;
        while let Some(at) = text[from..].find(word) {
            let start = from + at + word.len();
            let length = text[start..].find(|c: char| c.is_whitespace() || "&;,\"'`".contains(c));
            let end = length.map_or(text.len(), |length| start + length);
            if end > start && &text[start..end] != MASK {
                text = Cow::Owned(format!("{}{MASK}{}", &text[..start], &text[end..]));
            }
            from = start;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{is_secret_name, masked, masked_alone, password_of};

    #[test]
    fn urls_lose_their_secrets() {
        for (text, expected) in [
            ("can't reach postgres://ann:s3cret@db:5432/x: no", "can't reach postgres://ann:***@db:5432/x: no"),
            ("`mysql://ann:a:b@c@db/x`", "`mysql://ann:***@db/x`"),
            ("mysql://ann:a/b@db/x", "mysql://ann:***@db/x"),
            ("postgres://ann@db/x", "postgres://ann@db/x"),
            ("https://tok3n@host/a.csv", "https://***@host/a.csv"),
            ("https://u:p@host/a.csv?a=1&sig=xyz", "https://***@host/a.csv?a=1&sig=***"),
            ("http://host:80/a@b?api_key=k", "http://host:80/a@b?api_key=***"),
            ("http://[::1]:80/a@b", "http://[::1]:80/a@b"),
            ("a http://u:p@h b postgres://u:p@h c", "a http://***@h b postgres://u:***@h c"),
            ("host=db password=s3cret user=ann", "host=db password=*** user=ann"),
            ("postgres://db/x?user=a&password=b", "postgres://db/x?user=a&password=***"),
            ("nothing here: //x", "nothing here: //x"),
        ] {
            assert_eq!(masked(text), expected);
        }
        for (url, expected) in [
            (
                "postgres://ann:a b\"c\td@db/x?sslmode=off&password=y z",
                "postgres://ann:***@db/x?sslmode=off&password=***",
            ),
            ("ann:s3cret@db/x", "***@db/x"),
            ("https://tok3n@host/a.csv", "https://***@host/a.csv"),
            ("sqlite:a.db", "sqlite:a.db"),
        ] {
            assert_eq!(masked_alone(url), expected);
        }
        assert_eq!(password_of("postgres://ann:s3:cret@db/x").as_deref(), Some("s3:cret"));
        assert_eq!(password_of("sqlite:a.db"), None);
    }

    #[test]
    fn names_of_secrets() {
        for name in ["Authorization", "X-Api-Key", "sasl.password", "API_TOKEN", "ssl.key.pem", "Cookie"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["Accept", "client.id", "MODEL", "User-Agent"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
