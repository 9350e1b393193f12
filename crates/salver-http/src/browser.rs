//! Tells browsers from programs.

use http::{HeaderMap, header};
use salver_formats::names_before;

/// Returns whether a client is a browser, which is shown the console and not the index.
pub(crate) fn is_one(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    names_before(accept, "text/html", "application/json")
}
