//! State of exports between requests. Independent of the protocol handlers.

mod measure;
mod session;
mod tag;
mod token;
mod turn;

pub(crate) use self::measure::{Marks, Measured, Measures};
pub(crate) use self::session::{Missing, Opened, Sessions};
pub(crate) use self::tag::Tag;
pub(crate) use self::token::{Token, damaged};
pub(crate) use self::turn::{Seat, Seated, Turns};

/// State of exports between requests.
#[derive(Debug, Default)]
pub(crate) struct Exports {
    /// The lengths of bodies.
    pub(crate) measures: Measures,
    /// The open exports.
    pub(crate) sessions: Sessions,
    /// The turns to hold a decoder.
    pub(crate) turns: Turns,
}
