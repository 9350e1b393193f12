//! The budget that all cursors share for decoders and for batches that are prepared before they are requested.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use salver_model::limits::{AWAKE_CURSORS_MAX, PREPARED_BYTES_MAX};

/// The resources in use.
#[derive(Debug, Default)]
pub(crate) struct CursorBudget {
    bytes: AtomicUsize,
    awake: AtomicUsize,
}

impl CursorBudget {
    /// Reserves a decoder and about `bytes`, if the budget allows it.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: usize) -> Option<Reservation> {
        let bytes_before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let awake_before = self.awake.fetch_add(1, Ordering::Relaxed);
        let reservation = Reservation { budget: Arc::clone(self), bytes, is_awake: true };
        let is_room = bytes_before.saturating_add(bytes) <= PREPARED_BYTES_MAX && awake_before < AWAKE_CURSORS_MAX;
        is_room.then_some(reservation)
    }

    /// Returns whether so much is in use that idle cursors should release what they can.
    pub(crate) fn is_short(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > PREPARED_BYTES_MAX / 2
    }
}

/// A reservation in the budget, released on drop.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Arc<CursorBudget>,
    bytes: usize,
    is_awake: bool,
}

impl Reservation {
    /// Adjusts the reservation to the bytes in use, and releases the decoder.
    pub(crate) fn rest(&mut self, bytes: usize) {
        self.budget.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.budget.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = bytes;
        if std::mem::take(&mut self.is_awake) {
            self.budget.awake.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.rest(0);
    }
}
