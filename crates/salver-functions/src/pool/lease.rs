//! A worker while it is busy with a call, and a call while it waits for one.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::{Pool, Refusal};
use crate::process::{Mark, Worker};

/// A worker for one call. Dropped before it is given back, its process is killed: nobody knows what it is doing.
#[derive(Debug)]
pub(crate) struct Lease {
    // Dropped first: the process is killed before its connection ends.
    guard: Guard,
    worker: Worker,
}

impl Lease {
    pub(super) fn new(pool: Arc<Pool>, worker: Worker) -> Self {
        Self { guard: Guard { pool, mark: worker.mark().clone(), is_armed: true }, worker }
    }

    /// The worker.
    pub(crate) fn worker(&mut self) -> &mut Worker {
        &mut self.worker
    }

    /// The worker's call is over and it may have the next.
    pub(crate) fn give_back(self) {
        let Self { mut guard, worker } = self;
        guard.is_armed = false;
        let unused = guard.pool.lock().give_back(worker);
        drop(unused);
    }
}

/// Kills a worker that is not given back.
#[derive(Debug)]
struct Guard {
    pool: Arc<Pool>,
    mark: Mark,
    is_armed: bool,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.is_armed {
            self.mark.kill();
            self.pool.lock().lost(&self.mark);
        }
    }
}

/// A call that waits.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pool: &'a Arc<Pool>,
    receiver: oneshot::Receiver<Worker>,
    is_over: bool,
}

impl<'a> Turn<'a> {
    pub(super) fn new(pool: &'a Arc<Pool>, receiver: oneshot::Receiver<Worker>) -> Self {
        Self { pool, receiver, is_over: false }
    }

    pub(super) async fn wait(mut self) -> Result<Lease, Refusal> {
        let worker = (&mut self.receiver).await.map_err(|_| Refusal::Unavailable)?;
        self.is_over = true;
        Ok(Lease::new(Arc::clone(self.pool), worker))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut state = self.pool.lock();
        self.receiver.close();
        let unused = match self.receiver.try_recv() {
            // Its turn came when it had just left.
            Ok(worker) => state.give_back(worker),
            Err(_) => {
                state.left();
                None
            }
        };
        drop(state);
        drop(unused);
    }
}
