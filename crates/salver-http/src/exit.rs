//! The one place where a response is created. The code that has headers to add adds them; those of every response are
//! added in `router`.

use std::sync::LazyLock;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};

use crate::body::Body;
use crate::security_headers;

/// Creates a response with a body.
pub(crate) fn reply(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

/// Creates a response without a body.
pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    reply(status, Body::Full(Bytes::new()))
}

/// Creates a response that must not be cached.
pub(crate) fn unstored(status: StatusCode, media_type: HeaderValue, body: Body) -> Response<Body> {
    let mut response = reply(status, body);
    *response.headers_mut() = unstored_head(media_type);
    response
}

/// Creates a response of JSON that must not be cached.
pub(crate) fn unstored_json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    unstored(status, HeaderValue::from_static("application/json"), Body::Full(body.into()))
}

/// Creates the response of JSON to a POST: without cache headers, since such responses are not cached.
pub(crate) fn posted_json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    static HEAD: LazyLock<HeaderMap> = LazyLock::new(|| security_headers::head_of_data("application/json"));
    let mut response = reply(status, Body::Full(body.into()));
    response.headers_mut().clone_from(&HEAD);
    response
}

/// Returns the headers of a body that must not be cached.
pub(crate) fn unstored_head(media_type: HeaderValue) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(4);
    headers.insert(header::CONTENT_TYPE, media_type);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers
}

/// Adds the security headers that a response lacks. A 304 may stand for a page or for data: whoever has that keeps the
/// headers that came with it, which others would replace (RFC 9111, section 3.2).
pub(crate) fn secure(response: &mut Response<Body>, cors: bool) {
    if response.status() != StatusCode::NOT_MODIFIED {
        security_headers::add(response.headers_mut(), cors);
    }
}

/// Creates a 304 with these headers, which are those of the response that is not sent again.
pub(crate) fn not_modified(headers: impl IntoIterator<Item = (HeaderName, HeaderValue)>) -> Response<Body> {
    let mut response = empty(StatusCode::NOT_MODIFIED);
    for (name, value) in headers {
        response.headers_mut().insert(name, value);
    }
    response
}

/// Tells the client that it may try again soon.
pub(crate) fn invite_retry(headers: &mut HeaderMap) {
    headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
}

/// Tells the client that it may try again after so many seconds.
pub(crate) fn invite_retry_after(headers: &mut HeaderMap, seconds: u16) {
    headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
}
