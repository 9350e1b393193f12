//! What is answered in place of a call.

use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use salver_model::observation::Observation;
use salver_model::{Code, Error};

use crate::app::App;
use crate::body::Body;
use crate::exit;
use crate::problem;

/// The answer to a call that has none: what a backend calls an error is said in the words of HTTP.
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

/// The answer to a method that is not answered, or to who asks which are.
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
