//! What is known of one query's work by whoever computes for it and whoever may end it: whether it was ended, and
//! whether its plan is made.

use std::sync::atomic::{AtomicBool, Ordering};

/// What is known of one query's work.
#[derive(Debug, Default)]
pub(super) struct State {
    cancelled: AtomicBool,
    planned: AtomicBool,
    /// Whether it was ended because the process had too much in memory.
    pressed: AtomicBool,
}

impl State {
    /// Ends the work.
    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the work was ended.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Ends the work because of the memory it takes.
    pub(super) fn press(&self) {
        self.pressed.store(true, Ordering::Relaxed);
        self.cancel();
    }

    /// Whether it was ended because of the memory it takes.
    pub(super) fn is_pressed(&self) -> bool {
        self.pressed.load(Ordering::Relaxed)
    }

    /// The plan is made.
    pub(super) fn mark_planned(&self) {
        self.planned.store(true, Ordering::Relaxed);
    }

    /// Whether the plan is made.
    pub(super) fn is_planned(&self) -> bool {
        self.planned.load(Ordering::Relaxed)
    }
}
