//! The one place where a response is made. What is told of it, everybody adds who has something to tell; what every
//! response gets on its way out stands in `router`.

use bytes::Bytes;
use http::{Response, StatusCode};

use crate::body::Body;

/// A response with a body.
pub(crate) fn reply(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

/// A response without one.
pub(crate) fn empty(status: StatusCode) -> Response<Body> {
    reply(status, Body::Full(Bytes::new()))
}
