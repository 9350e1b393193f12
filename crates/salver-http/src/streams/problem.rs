//! Errors of the doors of streams, each in the language of its door, all by the one writer.

use http::Response;
use salver_model::Error;
use salver_model::observation::Observation;

use super::call::Call;
use super::confluent::Failure;
use super::route::{Dialect, dialect};
use super::tinybird;
use crate::body::Body;
use crate::problem;

/// The answer that tells `error`, in the language of the door that was asked.
pub(super) fn respond(call: &Call<'_>, error: &Error) -> Response<Body> {
    observe(call, error);
    match dialect(call.path) {
        Dialect::Own => own(error),
        Dialect::Confluent => Failure::from(error).respond(call),
        Dialect::Tinybird => tinybird::problem(error),
    }
}

/// Tells the operator of what is ours.
pub(super) fn observe(call: &Call<'_>, error: &Error) {
    if problem::status(error.code).as_u16() == 500 {
        call.app.service.observer().observe(&Observation::RequestFailed { error });
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
