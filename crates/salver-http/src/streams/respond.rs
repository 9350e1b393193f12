//! What the doors of streams say, as answers of the one exit.

use std::sync::LazyLock;

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};

use crate::body::Body;
use crate::caution;
use crate::exit;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// JSON that a door wrote. What streams say is never kept: it is another at the next moment.
pub(super) fn json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    whole(status, JSON, Body::Full(body.into()))
}

/// A body under a media type.
pub(super) fn whole(status: StatusCode, media_type: HeaderValue, body: Body) -> Response<Body> {
    let mut response = exit::reply(status, body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, media_type);
    headers.insert(header::CACHE_CONTROL, NO_STORE);
    response
}

/// The answer to an append: JSON, and nothing a cache would look at, since POST is not kept.
pub(super) fn appended(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    static HEAD: LazyLock<HeaderMap> = LazyLock::new(|| caution::head_of_data("application/json"));
    let mut response = exit::reply(status, Body::Full(body.into()));
    response.headers_mut().clone_from(&HEAD);
    response
}

/// An answer without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    exit::empty(status)
}
