//! What cursors may keep for clients who come back soon, all cursors together: decoders, and batches that are prepared
//! before they are asked for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use salver_model::limits::{AWAKE_CURSORS_MAX, PREPARED_BYTES_MAX};

/// What is taken.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    bytes: AtomicUsize,
    awake: AtomicUsize,
}

impl Budget {
    /// Room for a decoder and about `bytes`, when there is.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: usize) -> Option<Reservation> {
        let bytes_before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        let awake_before = self.awake.fetch_add(1, Ordering::Relaxed);
        let reservation = Reservation { budget: Arc::clone(self), bytes, is_awake: true };
        let is_room = bytes_before.saturating_add(bytes) <= PREPARED_BYTES_MAX && awake_before < AWAKE_CURSORS_MAX;
        is_room.then_some(reservation)
    }

    /// Whether so much is taken that what rests should be given back.
    pub(crate) fn is_short(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > PREPARED_BYTES_MAX / 2
    }
}

/// Room in the budget; free again when it is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Arc<Budget>,
    bytes: usize,
    is_awake: bool,
}

impl Reservation {
    /// Sets it to what is really taken, without a decoder.
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
