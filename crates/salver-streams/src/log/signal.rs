//! Waiting for something that changes often: who changes it pays nothing as long as nobody waits.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// Something to wait for.
#[derive(Debug, Default)]
pub(super) struct Signal {
    notify: Notify,
    waiting: AtomicUsize,
}

impl Signal {
    /// Wakes all who wait. What they wait for must have been stored before, with `SeqCst`, or under a lock they take.
    pub(super) fn raise(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.notify.notify_waiters();
        }
    }

    /// Waits until `find` finds something; it is called again after each [`Signal::raise`].
    pub(super) async fn until<T>(&self, find: impl Fn() -> Option<T>) -> T {
        if let Some(found) = find() {
            return found;
        }
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let _counted = Counted(&self.waiting);
        loop {
            let mut raised = pin!(self.notify.notified());
            raised.as_mut().enable();
            if let Some(found) = find() {
                return found;
            }
            raised.await;
        }
    }
}

/// One who waits, until it is dropped.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
