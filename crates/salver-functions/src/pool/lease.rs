//! A worker while it is busy with a call, and a call while it waits for one.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use salver_model::limits::FUNCTION_LINGER_MS_MAX;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::{Pool, Refusal};
use crate::process::{Ended, Mark, Worker};

/// How long a call whose caller left may still take.
const LINGER: Duration = Duration::from_millis(FUNCTION_LINGER_MS_MAX);

/// A worker for one call. Dropped before it is given back, its process is killed, because nobody knows what it is
/// doing; but one that is at a call whose caller left gets a moment to end it, since most calls take less than another
/// process does.
#[derive(Debug)]
pub(crate) struct Lease {
    pool: Arc<Pool>,
    /// `None` only while this is dropped.
    worker: Option<Worker>,
    /// Whether it has had its time.
    is_overdue: bool,
}

impl Lease {
    pub(super) fn new(pool: Arc<Pool>, worker: Worker) -> Self {
        Self { pool, worker: Some(worker), is_overdue: false }
    }

    /// The worker.
    ///
    /// # Errors
    /// Never, since nobody has what is being dropped.
    pub(crate) fn worker(&mut self) -> Result<&mut Worker, Ended> {
        self.worker.as_mut().ok_or_else(|| Ended::Before(io::ErrorKind::NotConnected.into()))
    }

    /// The call took too long: dropped, the process is killed at once.
    pub(crate) fn condemn(&mut self) {
        self.is_overdue = true;
    }

    /// The worker's call is over and it may have the next.
    pub(crate) fn give_back(mut self) {
        if let Some(worker) = self.worker.take() {
            let unused = self.pool.lock().give_back(worker);
            drop(unused);
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(worker) = self.worker.take() else { return };
        let lost = Lost { pool: Arc::clone(&self.pool), mark: worker.mark().clone(), is_armed: true };
        if let (true, false, Ok(runtime)) = (worker.is_awaited(), self.is_overdue, Handle::try_current()) {
            runtime.spawn(linger(worker, lost));
        }
    }
}

/// Waits for the answer that nobody wants any more. Dropped, or when it does not come, the process is killed.
async fn linger(mut worker: Worker, mut lost: Lost) {
    if let Ok(true) = timeout(LINGER, worker.ends_call()).await {
        lost.is_armed = false;
        let unused = lost.pool.lock().give_back(worker);
        drop(unused);
    }
}

/// Kills a worker that is not given back. It goes before the worker does, whose connection ends then.
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
