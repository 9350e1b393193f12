//! Texts of values as PostgreSQL reads them, taken apart or written as the engine's kernels read them.

mod array;
mod moment;

pub(crate) use array::{Element, elements};
pub(crate) use moment::{date, timestamp};
