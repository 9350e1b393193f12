//! Cookies of a request (RFC 6265).

use http::{HeaderMap, header};

/// The error for a cookie that has several values, as when a page of a neighbouring host set one beside ours (RFC 6265,
/// section 8.6): the server can't tell which is the client's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Several;

/// Returns the value of the cookie `name`, which may occur more than once with the same value; empty values are
/// ignored.
pub(crate) fn only<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Several> {
    let mut values = values(headers, name).filter(|value| !value.is_empty());
    let first = values.next();
    if values.any(|value| Some(value) != first) { Err(Several) } else { Ok(first) }
}

fn values<'h>(headers: &'h HeaderMap, name: &str) -> impl Iterator<Item = &'h str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(';')).filter_map(move |pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}
