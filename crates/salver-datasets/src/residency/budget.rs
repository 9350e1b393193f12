//! The one bound on memory for resident datasets. It counts bytes; it knows nothing of datasets or queries.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that resident datasets may hold together.
#[derive(Debug)]
pub struct Budget {
    bytes_max: u64,
    used: AtomicU64,
}

impl Budget {
    /// A budget of `bytes_max` bytes.
    #[must_use]
    pub fn new(bytes_max: u64) -> Arc<Self> {
        Arc::new(Self { bytes_max, used: AtomicU64::new(0) })
    }

    /// All there is.
    #[must_use]
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// What is reserved now.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Acquire)
    }

    /// What is left now; another load may take it before the caller does.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.bytes_max.saturating_sub(self.used())
    }

    /// Takes `bytes`, given back when the reservation is dropped; `None` when there is not that much left.
    #[must_use]
    pub fn reserve(self: &Arc<Self>, bytes: u64) -> Option<Reservation> {
        self.take(bytes).then(|| Reservation { budget: Arc::clone(self), bytes })
    }

    fn take(&self, bytes: u64) -> bool {
        self.used
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| {
                used.checked_add(bytes).filter(|total| *total <= self.bytes_max)
            })
            .is_ok()
    }
}

/// A part of a [`Budget`], held while it lives.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Reservation {
    /// How much is held.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes as much as makes it `bytes`, or gives back what is above; false, and nothing changed, when there is not
    /// enough left.
    #[must_use]
    pub fn resize(&mut self, bytes: u64) -> bool {
        if bytes > self.bytes {
            if !self.budget.take(bytes - self.bytes) {
                return false;
            }
        } else {
            self.budget.used.fetch_sub(self.bytes - bytes, Ordering::AcqRel);
        }
        self.bytes = bytes;
        true
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}
