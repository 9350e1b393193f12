//! Notification for state that changes often: raising it is almost free while there are no waiters.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// State change that tasks can wait for.
#[derive(Debug, Default)]
pub(super) struct Signal {
    notify: Notify,
    waiting: AtomicUsize,
}

impl Signal {
    /// Wakes all waiters. The change must have been stored before, with `SeqCst`, or under a lock that they take.
    pub(super) fn raise(&self) {
        if self.waiting.load(Ordering::SeqCst) > 0 {
            self.notify.notify_waiters();
        }
    }

    /// Waits until `find` returns a value; it is called again after each [`Signal::raise`].
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

/// Registration of a waiter, removed on drop.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}
