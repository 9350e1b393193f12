//! Requests that wait for events to become durable.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use salver_model::Result;
use tokio::sync::oneshot;

use super::disk_error::Fault;
use super::lock::lock;

/// Result for a waiter: its events are durable, or the reason why not.
pub(super) type Told = Result<(), Fault>;

/// Waiters, by the offset they wait for.
#[derive(Debug, Default)]
pub(super) struct Waiters {
    waiting: Mutex<Vec<(u64, oneshot::Sender<Told>)>>,
    count: AtomicUsize,
}

impl Waiters {
    /// Registers a waiter for everything below `end`; the bell must be rung afterwards. `None` when it is durable by
    /// now.
    pub(super) fn wait(&self, end: u64, is_there: impl FnOnce() -> bool) -> Option<oneshot::Receiver<Told>> {
        let (sender, receiver) = oneshot::channel();
        let mut waiting = lock(&self.waiting);
        // Count before the check: `tell` reads the count after it has stored the new end.
        self.count.fetch_add(1, Ordering::SeqCst);
        if is_there() {
            self.count.fetch_sub(1, Ordering::SeqCst);
            return None;
        }
        waiting.push((end, sender));
        Some(receiver)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Returns the number of waiters.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Notifies all waiters for no more than `end` that it is durable.
    pub(super) fn tell(&self, end: u64) {
        self.answer(|wanted| wanted <= end, &Ok(()));
    }

    /// Notifies all waiters of a failure.
    pub(super) fn fail(&self, fault: &Fault) {
        self.answer(|_| true, &Err(fault.clone()));
    }

    fn answer(&self, is_meant: impl Fn(u64) -> bool, told: &Told) {
        if self.is_empty() {
            return;
        }
        let answered = {
            let mut waiting = lock(&self.waiting);
            let answered: Vec<_> = waiting.extract_if(.., |(wanted, _)| is_meant(*wanted)).collect();
            self.count.fetch_sub(answered.len(), Ordering::SeqCst);
            answered
        };
        for (_, sender) in answered {
            let _ = sender.send(told.clone());
        }
    }
}
