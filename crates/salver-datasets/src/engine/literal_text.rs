//! Texts of values as PostgreSQL reads them, taken apart or written as the engine's kernels read them.

mod array;
mod moment;
mod number;
mod uuid;
mod zone_abbreviations;

pub(crate) use array::{Element, elements};
pub(crate) use moment::{date, time, timestamp};
pub(crate) use number::written_out;
pub(crate) use uuid::uuid;
pub(super) use zone_abbreviations::offset_of;
