//! Events in JSON text: where each begins and ends, whether it is one, what shape it has, and what is picked from it.
//!
//! The way of an event: `split` finds it in a text that comes in pieces; `pass` checks it as JSON and compares it with
//! the shape so far, in the same walk over its bytes; `skim` finds the end of what is too long to be kept; `check`
//! holds what a stream asks of its events, `rule` a JSON Schema. `shape` is what columns events have had, `live` the
//! one of a stream that appends widen. `reader` walks over text that was checked before, for `pick` and for whoever
//! makes rows of it.

mod check;
mod kinds;
mod live;
mod pass;
mod pick;
mod plan;
pub(crate) mod reader;
mod rule;
mod scan;
mod shape;
mod skim;
mod split;
mod tree;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use check::{Checker, Checks};
pub(crate) use kinds::WHOLE_DIGITS_MAX;
pub(crate) use live::LiveShape;
pub(crate) use pick::{Picks, Time};
pub(crate) use rule::Rule;
pub(crate) use shape::Shape;
pub(crate) use split::{Splitter, Step};
pub(crate) use tree::{LARGE_WHOLE, OWN_COLUMNS, UNNAMED};
