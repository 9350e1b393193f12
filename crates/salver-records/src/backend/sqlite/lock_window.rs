//! Times in which lanes keep the shared lock of a file with a rollback journal.
//!
//! SQLite has one such lock for all connections of a process, which is released only when none of them reads, and a
//! connection that comes while another reads does not see that a writer of another process waits. Lanes that ended
//! their transactions each at its own time would therefore keep writers away for ever. So they end them together: once
//! a window closes, no lane begins a transaction until every lane has ended its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The window of one file.
#[derive(Default)]
pub(super) struct LockWindow {
    holders: AtomicUsize,
    closing: AtomicBool,
}

/// A lane's part in the window, until it is dropped.
pub(super) struct HeldLock(Arc<LockWindow>);

impl LockWindow {
    /// Lets a lane keep the lock, unless the window is closing.
    pub(super) fn enter(self: &Arc<Self>) -> Option<HeldLock> {
        if self.is_closing() {
            return None;
        }
        self.holders.fetch_add(1, Ordering::SeqCst);
        let held = HeldLock(Arc::clone(self));
        // It may have begun to close in between, and must not wait for this lane.
        (!self.is_closing()).then_some(held)
    }

    /// Has every lane give up the lock before any may keep it again.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
        self.open_if_left();
    }

    /// Returns whether lanes must give up the lock.
    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::SeqCst)
    }

    fn open_if_left(&self) {
        if self.holders.load(Ordering::SeqCst) == 0 {
            self.closing.store(false, Ordering::SeqCst);
        }
    }
}

impl Drop for HeldLock {
    fn drop(&mut self) {
        self.0.holders.fetch_sub(1, Ordering::SeqCst);
        self.0.open_if_left();
    }
}
