//! Builds the responses of streams.

use std::sync::LazyLock;

use http::{HeaderMap, HeaderValue, Response, StatusCode};

use crate::body::Body;
use crate::exit;
use crate::security_headers;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Returns JSON that must not be cached, since streams change all the time.
pub(super) fn json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    exit::unstored(status, JSON, Body::Full(body.into()))
}

/// Returns the response to an append: JSON without cache headers, since responses to POST are not cached.
pub(super) fn appended(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    static HEAD: LazyLock<HeaderMap> = LazyLock::new(|| security_headers::head_of_data("application/json"));
    let mut response = exit::reply(status, Body::Full(body.into()));
    response.headers_mut().clone_from(&HEAD);
    response
}
