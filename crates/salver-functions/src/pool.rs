//! Assignment of workers to calls, and the number of workers.
//!
//! A call takes the worker that was returned last, whose caches are warm. If none is free the call waits: callers take
//! turns, and the calls of each are first in, first out. Meanwhile another worker is forked if the maximum allows it;
//! the call gets whichever is free first.

mod counts;
mod lease;
mod queue;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use salver_model::Holder;
use salver_model::functions::Workers;
use salver_model::spec::FunctionSpec;
use tokio::sync::{Notify, oneshot};

pub(crate) use self::lease::WorkerLease;
use self::lease::WorkerWait;
use self::state::PoolState;
use crate::process::{Worker, Zygote};

/// Reason why a call gets no worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolRefusal {
    /// The queue is full.
    Full,
    /// No worker became free in time.
    Late,
    /// There are no workers, and none are expected soon.
    Unavailable,
}

/// Limits of a pool.
#[derive(Clone, Copy, Debug)]
struct PoolBounds {
    workers_min: usize,
    workers_max: usize,
    waiting_max: usize,
    wait: Duration,
    calls_max: u64,
}

/// Workers of one file.
#[derive(Debug)]
pub(crate) struct Pool {
    bounds: PoolBounds,
    state: Mutex<PoolState>,
    fallen: Notify,
}

impl Pool {
    pub(crate) fn new(spec: &FunctionSpec) -> Self {
        let workers_max = spec.workers_max.max(1);
        let bounds = PoolBounds {
            workers_min: spec.workers_min.min(workers_max),
            workers_max,
            waiting_max: spec.waiting_max,
            wait: spec.wait,
            calls_max: spec.calls_max.map_or(u64::MAX, |calls| calls.max(1)),
        };
        Self { bounds, state: Mutex::new(PoolState::new(bounds)), fallen: Notify::new() }
    }

    /// Returns a worker for a call of `holder`, now or when it is the call's turn: callers take turns. A patient one
    /// waits without a timeout, however many wait.
    pub(crate) async fn take(
        self: &Arc<Self>,
        holder: Option<&Holder>,
        is_patient: bool,
    ) -> Result<WorkerLease, PoolRefusal> {
        let turn = {
            let mut state = self.lock();
            if let Some(worker) = state.take() {
                drop(state);
                return Ok(WorkerLease::new(Arc::clone(self), worker));
            }
            let (sender, receiver) = oneshot::channel();
            state.wait(holder, sender, is_patient)?;
            WorkerWait::new(self, receiver)
        };
        if is_patient {
            return turn.wait().await;
        }
        let came = Instant::now();
        let worker = tokio::time::timeout(self.bounds.wait, turn.wait()).await.unwrap_or(Err(PoolRefusal::Late));
        self.lock().counts.waited(came.elapsed());
        worker
    }

    /// Adds a worker. One of another generation than the current one is discarded.
    pub(crate) fn arrived(&self, worker: Worker) {
        let unused = self.lock().arrived(worker);
        drop(unused);
    }

    /// Reports that `count` workers ordered from zygote `number` did not arrive.
    pub(crate) fn missing(&self, number: u64, count: usize) {
        self.lock().missing(number, count);
    }

    /// Reports that zygote `number` ended by itself.
    pub(crate) fn fell(&self, number: u64) {
        if self.lock().fell(number) {
            self.fallen.notify_one();
        }
    }

    /// Waits until the current zygote has ended by itself.
    pub(crate) async fn fallen(&self) {
        self.fallen.notified().await;
    }

    /// Switches to workers of this zygote; those of earlier ones end with their current call.
    pub(crate) fn adopt(&self, zygote: Arc<Zygote>) {
        let unused = self.lock().adopt(zygote);
        drop(unused);
    }

    /// Refuses calls, waiting and new, until there is a zygote, which is not expected before the file changes.
    pub(crate) fn refuse(&self) {
        self.lock().refuse();
    }

    /// Ends the workers of the current zygote, those that are busy with their current call, and refuses calls until
    /// there is another one.
    pub(crate) fn withdraw(&self) {
        let unused = self.lock().withdraw();
        drop(unused);
    }

    /// Stops everything that is not busy, permanently.
    pub(crate) fn close(&self) {
        let unused = self.lock().close();
        drop(unused);
    }

    /// Stops workers that are idle for longer than `idle`, except the minimum; detects those that ended by themselves;
    /// and orders missing ones.
    pub(crate) fn tend(&self, idle: Duration) {
        let unused = self.lock().tend(idle);
        drop(unused);
    }

    /// Returns the state of the workers.
    pub(crate) fn counts(&self) -> Workers {
        self.lock().workers()
    }

    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use salver_model::functions::{Call, Interface, Language};
    use salver_model::spec::FunctionSpec;
    use tokio::io::AsyncWriteExt;
    use tokio::net::UnixStream;
    use tokio::sync::mpsc::{self, UnboundedReceiver};

    use super::{Pool, PoolRefusal};
    use crate::process::{Order, Worker, WorkerSocket, Zygote};
    use crate::wire::frame::Input;

    fn pool(set: impl FnOnce(&mut FunctionSpec)) -> Arc<Pool> {
        let name = salver_model::Name::new("file").unwrap();
        let mut spec = FunctionSpec::new(name, "file.py".into(), Language::Python);
        (spec.workers_min, spec.workers_max, spec.wait) = (1, 3, Duration::from_millis(1));
        set(&mut spec);
        Arc::new(Pool::new(&spec))
    }

    fn zygote(number: u64) -> (Arc<Zygote>, UnboundedReceiver<Order>) {
        let (orders, told) = mpsc::unbounded_channel();
        (Arc::new(Zygote::new(number, Arc::new(Interface::default()), orders)), told)
    }

    /// Creates a worker, and its end of the connection.
    fn worker(zygote: &Arc<Zygote>, pid: u32) -> (Worker, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Worker::new(WorkerSocket::new(ours).unwrap(), Input::default(), pid, Arc::clone(zygote)), theirs)
    }

    #[tokio::test]
    async fn workers_beyond_the_least_end_when_they_are_idle() {
        let pool = pool(|_| {});
        let (zygote, mut told) = zygote(1);
        pool.adopt(Arc::clone(&zygote));
        assert_eq!(told.try_recv(), Ok(Order::Fork(1)));
        let _ends: Vec<_> = (10..13)
            .map(|pid| {
                let (worker, end) = worker(&zygote, pid);
                pool.arrived(worker);
                end
            })
            .collect();
        pool.tend(Duration::from_secs(60));
        assert_eq!(pool.counts().alive, 3, "they were busy a moment ago");
        let lease = pool.take(None, false).await.unwrap();
        pool.tend(Duration::ZERO);
        assert_eq!((pool.counts().alive, pool.counts().busy), (1, 1), "a busy one is one of the least");
        lease.give_back();
        pool.tend(Duration::ZERO);
        assert_eq!((pool.counts().alive, pool.counts().lost), (1, 0));
        assert!(told.try_recv().is_err(), "nothing was killed and nothing is missing");
    }

    #[tokio::test]
    async fn no_more_are_ordered_than_may_be() {
        let pool = pool(|spec| spec.waiting_max = 5);
        let (zygote, mut told) = zygote(1);
        pool.adopt(Arc::clone(&zygote));
        assert_eq!(told.try_recv(), Ok(Order::Fork(1)));
        let refused = futures::future::join_all((0..6).map(|_| pool.take(None, false))).await;
        let count = |refusal| refused.iter().filter(|got| matches!(got, Err(why) if *why == refusal)).count();
        assert_eq!((count(PoolRefusal::Late), count(PoolRefusal::Full)), (5, 1));
        let mut ordered = 0;
        while let Ok(Order::Fork(count)) = told.try_recv() {
            ordered += count;
        }
        assert_eq!(ordered, 2, "one was on its way, and three may be");
    }

    /// Checks that workers of an earlier zygote are discarded, and busy ones do not count for the later one.
    #[tokio::test]
    async fn another_generation() {
        let pool = pool(|spec| spec.workers_max = 1);
        let ((old, mut told), (new, _new_told)) = (zygote(1), zygote(2));
        pool.adopt(Arc::clone(&old));
        let ((first, _first), (late, _late), (second, _second)) = (worker(&old, 1), worker(&old, 2), worker(&new, 3));
        pool.arrived(first);
        let lease = pool.take(None, false).await.unwrap();
        pool.adopt(Arc::clone(&new));
        pool.arrived(late);
        pool.arrived(second);
        let other = pool.take(None, false).await.unwrap();
        assert_eq!((pool.counts().alive, pool.counts().busy), (2, 2));
        drop(lease);
        other.give_back();
        assert_eq!((pool.counts().alive, pool.counts().busy, pool.counts().lost), (1, 0, 1));
        assert_eq!(told.try_recv(), Ok(Order::Fork(1)));
        assert_eq!(told.try_recv(), Ok(Order::Kill(1)), "who leaves a call has its process killed");
        pool.close();
        assert_eq!(pool.take(None, false).await.err(), Some(PoolRefusal::Unavailable));
    }

    /// Checks that a call whose caller leaves keeps its worker if it ends soon, as most do.
    #[tokio::test]
    async fn a_call_that_ends_soon_keeps_its_worker() {
        let pool = pool(|spec| (spec.workers_max, spec.wait) = (1, Duration::from_secs(60)));
        let (zygote, mut told) = zygote(1);
        pool.adopt(Arc::clone(&zygote));
        assert_eq!(told.recv().await, Some(Order::Fork(1)));
        let (worker, mut end) = worker(&zygote, 7);
        pool.arrived(worker);
        for (answer, kept) in [
            (&b"\x0c\0\0\0X\0\x02\0\0\0no\0\0\0\0"[..], true),
            (&b"\x08\0\0\0A\xc8\0\0\0\0\0\0"[..], true),
            // The first of many pieces.
            (&b"\x07\0\0\0S\xc8\0\0\0\0\0"[..], false),
        ] {
            let mut lease = pool.take(None, false).await.unwrap();
            let call = Call::default();
            assert!(futures::poll!(std::pin::pin!(lease.worker().unwrap().call(&call))).is_pending());
            end.write_all(answer).await.unwrap();
            drop(lease);
            if kept {
                pool.take(None, false).await.unwrap().give_back();
                assert_eq!(pool.counts().lost, 0);
            }
        }
        assert_eq!(told.recv().await, Some(Order::Kill(7)));
        assert_eq!((pool.counts().busy, pool.counts().lost), (0, 1));
    }

    #[tokio::test]
    async fn a_call_that_goes_on_loses_its_worker() {
        let pool = pool(|_| {});
        let (zygote, mut told) = zygote(1);
        pool.adopt(Arc::clone(&zygote));
        assert_eq!(told.recv().await, Some(Order::Fork(1)));
        let (worker, _end) = worker(&zygote, 7);
        pool.arrived(worker);
        let mut lease = pool.take(None, false).await.unwrap();
        let call = Call::default();
        assert!(futures::poll!(std::pin::pin!(lease.worker().unwrap().call(&call))).is_pending());
        drop(lease);
        assert_eq!((pool.counts().busy, pool.counts().lost), (1, 0), "it has a moment");
        assert_eq!(told.recv().await, Some(Order::Kill(7)));
    }
}
