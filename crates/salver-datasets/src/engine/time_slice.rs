//! Turns: the time between two points at which a task yields its thread. A task that has computed for long yields at
//! its next checkpoint, so that all queries make progress however many there are. A task that can't yield, because it
//! is in the middle of an expression, hands its role as a worker to another thread, which runs the waiting tasks.

use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use datafusion::common::runtime::{JoinSetTracer, set_join_set_tracer};
use futures::future::BoxFuture;

/// Maximum turn of a task that can yield. A small query has several turns, and waits for those of large ones before
/// each.
const TURN: Duration = Duration::from_millis(2);
/// Time after which a task that can't yield gives up its role as a worker.
const WORKER_TURN: Duration = Duration::from_millis(100);
/// Time that a thread waits for another to become the worker. On a busy machine that may be too short, and this thread
/// remains the worker; it tries again after [`WORKER_TURN`], so that waiting takes a fiftieth of the time.
const HANDOVER: Duration = Duration::from_millis(2);
/// Duration after which a turn counts as blocking its worker.
const STUCK_MS: u64 = 300;

/// Origin of the times in milliseconds.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

thread_local! {
    /// Seat of this thread, if it is one of the engine's.
    static SEAT: OnceCell<Arc<EngineThread>> = const { OnceCell::new() };
    /// Start of this thread's turn, or the time at which it last tried to hand over its worker.
    static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// State of one thread that is visible to others.
#[derive(Debug, Default)]
struct EngineThread {
    /// Start of the turn that occupies a worker; 0 if there is none.
    since_ms: AtomicU64,
}

/// The threads of one runtime.
#[derive(Clone, Debug, Default)]
pub(super) struct EngineThreads(Arc<Mutex<Vec<Arc<EngineThread>>>>);

impl EngineThreads {
    /// Registers the current thread, which has just started.
    pub(super) fn sit(&self) {
        let seat = Arc::new(EngineThread::default());
        let mut seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Drops the seats of threads that have ended.
        seats.retain(|seat| Arc::strong_count(seat) > 1);
        seats.push(Arc::clone(&seat));
        SEAT.with(|own| {
            let _ = own.set(seat);
        });
    }

    /// Returns the number of workers that are blocked by long turns.
    pub(super) fn stuck(&self) -> usize {
        let now = now_ms();
        let seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_stuck = |seat: &&Arc<EngineThread>| match seat.since_ms.load(Ordering::Relaxed) {
            0 => false,
            since => now.saturating_sub(since) > STUCK_MS,
        };
        seats.iter().filter(is_stuck).count()
    }
}

/// Task in which every poll is a turn.
pub(super) struct SlicedTask<T>(BoxFuture<'static, T>);

impl<T> SlicedTask<T> {
    /// Wraps `work`.
    pub(super) fn of(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Box::pin(work))
    }
}

impl<T> Future for SlicedTask<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let _turn = TimeSlice::begin();
        self.0.as_mut().poll(context)
    }
}

/// Turn of the current thread.
struct TimeSlice {
    before: Option<Instant>,
}

impl TimeSlice {
    fn begin() -> Self {
        let is_engine = SEAT.with(|seat| {
            if let Some(seat) = seat.get() {
                seat.since_ms.store(now_ms(), Ordering::Relaxed);
            }
            seat.get().is_some()
        });
        Self { before: BEGAN.replace(is_engine.then(Instant::now)) }
    }
}

impl Drop for TimeSlice {
    fn drop(&mut self) {
        end();
        BEGAN.set(self.before);
    }
}

fn end() {
    BEGAN.set(None);
    SEAT.with(|seat| {
        if let Some(seat) = seat.get() {
            seat.since_ms.store(0, Ordering::Relaxed);
        }
    });
}

fn now_ms() -> u64 {
    // 0 stands for "none".
    u64::try_from(EPOCH.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}

/// Returns whether the task should yield its thread.
pub(super) fn is_long() -> bool {
    BEGAN.get().is_some_and(|began| began.elapsed() > TURN)
}

/// Hands the worker over if the turn has taken long; this thread continues as a blocking one.
pub(super) fn give_way() {
    if BEGAN.get().is_some_and(|began| began.elapsed() > WORKER_TURN) {
        end();
        // Another thread becomes the worker while this one is known to block. The runtime does not report whether one
        // did, so the turn restarts as if none had.
        tokio::task::block_in_place(|| std::thread::sleep(HANDOVER));
        BEGAN.set(Some(Instant::now()));
    }
}

/// Makes every poll of the tasks that operators spawn a turn.
pub(super) fn trace_operators() {
    // Another engine in this process may have done so.
    let _ = set_join_set_tracer(&Operators);
}

struct Operators;

impl JoinSetTracer for Operators {
    fn trace_future(&self, future: BoxFuture<'static, Box<dyn Any + Send>>) -> BoxFuture<'static, Box<dyn Any + Send>> {
        Box::pin(SlicedTask(future))
    }

    fn trace_block(
        &self,
        work: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>,
    ) -> Box<dyn FnOnce() -> Box<dyn Any + Send> + Send> {
        work
    }
}
