//! Events as JSON text: finding their boundaries, validating them, inferring their shape, and extracting fields.
//!
//! `split` finds events in text that arrives in pieces. `validate` validates an event as JSON and compares it with the
//! shape so far, in one walk over its bytes. `skim` finds the end of a value that is too long to buffer. `requirements`
//! holds a stream's requirements on its events, `json_schema` a JSON Schema. `shape` is the set of columns seen so far,
//! `live_shape` the shape that appends widen. Text that is already validated is read by `salver_text::json`.

mod compiled_shape;
mod extract;
mod json_schema;
mod kind_tree;
mod live_shape;
mod requirements;
mod shape;
mod skim;
mod split;
mod validate;
mod value_kinds;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use extract::{Picks, Time};
pub(crate) use json_schema::Rule;
pub(crate) use kind_tree::{LARGE_WHOLE, OWN_COLUMNS, UNNAMED};
pub(crate) use live_shape::LiveShape;
pub(crate) use requirements::{Checker, Checks};
pub(crate) use shape::EventShape;
pub(crate) use split::{SplitStep, Splitter};
pub(crate) use value_kinds::WHOLE_DIGITS;
