//! Formats errors as ArangoDB does.

use http::{HeaderValue, Method, Response, StatusCode, header};
use salver_formats::json::write_string;
use salver_model::observation::Observation;

use super::answer::{self, JSON};
use crate::app::App;
use crate::body::Body;
use crate::cursor_state::Failure;

/// Returns the response for a failure.
pub(super) fn respond(app: &App, failure: &Failure) -> Response<Body> {
    if let Some(error) = &failure.cause {
        app.service.observer().observe(&Observation::RequestFailed { error });
    }
    let mut body = Vec::with_capacity(128);
    body.extend_from_slice(b"{\"error\":true,\"code\":");
    body.extend_from_slice(failure.status.as_str().as_bytes());
    body.extend_from_slice(format!(",\"errorNum\":{},\"errorMessage\":", failure.number).as_bytes());
    write_string(&failure.message, &mut body);
    body.push(b'}');
    let mut response = answer::whole(failure.status, JSON, body);
    let headers = response.headers_mut();
    match failure.status {
        StatusCode::SERVICE_UNAVAILABLE => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            let allowed = [Method::POST, Method::PUT, Method::DELETE].map(|method| method.to_string()).join(", ");
            headers.extend(HeaderValue::try_from(allowed).ok().map(|allowed| (header::ALLOW, allowed)));
        }
        _ => {}
    }
    response
}
