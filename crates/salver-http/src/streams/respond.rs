//! Builds the responses of streams.

use std::sync::LazyLock;

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use crate::body::Body;
use crate::caution;
use crate::exit;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// Returns JSON that must not be cached, since streams change all the time.
pub(super) fn json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    whole(status, JSON, Body::Full(body.into()))
}

/// Returns a body with a media type.
pub(super) fn whole(status: StatusCode, media_type: HeaderValue, body: Body) -> Response<Body> {
    let mut response = exit::reply(status, body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, media_type);
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    response
}

/// Returns the response to an append: JSON without cache headers, since responses to POST are not cached.
pub(super) fn appended(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    static HEAD: LazyLock<HeaderMap> = LazyLock::new(|| caution::head_of_data("application/json"));
    let mut response = exit::reply(status, Body::Full(body.into()));
    response.headers_mut().clone_from(&HEAD);
    response
}

/// Returns a response without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    exit::empty(status)
}
