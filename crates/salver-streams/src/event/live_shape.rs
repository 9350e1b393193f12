//! The current shape of a stream: every append reads it without a lock, and some widen it.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use tokio::sync::watch;

use super::shape::EventShape;

/// The newest shape.
#[derive(Debug)]
pub(crate) struct LiveShape {
    newest: ArcSwap<EventShape>,
    widening: Mutex<()>,
    stamp: watch::Sender<u64>,
}

impl LiveShape {
    /// Creates a live shape that starts with `shape`.
    pub(crate) fn new(shape: EventShape) -> Self {
        Self { newest: ArcSwap::from_pointee(shape), widening: Mutex::new(()), stamp: watch::Sender::new(0) }
    }

    /// Returns the current shape.
    pub(crate) fn newest(&self) -> Arc<EventShape> {
        self.newest.load_full()
    }

    /// Widens the shape by an event, given as validated JSON text.
    pub(crate) fn widen(&self, event: &[u8]) {
        let _one_at_a_time = self.widening.lock().unwrap_or_else(PoisonError::into_inner);
        let old = self.newest();
        if let Some(wider) = old.with_event(event) {
            let changes_columns = wider.schema() != old.schema();
            self.newest.store(Arc::new(wider));
            if changes_columns {
                self.stamp.send_modify(|stamp| *stamp += 1);
            }
        }
    }

    /// Waits until the columns differ from those of `stamp`, a number that starts at 0 and changes with the columns.
    pub(crate) async fn widened(&self, stamp: u64) -> u64 {
        let mut changes = self.stamp.subscribe();
        loop {
            let now = *changes.borrow_and_update();
            if now != stamp || changes.changed().await.is_err() {
                return now;
            }
        }
    }
}
