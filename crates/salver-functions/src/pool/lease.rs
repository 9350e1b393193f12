//! Exclusive use of a worker by a call, and the wait for it.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use salver_model::limits::FUNCTION_LINGER_MS_MAX;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Pool, PoolRefusal};
use crate::process::{CallEnd, Mark, Worker};

/// Longest time a call may continue after its caller left.
const LINGER: Duration = Duration::from_millis(FUNCTION_LINGER_MS_MAX);

/// Lease of a worker for one call. If it is dropped before `give_back`, its process is killed, because its state is
/// unknown; but a call whose caller left gets a moment to complete, since most calls take less time than starting
/// another process.
#[derive(Debug)]
pub(crate) struct WorkerLease {
    pool: Arc<Pool>,
    /// Worker; `None` only during drop.
    worker: Option<Worker>,
    /// Whether the call timed out.
    is_overdue: bool,
}

impl WorkerLease {
    pub(super) fn new(pool: Arc<Pool>, worker: Worker) -> Self {
        Self { pool, worker: Some(worker), is_overdue: false }
    }

    /// Returns the worker.
    ///
    /// # Errors
    /// Returns no error in practice: there is always a worker before the drop.
    pub(crate) fn worker(&mut self) -> Result<&mut Worker, CallEnd> {
        self.worker.as_mut().ok_or_else(|| CallEnd::Before(io::ErrorKind::NotConnected.into()))
    }

    /// Marks the call as timed out: on drop the process is killed at once.
    pub(crate) fn condemn(&mut self) {
        self.is_overdue = true;
    }

    /// Returns the worker after its call, for the next one.
    pub(crate) fn give_back(mut self) {
        if let Some(worker) = self.worker.take() {
            let unused = self.pool.lock().give_back(worker);
            drop(unused);
        }
    }
}

impl Drop for WorkerLease {
    fn drop(&mut self) {
        let Some(worker) = self.worker.take() else { return };
        let lost = Lost { pool: Arc::clone(&self.pool), mark: worker.mark().clone(), is_armed: true };
        if let (true, false, Ok(runtime)) = (worker.is_awaited(), self.is_overdue, Handle::try_current()) {
            runtime.spawn(linger(worker, lost));
        }
    }
}

/// Waits for an answer that is no longer wanted. The process is killed when the future is dropped, or the answer does
/// not arrive.
async fn linger(mut worker: Worker, mut lost: Lost) {
    if let Ok(true) = timeout(LINGER, worker.ends_call()).await {
        lost.is_armed = false;
        let unused = lost.pool.lock().give_back(worker);
        drop(unused);
    }
}

/// Guard that kills a worker that is not given back. It is dropped before the worker, whose connection then closes.
#[derive(Debug)]
struct Lost {
    pool: Arc<Pool>,
    mark: Mark,
    is_armed: bool,
}

impl Drop for Lost {
    fn drop(&mut self) {
        if self.is_armed {
            self.mark.kill();
            self.pool.lock().lost(&self.mark);
        }
    }
}

/// Waiting call.
#[derive(Debug)]
pub(super) struct WorkerWait<'a> {
    pool: &'a Arc<Pool>,
    receiver: oneshot::Receiver<Worker>,
    is_over: bool,
}

impl<'a> WorkerWait<'a> {
    pub(super) fn new(pool: &'a Arc<Pool>, receiver: oneshot::Receiver<Worker>) -> Self {
        Self { pool, receiver, is_over: false }
    }

    pub(super) async fn wait(mut self) -> Result<WorkerLease, PoolRefusal> {
        let worker = (&mut self.receiver).await.map_err(|_| PoolRefusal::Unavailable)?;
        self.is_over = true;
        Ok(WorkerLease::new(Arc::clone(self.pool), worker))
    }
}

impl Drop for WorkerWait<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut state = self.pool.lock();
        self.receiver.close();
        let unused = match self.receiver.try_recv() {
            // The worker was assigned just when the caller left.
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
