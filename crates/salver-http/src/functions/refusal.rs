//! Refusals of functions.

use http::StatusCode;
use salver_model::{Code, Error};

use crate::dialect::Refusal;

/// Returns the refusal of a call that failed, with the status that fits the failure of a backend.
pub(super) fn of_call(error: Error) -> Refusal {
    match error.code {
        Code::Timeout => Refusal::from(error).with_status(StatusCode::GATEWAY_TIMEOUT),
        Code::OutOfMemory => Refusal::from(error).with_status(StatusCode::INTERNAL_SERVER_ERROR),
        _ => error.into(),
    }
}
