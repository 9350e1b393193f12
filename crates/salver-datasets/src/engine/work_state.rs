//! State of one query's work, shared by its computations and by the code that may cancel it: whether it was cancelled,
//! and whether its plan is complete.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Number of the next query.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// State of one query's work.
#[derive(Debug)]
pub(super) struct WorkState {
    number: u64,
    cancelled: AtomicBool,
    planned: AtomicBool,
    /// Whether the work was cancelled because the process used too much memory.
    pressed: AtomicBool,
}

impl Default for WorkState {
    fn default() -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (cancelled, planned, pressed) = Default::default();
        Self { number, cancelled, planned, pressed }
    }
}

impl WorkState {
    /// Returns a number that no other query has.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Cancels the work.
    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns whether the work was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Cancels the work because of its memory.
    pub(super) fn press(&self) {
        self.pressed.store(true, Ordering::Relaxed);
        self.cancel();
    }

    /// Returns whether the work was cancelled because of its memory.
    pub(super) fn is_pressed(&self) -> bool {
        self.pressed.load(Ordering::Relaxed)
    }

    /// Marks the plan as complete.
    pub(super) fn mark_planned(&self) {
        self.planned.store(true, Ordering::Relaxed);
    }

    /// Returns whether the plan is complete.
    pub(super) fn is_planned(&self) -> bool {
        self.planned.load(Ordering::Relaxed)
    }
}
