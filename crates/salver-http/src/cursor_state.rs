//! State of cursors between requests: the open cursors, and the resources with which they prepare batches.
//!
//! `open` is a cursor, which prepares the next batch while its client processes the last one, and releases its decoder
//! when idle. `batch_source` encodes batches of rows, and `budget` bounds the memory of all prepared batches.

mod batch_source;
mod budget;
mod open;

use std::sync::Arc;

use salver_model::Shares;
use salver_model::limits::{LEASES_MAX, LIVE_CURSORS_MAX};
use salver_service::exports::Leases;

pub(crate) use batch_source::{BatchRows, SnapshotRows, Supply};
pub(crate) use budget::CursorBudget;
pub(crate) use open::{Cursor, CursorBatch, CursorKind, Facts};

/// All open cursors.
#[derive(Debug)]
pub(crate) struct Cursors {
    /// The cursors by the ids of their leases.
    pub(crate) leases: Leases<Cursor>,
    /// The budget for prepared batches.
    pub(crate) prepared: Arc<CursorBudget>,
    /// Permits for cursors whose query keeps running, or whose rows are buffered in memory.
    pub(crate) live: Arc<Shares>,
}

impl Default for Cursors {
    fn default() -> Self {
        let live = Shares::new("running cursors", LIVE_CURSORS_MAX);
        Self { leases: Leases::new("cursors", LEASES_MAX), prepared: Arc::default(), live }
    }
}
