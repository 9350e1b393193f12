//! Cookies of a request (RFC 6265).

use http::{HeaderMap, header};

/// The value of the cookie `name`.
pub(crate) fn named<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(';')).find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}
