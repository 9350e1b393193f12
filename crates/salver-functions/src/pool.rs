//! Which call gets which worker, and how many workers there are.
//!
//! A call takes the worker that was given back last, whose caches are warm. When none is free it waits, in the order of
//! coming, and another worker is forked while there may be more; it gets whichever is free first.

mod counts;
mod lease;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use salver_model::functions::Workers;
use salver_model::spec::FunctionSpec;
use tokio::sync::{Notify, oneshot};

pub(crate) use self::lease::Lease;
use self::lease::Turn;
use self::state::State;
use crate::process::{Worker, Zygote};

/// Why a call gets no worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// As many wait as may.
    Full,
    /// None came free in time.
    Late,
    /// There are none, and there will be none soon.
    Unavailable,
}

/// The bounds of a pool.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    workers_min: usize,
    workers_max: usize,
    waiting_max: usize,
    wait: Duration,
    calls_max: u64,
}

/// The workers of one file.
#[derive(Debug)]
pub(crate) struct Pool {
    bounds: Bounds,
    state: Mutex<State>,
    fallen: Notify,
}

impl Pool {
    pub(crate) fn new(spec: &FunctionSpec) -> Self {
        let workers_max = spec.workers_max.max(1);
        let bounds = Bounds {
            workers_min: spec.workers_min.min(workers_max),
            workers_max,
            waiting_max: spec.waiting_max,
            wait: spec.wait,
            calls_max: spec.calls_max.map_or(u64::MAX, |calls| calls.max(1)),
        };
        Self { bounds, state: Mutex::new(State::new(bounds)), fallen: Notify::new() }
    }

    /// A worker for a call, now or when the call's turn comes.
    pub(crate) async fn take(self: &Arc<Self>) -> Result<Lease, Refusal> {
        let turn = {
            let mut state = self.lock();
            if let Some(worker) = state.take() {
                drop(state);
                return Ok(Lease::new(Arc::clone(self), worker));
            }
            let (sender, receiver) = oneshot::channel();
            state.wait(sender)?;
            Turn::new(self, receiver)
        };
        let came = Instant::now();
        let worker = tokio::time::timeout(self.bounds.wait, turn.wait()).await.unwrap_or(Err(Refusal::Late));
        self.lock().counts.waited(came.elapsed());
        worker
    }

    /// A worker is there. One of another generation than the current one is of no use.
    pub(crate) fn arrived(&self, worker: Box<Worker>) {
        let unused = self.lock().arrived(worker);
        drop(unused);
    }

    /// So many workers that zygote `number` was told to fork did not come.
    pub(crate) fn missing(&self, number: u64, count: usize) {
        self.lock().missing(number, count);
    }

    /// Zygote `number` ended by itself.
    pub(crate) fn fell(&self, number: u64) {
        if self.lock().fell(number) {
            self.fallen.notify_one();
        }
    }

    /// Waits until the current zygote has ended by itself.
    pub(crate) async fn fallen(&self) {
        self.fallen.notified().await;
    }

    /// From now on workers of this zygote serve; those of earlier ones end when their call does.
    pub(crate) fn adopt(&self, zygote: Arc<Zygote>) {
        let unused = self.lock().adopt(zygote);
        drop(unused);
    }

    /// There is no zygote, and none is to be expected before the file changes: whoever waits is told so, and so are
    /// others until there is one.
    pub(crate) fn refuse(&self) {
        self.lock().refuse();
    }

    /// Ends all that is not busy, for good.
    pub(crate) fn close(&self) {
        let unused = self.lock().close();
        drop(unused);
    }

    /// Ends workers that are idle for longer than `idle`, but for those that are to be kept; finds those that ended by
    /// themselves; and has forked what is missing.
    pub(crate) fn tend(&self, idle: Duration) {
        let unused = self.lock().tend(idle);
        drop(unused);
    }

    /// How it is doing.
    pub(crate) fn counts(&self) -> Workers {
        self.lock().workers()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
