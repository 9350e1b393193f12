//! Databases of which each caller has one of his own: `{caller.NAME}` in the URL stands for what is known of him.

use crate::error::{Code, Error, Result};

/// What stands before the name, and behind it.
const MARKS: (&str, &str) = ("{caller.", "}");
/// Longest value that may stand in a URL.
const VALUE_BYTES_MAX: usize = 63;

/// What of the caller `url` asks for; `None` for a URL that is the same for everybody.
///
/// # Errors
/// `Config`, for braces that are nothing of the kind, and for a place that is not the name of the database: what is
/// known of a caller must never choose a server.
pub fn caller_in(url: &str) -> Result<Option<&str>> {
    let Some(start) = url.find('{') else { return Ok(None) };
    let refuse = |what: &str| {
        Err(Error::new(Code::Config, format!("the URL of the database {what}")).with_hint(
            "write \"sqlite:tenants/{caller.tenant}.db\" or \"postgres://user:password@host/app_{caller.tenant}\"",
        ))
    };
    let inside = url[start..].strip_prefix(MARKS.0).and_then(|rest| rest.split_once(MARKS.1));
    let Some((name, rest)) = inside else { return refuse("has a brace that begins no `{caller.NAME}`") };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    if name.is_empty() || !name.chars().all(is_name) {
        return refuse("has no name behind `{caller.`");
    }
    if rest.contains(['{', '}']) {
        // Of two values next to each other nobody could tell where one ends.
        return refuse("has more than one `{caller.NAME}`");
    }
    let before = &url[..start];
    let in_name = match before.split_once("://").filter(|(scheme, _)| !scheme.eq_ignore_ascii_case("sqlite")) {
        Some((_, behind)) => behind.contains('/') && !behind.contains('?'),
        None => true,
    };
    if !in_name {
        return refuse("has `{caller.NAME}` where no name of a database stands");
    }
    Ok(Some(name))
}

/// The URL for a caller of whom `value` is known; `None` when that is nothing that may stand there.
///
/// Small letters, digits, `_` and `-` only: no value can leave its directory or change another part of the URL, and two
/// values are two databases also where capitals don't count in names.
#[must_use]
pub fn url_for(url: &str, value: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    if value.is_empty() || value.len() > VALUE_BYTES_MAX || !value.bytes().all(is_plain) {
        return None;
    }
    let (before, rest) = url.split_once(MARKS.0)?;
    let (_, behind) = rest.split_once(MARKS.1)?;
    Some(format!("{before}{value}{behind}"))
}

/// Whether some caller's own database may be the one at `other`.
#[must_use]
pub fn may_be(url: &str, other: &str) -> bool {
    match url.split_once(MARKS.0).and_then(|(before, rest)| Some((before, rest.split_once(MARKS.1)?.1))) {
        Some((before, behind)) => {
            other.len() > before.len() + behind.len() && other.starts_with(before) && other.ends_with(behind)
        }
        None => url == other,
    }
}

#[cfg(test)]
mod tests {
    use super::{caller_in, may_be, url_for};

    #[test]
    fn names_in_urls() {
        for (url, name) in [
            ("sqlite:a.db", None),
            ("sqlite:t/{caller.tenant}.db", Some("tenant")),
            ("sqlite:///t/{caller.user}/a.db", Some("user")),
            ("postgres://u:p@h:1/app_{caller.org.id}?sslmode=require", Some("org.id")),
            ("mysql://u:p@h/{caller.tenant}", Some("tenant")),
        ] {
            assert_eq!(caller_in(url).unwrap(), name, "{url}");
        }
        for url in [
            "sqlite:{tenant}.db",
            "sqlite:{caller.}.db",
            "sqlite:{caller.a b}.db",
            "sqlite:{caller.a",
            "sqlite:{caller.a}{caller.b}.db",
            "postgres://{caller.a}/app",
            "postgres://u:{caller.a}@h",
            "mysql://{caller.a}@h/app",
            "mysql://u:p@h/app?x={caller.a}",
        ] {
            assert!(caller_in(url).is_err(), "{url}");
        }
    }

    #[test]
    fn values_in_urls() {
        let url = "sqlite:t/{caller.tenant}.db";
        assert_eq!(url_for(url, "north-2_x").as_deref(), Some("sqlite:t/north-2_x.db"));
        let long = "x".repeat(64);
        for value in ["", "..", "../a", "a/b", "a\\b", "a.b", "North", "a b", "a%2Fb", "a?b", "a#b", "é", "a\0", &long]
        {
            assert_eq!(url_for(url, value), None, "{value}");
        }
        assert!(may_be(url, "sqlite:t/north.db") && !may_be(url, "sqlite:t/.db") && !may_be(url, "sqlite:u/north.db"));
        assert!(may_be("sqlite:a.db", "sqlite:a.db") && !may_be("sqlite:a.db", "sqlite:b.db"));
    }
}
