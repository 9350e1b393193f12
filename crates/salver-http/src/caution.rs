//! What every answer tells browsers not to do with it: guess its type, frame it, run scripts of it. Pages also say who
//! may have them as a part of theirs, and what links of them tell; for data the type, which may not be guessed, is
//! enough. What an answer says of this itself, as those of user code may, stands.

use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue};

/// Whose pages may have an answer as a part of theirs.
pub(crate) const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const DENY: HeaderValue = HeaderValue::from_static("DENY");
/// Forms of our own pages would else be sent with the origin `null`.
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const CROSS_ORIGIN: HeaderValue = HeaderValue::from_static("cross-origin");
/// For data.
const NOTHING: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
/// For pages of rows, which have a style and no scripts.
const STYLE_ONLY: HeaderValue =
    HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
/// For GraphiQL, which has its scripts beside it.
const OWN_FILES: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' \
     data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
/// For what user code answers: pages may be anything, but stand in frames of their own site only.
const OWN_FRAMES: HeaderValue = HeaderValue::from_static("frame-ancestors 'self'");
const SAMEORIGIN: HeaderValue = HeaderValue::from_static("SAMEORIGIN");

/// Adds what is not said yet. `cors` says that pages of other sites may have it.
pub(crate) fn add(headers: &mut HeaderMap, cors: bool) {
    // What has this has all: finished answers, and those of user code that say so themselves.
    if headers.contains_key(X_CONTENT_TYPE_OPTIONS) {
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

/// The head of data of a type, with all of it: a copy of it costs less than putting it together again.
pub(crate) fn head_of_data(media_type: &'static str) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(3);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    add(&mut headers, false);
    headers
}

/// Adds all of it to an answer of rows, which says nothing of this yet.
pub(crate) fn add_to_rows(headers: &mut HeaderMap, is_page: bool, cors: bool) {
    if is_page {
        return add(headers, cors);
    }
    headers.insert(CONTENT_SECURITY_POLICY, NOTHING);
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
}

/// Says so of GraphiQL and its files.
pub(crate) fn of_graphiql(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, OWN_FILES);
}

/// Says so of what user code answered, of whatever type, as far as it says nothing itself.
pub(crate) fn of_user_code(headers: &mut HeaderMap, cors: bool) {
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(OWN_FRAMES);
    headers.entry(X_FRAME_OPTIONS).or_insert(SAMEORIGIN);
    headers.entry(REFERRER_POLICY).or_insert(SAME_ORIGIN);
    headers.entry(RESOURCE_POLICY).or_insert(if cors { CROSS_ORIGIN } else { SAME_ORIGIN });
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
