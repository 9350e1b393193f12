//! Cookies of a request (RFC 6265).

use http::{HeaderMap, header};

/// The value of the cookie `name`; of several the first.
pub(crate) fn named<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    values(headers, name).next()
}

/// Whether the cookie `name` comes with several values, as when the page of a neighbouring host set one beside ours
/// (RFC 6265, section 8.6).
pub(crate) fn is_ambiguous(headers: &HeaderMap, name: &str) -> bool {
    let mut values = values(headers, name);
    let first = values.next();
    values.any(|value| Some(value) != first)
}

fn values<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(';')).filter_map(move |pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}
