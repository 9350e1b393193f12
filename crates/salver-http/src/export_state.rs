//! State of exports between requests. Independent of the protocol handlers.

mod decoder_slots;
mod entity_tag;
mod measure;
mod session;
mod token;

use std::sync::Arc;

pub(crate) use self::decoder_slots::{DecoderSlots, HeldSlot, SlotPermit};
pub(crate) use self::entity_tag::Tag;
pub(crate) use self::measure::{Marks, Measured, Measures};
pub(crate) use self::session::{Missing, Opened, Sessions};
pub(crate) use self::token::{ExportToken, damaged};

/// State of exports between requests.
#[derive(Debug, Default)]
pub(crate) struct Exports {
    /// The lengths of bodies.
    pub(crate) measures: Measures,
    /// The open exports.
    pub(crate) sessions: Sessions,
    /// The turns to hold a decoder, which cursors take, too.
    pub(crate) turns: Arc<DecoderSlots>,
}
