//! The handlers of v2's consumers.

mod door;
mod instance;
mod pattern;
mod records;

use http::StatusCode;
use salver_model::limits::CONSUMERS_MAX;

pub(super) use self::door::{answer, delete, join};
use super::{Failure, topic, topic_name};
use crate::consumers::Refusal;

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::TooMany => {
                let message = format!("there are {CONSUMERS_MAX} consumers, and no more are taken; delete some");
                Self::new(StatusCode::TOO_MANY_REQUESTS, 42901, message)
            }
            Refusal::Exists => {
                let message = "Consumer with specified consumer ID already exists in the specified consumer group.";
                Self::new(StatusCode::CONFLICT, 40902, message)
            }
            Refusal::Unknown => Self::new(StatusCode::NOT_FOUND, 40403, "Consumer instance not found."),
        }
    }
}
