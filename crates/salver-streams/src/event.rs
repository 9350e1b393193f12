//! Events as JSON text: finding their boundaries, validating them, inferring their shape, and extracting fields.
//!
//! `split` finds events in text that arrives in pieces. `pass` validates an event as JSON and compares it with the
//! shape so far, in one walk over its bytes. `skim` finds the end of a value that is too long to buffer. `check` holds
//! a stream's requirements on its events, `rule` a JSON Schema. `shape` is the set of columns seen so far, `live` the
//! shape that appends widen. Text that is already validated is read by `salver_text::json`.

mod check;
mod kinds;
mod live;
mod pass;
mod pick;
mod plan;
mod rule;
mod shape;
mod skim;
mod split;
mod tree;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use check::{Checker, Checks};
pub(crate) use kinds::WHOLE_DIGITS;
pub(crate) use live::LiveShape;
pub(crate) use pick::{Picks, Time};
pub(crate) use rule::Rule;
pub(crate) use shape::Shape;
pub(crate) use split::{Splitter, Step};
pub(crate) use tree::{LARGE_WHOLE, OWN_COLUMNS, UNNAMED};
