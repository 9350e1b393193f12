//! Errors of streams in Salver's own format.

use http::Response;
use salver_model::Error;
use salver_model::observation::Observation;

use crate::app::App;
use crate::body::Body;
use crate::problem;

/// Reports internal errors to the operator.
pub(super) fn observe(app: &App, error: &Error) {
    if problem::status(error.code).as_u16() == 500 {
        app.service.observer().observe(&Observation::RequestFailed { error });
    }
}

/// Returns the response for an error in Salver's own format.
pub(super) fn own(error: &Error) -> Response<Body> {
    with(error, b"")
}

/// Returns the same response with further members, as JSON text that begins with a comma.
pub(super) fn with(error: &Error, members: &[u8]) -> Response<Body> {
    problem::respond_with(error, problem::status(error.code), members)
}
