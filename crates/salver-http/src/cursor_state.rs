//! What the doors of cursors keep between requests: the open cursors, and what these make their batches with.
//!
//! `open` is a cursor: it prepares a batch while its client digests the one before, and rests when nobody comes.
//! `supply` makes batches of rows, `budget` bounds what all of them prepare together, `failure` is what went wrong.

mod budget;
mod failure;
mod open;
mod supply;

use std::sync::Arc;

use salver_model::Shares;
use salver_model::limits::{LEASES_MAX, LIVE_CURSORS_MAX};
use salver_service::exports::Leases;

pub(crate) use budget::Budget;
pub(crate) use failure::Failure;
pub(crate) use open::{Cursor, Facts, Given, Kind};
pub(crate) use supply::{Source, Supply};

/// All open cursors.
#[derive(Debug)]
pub(crate) struct Cursors {
    /// The cursors by their ids.
    pub(crate) leases: Leases<Cursor>,
    /// Batches that are prepared for clients who come back.
    pub(crate) prepared: Arc<Budget>,
    /// Places of cursors whose query goes on running, or whose rows wait in memory.
    pub(crate) live: Arc<Shares>,
}

impl Default for Cursors {
    fn default() -> Self {
        let live = Shares::new("running cursors", LIVE_CURSORS_MAX);
        Self { leases: Leases::new("cursors", LEASES_MAX), prepared: Arc::default(), live }
    }
}
