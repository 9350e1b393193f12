//! State of one query's work, shared by its computations and by the code that may cancel it: whether it was cancelled,
//! and whether its plan is complete.

use std::sync::atomic::{AtomicBool, Ordering};

/// State of one query's work.
#[derive(Debug, Default)]
pub(super) struct WorkState {
    cancelled: AtomicBool,
    planned: AtomicBool,
    /// Whether the work was cancelled because the process used too much memory.
    pressed: AtomicBool,
}

impl WorkState {
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
