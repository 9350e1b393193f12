//! Errors of the doors of streams in Salver's own language, by the one writer.

use http::Response;
use salver_model::Error;
use salver_model::observation::Observation;

use crate::app::App;
use crate::body::Body;
use crate::problem;

/// Tells the operator of what is ours.
pub(super) fn observe(app: &App, error: &Error) {
    if problem::status(error.code).as_u16() == 500 {
        app.service.observer().observe(&Observation::RequestFailed { error });
    }
}

/// The answer in Salver's own language.
pub(super) fn own(error: &Error) -> Response<Body> {
    with(error, b"")
}

/// The same with further members, as JSON text that begins with a comma.
pub(super) fn with(error: &Error, members: &[u8]) -> Response<Body> {
    problem::respond_with(error, problem::status(error.code), members)
}
