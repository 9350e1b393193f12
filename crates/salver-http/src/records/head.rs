//! The heads of answers of these doors.

use std::sync::LazyLock;

use http::{HeaderMap, HeaderValue, header};
use salver_formats::Coding;

use crate::caution;

/// The media type of everything that is not XML, as PHP-CRUD-API writes it.
const JSON: &str = "application/json; charset=utf-8";
/// That an answer is asked for again before it is taken from a cache.
pub(super) const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");
const VARY: HeaderValue = HeaderValue::from_static("accept-encoding");

/// The head of JSON with this tag, and with what browsers are told: a copy costs less than putting it together again.
pub(super) fn head(tag: Option<HeaderValue>) -> HeaderMap {
    static UNTAGGED: LazyLock<HeaderMap> = LazyLock::new(|| caution::head_of_data(JSON));
    static TAGGED: LazyLock<HeaderMap> = LazyLock::new(|| {
        let mut headers = UNTAGGED.clone();
        headers.insert(header::CACHE_CONTROL, NO_CACHE);
        // The place of the tag.
        headers.insert(header::ETAG, HeaderValue::from_static("\"\""));
        headers
    });
    let Some(tag) = tag else { return UNTAGGED.clone() };
    let mut headers = TAGGED.clone();
    headers.insert(header::ETAG, tag);
    headers
}

/// Says how the body is compressed.
pub(super) fn encoded(headers: &mut HeaderMap, coding: Coding) {
    if coding != Coding::Identity {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.token()));
        headers.insert(header::VARY, VARY);
    }
}
