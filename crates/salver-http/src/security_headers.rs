//! Security headers of responses: they tell browsers not to guess the media type, frame the response, or run scripts in
//! it. Pages also restrict which sites may embed them and what the referrer reveals; for data, the media type that may
//! not be guessed is enough. Headers that a response already has, such as those of user code, are kept.

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue};

/// Header that restricts which sites may embed a response.
pub(crate) const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const DENY: HeaderValue = HeaderValue::from_static("DENY");
/// With a stricter value, browsers would send the forms of our own pages with the origin `null`.
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const CROSS_ORIGIN: HeaderValue = HeaderValue::from_static("cross-origin");
/// Policy for data.
const NOTHING: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
/// Policy for pages of rows, which have a style and no scripts.
const STYLE_ONLY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
/// Policy for GraphiQL, which loads its scripts from the same origin.
const OWN_FILES: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' \
     data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
/// Policy for the console, whose paths are below the base that its page names. Pictures that functions make are shown
/// from memory.
const CONSOLE: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src \
     'self' data:; connect-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'",
);
/// Policy for responses of user code: any page, but framed by its own site only.
const OWN_FRAMES: HeaderValue = HeaderValue::from_static("frame-ancestors 'self'");
const SAMEORIGIN: HeaderValue = HeaderValue::from_static("SAMEORIGIN");

/// Adds the headers that are missing. `cors` allows other sites to embed the response.
pub(crate) fn add(headers: &mut HeaderMap, cors: bool) {
    // This header implies the others: finished responses have them all, and user code may set them itself.
    if headers.keys().any(|name| *name == X_CONTENT_TYPE_OPTIONS) {
        return;
    }
    let is_page = headers.get(CONTENT_TYPE).is_some_and(|media_type| media_type.as_bytes().starts_with(b"text/html"));
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(if is_page { STYLE_ONLY } else { NOTHING });
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    if is_page {
        headers.entry(X_FRAME_OPTIONS).or_insert(DENY);
        headers.entry(REFERRER_POLICY).or_insert(SAME_ORIGIN);
        headers.entry(RESOURCE_POLICY).or_insert(if cors { CROSS_ORIGIN } else { SAME_ORIGIN });
    }
}

/// Returns the complete headers of data with this media type: cloning them costs less than building them.
pub(crate) fn head_of_data(media_type: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(3);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    add(&mut headers, false);
    headers
}

/// Adds all headers to a response of rows, which has none of them yet.
pub(crate) fn add_to_rows(headers: &mut HeaderMap, is_page: bool, cors: bool) {
    if is_page {
        return add(headers, cors);
    }
    headers.insert(CONTENT_SECURITY_POLICY, NOTHING);
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
}

/// Adds the headers for GraphiQL and its files.
pub(crate) fn of_graphiql(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, OWN_FILES);
}

/// Adds the headers for the console and its files.
pub(crate) fn of_console(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, CONSOLE);
}

/// Adds the headers for a response of user code, of any media type, as far as it lacks them.
pub(crate) fn of_user_code(headers: &mut HeaderMap, cors: bool) {
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(OWN_FRAMES);
    headers.entry(X_FRAME_OPTIONS).or_insert(SAMEORIGIN);
    headers.entry(REFERRER_POLICY).or_insert(SAME_ORIGIN);
    headers.entry(RESOURCE_POLICY).or_insert(if cors { CROSS_ORIGIN } else { SAME_ORIGIN });
}

/// Keeps shared caches from storing responses that are for some callers only.
pub(crate) fn keep_private(headers: &mut HeaderMap) {
    let is_free = headers.get(CACHE_CONTROL).is_none_or(|value| value == "no-cache");
    if is_free {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};

    use super::{add, of_user_code};

    #[test]
    fn what_is_said_stands() {
        let mut headers = HeaderMap::new();
        headers.insert("x-frame-options", "ALLOWALL".parse().unwrap());
        headers.insert("cross-origin-resource-policy", "cross-origin".parse().unwrap());
        of_user_code(&mut headers, false);
        add(&mut headers, false);
        let said = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        assert_eq!(said("x-frame-options"), Some("ALLOWALL"));
        assert_eq!(said("cross-origin-resource-policy"), Some("cross-origin"));
        assert_eq!(said("content-security-policy"), Some("frame-ancestors 'self'"));
        assert_eq!(said("x-content-type-options"), Some("nosniff"));
        let mut page = HeaderMap::new();
        page.insert(CONTENT_TYPE, "text/html; charset=utf-8".parse().unwrap());
        add(&mut page, false);
        assert!(page[CONTENT_SECURITY_POLICY].to_str().unwrap().contains("style-src"));
        assert_eq!(page.len(), 6);
    }
}
