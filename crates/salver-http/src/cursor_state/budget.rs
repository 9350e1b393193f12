//! The budget that all cursors share for batches that are prepared before they are requested.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use salver_model::limits::PREPARED_BYTES_MAX;

/// The bytes in use.
#[derive(Debug, Default)]
pub(crate) struct CursorBudget {
    bytes: AtomicUsize,
}

impl CursorBudget {
    /// Reserves about `bytes`, if the budget allows it.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: usize) -> Option<Reservation> {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let reservation = Reservation { budget: Arc::clone(self), bytes };
        (before.saturating_add(bytes) <= PREPARED_BYTES_MAX).then_some(reservation)
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
}

impl Reservation {
    /// Adjusts the reservation to the bytes in use.
    pub(crate) fn adjust(&mut self, bytes: usize) {
        self.budget.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.budget.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = bytes;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.adjust(0);
    }
}
