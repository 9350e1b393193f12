//! The memory limit that all resident datasets share. It counts bytes, and knows nothing of datasets or queries.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Function that is called when less is left.
type OnGrowth = Box<dyn Fn() + Send + Sync>;

/// Bytes that resident datasets may use together.
pub struct Budget {
    bytes_max: u64,
    used: AtomicU64,
    on_growth: OnceLock<OnGrowth>,
}

impl fmt::Debug for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Budget({} of {} bytes)", self.used(), self.bytes_max)
    }
}

impl Budget {
    /// Makes a budget of `bytes_max` bytes.
    #[must_use]
    pub fn new(bytes_max: u64) -> Arc<Self> {
        Arc::new(Self { bytes_max, used: AtomicU64::new(0), on_growth: OnceLock::new() })
    }

    /// Returns the size of the budget, in bytes.
    #[must_use]
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Returns the number of bytes reserved now.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Acquire)
    }

    /// Returns the number of bytes left now; a concurrent load may reserve them first.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.bytes_max.saturating_sub(self.used())
    }

    /// Reserves `bytes`, which are released when the reservation is dropped; `None` if less than that is left.
    #[must_use]
    pub fn reserve(self: &Arc<Self>, bytes: u64) -> Option<Reservation> {
        self.take(bytes).then(|| Reservation { budget: Arc::clone(self), bytes })
    }

    /// Sets the function that is called when more has been reserved, once. It frees what fills memory that is left.
    pub(crate) fn on_growth(&self, then: impl Fn() + Send + Sync + 'static) {
        // Whoever makes the budget does it.
        let _ = self.on_growth.set(Box::new(then));
    }

    fn take(&self, bytes: u64) -> bool {
        let taken = self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, |used| {
            used.checked_add(bytes).filter(|total| *total <= self.bytes_max)
        });
        if let (Ok(_), Some(then)) = (taken, self.on_growth.get()) {
            then();
        }
        taken.is_ok()
    }
}

/// A reserved part of a [`Budget`], released on drop.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Reservation {
    /// Returns the number of reserved bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns a part of it, of at most `bytes`, that is released on its own.
    pub(crate) fn split(&mut self, bytes: u64) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self { budget: Arc::clone(&self.budget), bytes }
    }

    /// Grows or shrinks the reservation to `bytes`; returns false, and changes nothing, if there is not enough left.
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
