//! The one place where a response is created. The code that has headers to add adds them; those of every response are
//! added in `router`.

use bytes::Bytes;
use http::{Response, StatusCode};

use crate::body::Body;

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
