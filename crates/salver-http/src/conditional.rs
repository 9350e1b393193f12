//! Conditional requests (RFC 9110, section 13): strong entity tags and `If-None-Match`.

use std::borrow::Cow;

use http::{HeaderMap, HeaderValue, header};
use salver_model::Version;

use crate::header_lines;

/// Returns the entity tag of a response: a hash of everything its bytes depend on.
pub(crate) fn etag(content: Version) -> HeaderValue {
    // Digit by digit, because formatting would dominate the cost.
    let mut text = [b'"'; 18];
    for (at, digit) in text[1..17].iter_mut().enumerate() {
        *digit = b"0123456789abcdef"[(content.0 >> (60 - 4 * at)) as usize & 15];
    }
    HeaderValue::from_bytes(&text).unwrap_or_else(|_| HeaderValue::from_static("\"0\""))
}

/// Returns the tags in `If-None-Match`, without their weakness prefix: this header uses the weak comparison.
pub(crate) fn known(if_none_match: &str) -> impl Iterator<Item = &str> {
    if_none_match.split(',').map(|tag| tag.trim().trim_start_matches("W/"))
}

/// Returns the `If-None-Match` header of a request as a list.
pub(crate) fn if_none_match(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    header_lines::list(headers, header::IF_NONE_MATCH)
}

/// Returns whether `If-None-Match` contains `etag`, so that the response is 304. `*` matches nothing here: it asks
/// whether there is any response at all, which is known only once there is one; see [`asks_for_any`].
pub(crate) fn matches(if_none_match: &str, etag: &HeaderValue) -> bool {
    etag.to_str().is_ok_and(|etag| known(if_none_match).any(|tag| tag == etag))
}

/// Returns whether a value of `If-None-Match` is `*`: whatever representation there is, the client wants it not again.
pub(crate) fn asks_for_any(if_none_match: &HeaderValue) -> bool {
    if_none_match.as_bytes().trim_ascii() == b"*"
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, header};
    use salver_model::Version;

    use super::{etag, if_none_match, matches};

    #[test]
    fn lists_weak_tags_and_stars() {
        let tag = etag(Version(7));
        for yes in ["\"0000000000000007\"", "W/\"0000000000000007\"", "\"a\", \"0000000000000007\""] {
            assert!(matches(yes, &tag), "{yes}");
        }
        for no in ["\"a\"", "", "0000000000000007", "*"] {
            assert!(!matches(no, &tag), "{no}");
        }
        let mut headers = HeaderMap::new();
        assert_eq!(if_none_match(&headers), None);
        headers.append(header::IF_NONE_MATCH, "\"a\"".parse().unwrap());
        headers.append(header::IF_NONE_MATCH, tag.clone());
        assert!(matches(&if_none_match(&headers).unwrap(), &tag));
    }
}
