//! The parts of a snapshot that every system needs: a permit for its connection, turns for its readers, and the error
//! for a snapshot that is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::select_all;
use salver_model::limits::SNAPSHOTS_PER_DATABASE_MAX;
use salver_model::{Code, Error, Result};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Permit, Sender};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Number of pieces a scan sends before it yields to waiting readers.
const TURN_PIECES: usize = 32;

/// The waiters for a resource that a scan may use for long.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: AtomicUsize,
    came: Notify,
}

/// Counts one waiter for as long as it exists.
struct WaitingCount<'a>(&'a Queue);

impl Drop for WaitingCount<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Queue {
    /// Waits for `turn`, and tells the scan that holds it to yield.
    pub(crate) async fn wait<T>(&self, turn: impl Future<Output = T>) -> T {
        self.waiting.fetch_add(1, Ordering::AcqRel);
        let _waiting = WaitingCount(self);
        self.came.notify_waiters();
        turn.await
    }

    /// Waits for a permit to send the next piece of a scan into `out`; returns `None` when the scan should end: `out`
    /// is closed, or a waiter of `queues` needs what the scan uses.
    pub(crate) async fn place<'a, M, const N: usize>(
        queues: [&Self; N],
        out: &'a Sender<M>,
        sent: &mut usize,
    ) -> Option<Permit<'a, M>> {
        let came = queues.map(|queue| Box::pin(queue.came.notified()));
        let waits = queues.iter().any(|queue| queue.waiting.load(Ordering::Acquire) > 0);
        *sent += 1;
        match out.try_reserve() {
            Ok(place) if !waits || *sent <= TURN_PIECES => return Some(place),
            Ok(_) | Err(TrySendError::Closed(())) => return None,
            Err(TrySendError::Full(())) if waits => return None,
            Err(TrySendError::Full(())) => {}
        }
        tokio::select! {
            place = out.reserve() => place.ok(),
            _ = select_all(came) => None,
        }
    }
}

/// Permits for the connections of snapshots, separate from those of queries so that neither starves the other.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    free: Arc<Semaphore>,
    /// Optional permits, which make an export faster but which it can do without.
    spare: Arc<Semaphore>,
}

impl Default for Places {
    fn default() -> Self {
        let spare = SNAPSHOTS_PER_DATABASE_MAX / 2;
        Self { free: Arc::new(Semaphore::new(SNAPSHOTS_PER_DATABASE_MAX)), spare: Arc::new(Semaphore::new(spare)) }
    }
}

impl Places {
    /// Takes one permit, for the database that messages call `database`.
    ///
    /// # Errors
    /// `Overloaded` when there is none.
    pub(crate) fn take(&self, database: &str) -> Result<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok().ok_or_else(|| {
            Error::new(
                Code::Overloaded,
                format!("{SNAPSHOTS_PER_DATABASE_MAX} exports of the database {database} are open, and no more can be"),
            )
            .with_hint("finish or delete one, or try again when one has expired")
        })
    }

    /// Takes a spare permit if there is one.
    pub(crate) fn spare(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.spare).try_acquire_owned().ok()
    }
}

/// Returns the error for a snapshot that is lost for good; `why` is part of a sentence.
pub(crate) fn lost(database: &str, why: &str) -> Error {
    Error::new(Code::ExpiredCursor, format!("the rows that were held in the database {database} are gone: {why}"))
        .with_hint("begin the export again")
}
