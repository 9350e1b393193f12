//! Headers that a client may send in several lines.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName};

/// Joins all lines of a header into one list (RFC 9110, section 5.2); `None` when there is none.
pub(crate) fn list(headers: &HeaderMap, name: HeaderName) -> Option<Cow<'_, str>> {
    // Most requests have few headers, and to look at each costs less than to hash the name.
    headers.keys().find(|own| **own == name)?;
    let mut lines = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let first = lines.next()?;
    let Some(second) = lines.next() else { return Some(Cow::Borrowed(first)) };
    let all: Vec<&str> = [first, second].into_iter().chain(lines).collect();
    Some(Cow::Owned(all.join(", ")))
}
