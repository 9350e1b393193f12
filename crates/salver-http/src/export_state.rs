//! What the doors of exports keep between requests. Knows no door.

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

/// What these doors keep.
#[derive(Debug, Default)]
pub(crate) struct Exports {
    /// How long bodies are.
    pub(crate) measures: Measures,
    /// Exports that are open.
    pub(crate) sessions: Sessions,
    /// Who may hold a decoder.
    pub(crate) turns: Turns,
}
