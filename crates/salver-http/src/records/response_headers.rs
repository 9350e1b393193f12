//! The headers of responses.

use std::sync::LazyLock;

use http::{HeaderMap, HeaderValue, header};
use salver_formats::Coding;

use crate::dialect::php::JSON;
use crate::security_headers;

/// The cache control of tagged responses, which caches must revalidate.
pub(super) const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");
const VARY: HeaderValue = HeaderValue::from_static("accept-encoding");

/// Returns the headers of JSON with this tag and the security headers for browsers, cloned from a template, which is
/// cheaper than building them.
pub(super) fn head(tag: Option<HeaderValue>) -> HeaderMap {
    static UNTAGGED: LazyLock<HeaderMap> = LazyLock::new(|| security_headers::head_of_data(JSON));
    static TAGGED: LazyLock<HeaderMap> = LazyLock::new(|| {
        let mut headers = UNTAGGED.clone();
        headers.insert(header::CACHE_CONTROL, NO_CACHE);
        // Placeholder for the tag.
        headers.insert(header::ETAG, HeaderValue::from_static("\"\""));
        headers
    });
    let Some(tag) = tag else { return UNTAGGED.clone() };
    let mut headers = TAGGED.clone();
    headers.insert(header::ETAG, tag);
    headers
}

/// Sets the content encoding.
pub(super) fn encoded(headers: &mut HeaderMap, coding: Coding) {
    if coding != Coding::Identity {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.token()));
        headers.insert(header::VARY, VARY);
    }
}
