//! Refusals of functions.

use http::{Method, Response, StatusCode, header};
use salver_model::{Code, Error};

use crate::body::Body;
use crate::dialect::Refusal;
use crate::exit;
use crate::routes::Family;

/// Returns the refusal of a call that failed, with the status that fits the failure of a backend.
pub(super) fn of_call(error: Error) -> Refusal {
    match error.code {
        Code::Timeout => Refusal::from(error).with_status(StatusCode::GATEWAY_TIMEOUT),
        Code::OutOfMemory => Refusal::from(error).with_status(StatusCode::INTERNAL_SERVER_ERROR),
        _ => error.into(),
    }
}

/// Responds to OPTIONS with the supported methods, and refuses any other method.
pub(super) fn of_method(method: &Method, methods: &str) -> Result<Response<Body>, Refusal> {
    let refusal = Refusal::of_method(method, methods)
        .with_header(header::ACCESS_CONTROL_ALLOW_METHODS, methods)
        .with_header(header::ACCESS_CONTROL_ALLOW_HEADERS, Family::Functions.request_headers());
    if *method != Method::OPTIONS {
        return Err(refusal);
    }
    let mut response = exit::empty(StatusCode::NO_CONTENT);
    response.headers_mut().extend(refusal.headers);
    Ok(response)
}
