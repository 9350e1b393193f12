//! The handlers of v2's consumers.

mod door;
mod instance;
mod pattern;
mod records;

pub(super) use self::door::{answer, delete, join};
use super::consumer;
