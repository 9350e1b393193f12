//! Databases with a separate instance per caller: `{caller.NAME}` in the URL is replaced by an attribute of the caller.

use crate::error::{Code, Error, Result};
use crate::limits::OWN_VALUE_BYTES_MAX;

/// Delimiters of the name.
const MARKS: (&str, &str) = ("{caller.", "}");
/// System databases of the server: no value may name them.
const SYSTEM_MYSQL: [&str; 4] = ["mysql", "information_schema", "performance_schema", "sys"];
const SYSTEM_POSTGRES: [&str; 3] = ["postgres", "template0", "template1"];

/// Returns the caller's attribute in `url`; `None` for a URL that is the same for every caller.
///
/// # Errors
/// Returns `Config` for other braces, and for a placeholder that is not the name of the database: an attribute of a
/// caller must never choose a server. Also for a path whose file name ends with the placeholder: SQLite's files beside
/// the database `b` are `b-journal`, `b-wal` and `b-shm`, which are values as well.
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
        // The boundary between two adjacent values would be ambiguous.
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
    if is_sqlite(url) && !has_ending(rest) {
        return Err(Error::new(
            Code::Config,
            "the file of a caller's database needs an ending that no value can have, like `.db`",
        )
        .with_hint(format!(
            "write \"{before}{{caller.{name}}}.db\": the database of `b` has files beside it that are called \
             `b-journal` and `b-wal`, which would be those of other callers"
        )));
    }
    Ok(Some(name))
}

/// Whether the URL is of a file.
fn is_sqlite(url: &str) -> bool {
    url.split_once(':').is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("sqlite"))
}

/// Returns whether a path with `rest` behind the placeholder names files that cannot collide with those beside another
/// database.
fn has_ending(rest: &str) -> bool {
    match rest.rsplit_once('/') {
        // The value is a directory.
        Some((_, file)) => !matches!(file, "" | "." | ".."),
        None => rest.contains('.'),
    }
}

/// Returns the URL for a caller with the attribute `value`; `None` when the value is not allowed.
///
/// Only lower-case letters, digits, `_` and `-` are allowed: a value cannot leave its directory or change another part
/// of the URL, and two values are two databases even where names are case-insensitive.
#[must_use]
pub fn url_for(url: &str, value: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    if value.is_empty() || value.len() > OWN_VALUE_BYTES_MAX || !value.bytes().all(is_plain) {
        return None;
    }
    let (before, rest) = url.split_once(MARKS.0)?;
    let (_, behind) = rest.split_once(MARKS.1)?;
    let made = format!("{before}{value}{behind}");
    (!is_system(&made)).then_some(made)
}

/// Returns whether the URL names a system database of the server.
fn is_system(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://").filter(|_| !is_sqlite(url)) else { return false };
    let name = rest.split('?').next().and_then(|rest| rest.rsplit_once('/')).map_or("", |(_, name)| name);
    let own: &[&str] = if scheme.starts_with("postgres") { &SYSTEM_POSTGRES } else { &SYSTEM_MYSQL };
    own.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Returns whether the database of some caller may be the one at `other`.
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
            ("sqlite:t/{caller.user}/a", Some("user")),
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
            "sqlite:t/{caller.a}",
            "sqlite:///t/{caller.a}",
            "SQLite:{caller.a}",
            "sqlite:t/{caller.a}-wal",
            "sqlite:t/{caller.a}db",
            "sqlite:t/{caller.a}/",
            "sqlite:t/{caller.a}/.",
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
        for (url, value) in [
            ("mysql://u:p@h/{caller.t}", "mysql"),
            ("mysql://u:p@h/{caller.t}?ssl-mode=REQUIRED", "sys"),
            ("mariadb://u:p@h/{caller.t}_schema", "information"),
            ("MYSQL://u:p@h/my{caller.t}", "sql"),
            ("postgres://u:p@h/{caller.t}", "postgres"),
            ("postgresql://u:p@h/{caller.t}?sslmode=require", "template1"),
        ] {
            assert_eq!(url_for(url, value), None, "{url} {value}");
            assert!(url_for(url, "north").is_some(), "{url}");
        }
        assert!(url_for("postgres://u:p@h/{caller.t}", "sys").is_some());
        assert!(may_be(url, "sqlite:t/north.db") && !may_be(url, "sqlite:t/.db") && !may_be(url, "sqlite:u/north.db"));
        assert!(may_be("sqlite:a.db", "sqlite:a.db") && !may_be("sqlite:a.db", "sqlite:b.db"));
    }
}
