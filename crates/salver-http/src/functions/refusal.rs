//! Error responses of functions.

use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use salver_model::observation::Observation;
use salver_model::{Code, Error};

use crate::app::App;
use crate::body::Body;
use crate::exit;
use crate::problem;

/// Converts an error to a response, with the status that fits the failure of a backend.
pub(super) fn of_error(app: &App, error: &Error) -> Response<Body> {
    let status = match error.code {
        Code::Timeout => StatusCode::GATEWAY_TIMEOUT,
        Code::OutOfMemory => StatusCode::INTERNAL_SERVER_ERROR,
        code => problem::status(code),
    };
    if status.is_server_error() && status != StatusCode::SERVICE_UNAVAILABLE {
        app.service.observer().observe(&Observation::RequestFailed { error });
    }
    problem::respond(error, status)
}

/// Responds to OPTIONS with the supported methods, and refuses any other method.
pub(super) fn of_method(app: &App, method: &Method, methods: &str) -> Response<Body> {
    if *method == Method::OPTIONS {
        let mut response = exit::empty(StatusCode::NO_CONTENT);
        allow(response.headers_mut(), methods);
        return response;
    }
    let error = Error::new(Code::MethodNotAllowed, format!("{method} is not answered here"))
        .with_hint(format!("use {methods}"));
    let mut response = of_error(app, &error);
    allow(response.headers_mut(), methods);
    response
}

fn allow(headers: &mut HeaderMap, methods: &str) {
    if let Ok(methods) = HeaderValue::from_str(methods) {
        headers.insert(header::ALLOW, methods.clone());
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        headers.insert(
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            HeaderValue::from_static("accept, content-type, prefer, x-callback-url"),
        );
    }
}
