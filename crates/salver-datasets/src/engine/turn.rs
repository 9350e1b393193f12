//! Turns: the time from when a task gets a thread of the engine until it lets the thread go. A task that has computed
//! for long lets it go at its next checkpoint, so that however many queries compute, each comes to its turn; where it
//! can't, because it is in the middle of an expression, another thread takes over the waiting tasks.

use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use datafusion::common::runtime::{JoinSetTracer, set_join_set_tracer};
use futures::future::BoxFuture;

/// Longest turn of a task that can let its thread go.
const TURN_MAX: Duration = Duration::from_millis(20);
/// When a task that can't let its thread go gives up its place as a worker.
const WORKER_HELD_MAX: Duration = Duration::from_millis(100);
/// How long a thread waits for another to become the worker. On a busy machine that may be too short, and this one
/// is the worker still; it tries again after [`WORKER_HELD_MAX`], so that the wait costs a fiftieth of the time.
const HANDOVER: Duration = Duration::from_millis(2);
/// A turn that is longer holds a worker that others wait for in vain.
const STUCK_MS: u64 = 300;

/// What moments are counted from.
static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

thread_local! {
    /// The seat of this thread, when it is one of the engine's.
    static SEAT: OnceCell<Arc<Seat>> = const { OnceCell::new() };
    /// When the turn began that this thread is in, or when it last tried to give its worker away.
    static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// What others see of one thread.
#[derive(Debug, Default)]
struct Seat {
    /// When the turn began that holds a worker; 0 when there is none.
    since_ms: AtomicU64,
}

/// The threads of one runtime.
#[derive(Clone, Debug, Default)]
pub(super) struct Seats(Arc<Mutex<Vec<Arc<Seat>>>>);

impl Seats {
    /// Gives the current thread, which has just started, a seat.
    pub(super) fn sit(&self) {
        let seat = Arc::new(Seat::default());
        let mut seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The seats of threads that have ended.
        seats.retain(|seat| Arc::strong_count(seat) > 1);
        seats.push(Arc::clone(&seat));
        SEAT.with(|own| {
            let _ = own.set(seat);
        });
    }

    /// How many workers are held by turns without an end.
    pub(super) fn stuck(&self) -> usize {
        let now = now_ms();
        let seats = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_stuck = |seat: &&Arc<Seat>| match seat.since_ms.load(Ordering::Relaxed) {
            0 => false,
            since => now.saturating_sub(since) > STUCK_MS,
        };
        seats.iter().filter(is_stuck).count()
    }
}

/// A task whose polls are turns.
pub(super) struct Turns<T>(BoxFuture<'static, T>);

impl<T> Turns<T> {
    /// The task that `work` is.
    pub(super) fn of(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(Box::pin(work))
    }
}

impl<T> Future for Turns<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let _turn = Turn::begin();
        self.0.as_mut().poll(context)
    }
}

/// The turn that the current thread is in.
struct Turn {
    before: Option<Instant>,
}

impl Turn {
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

impl Drop for Turn {
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
    // Never 0, which stands for "not at all".
    u64::try_from(EPOCH.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}

/// Whether the task should let its thread go.
pub(super) fn is_long() -> bool {
    BEGAN.get().is_some_and(|began| began.elapsed() > TURN_MAX)
}

/// Gives the worker away when the turn has taken long: this thread goes on as one that nobody waits for.
pub(super) fn give_way() {
    if BEGAN.get().is_some_and(|began| began.elapsed() > WORKER_HELD_MAX) {
        end();
        // Another thread becomes the worker as long as this one is known to be blocked. The runtime does not tell
        // whether one did, so the turn counts from now on, as if none had.
        tokio::task::block_in_place(|| std::thread::sleep(HANDOVER));
        BEGAN.set(Some(Instant::now()));
    }
}

/// Makes turns of the polls of every task that the engine's operators start.
pub(super) fn trace_operators() {
    // Another engine in this process may have done so.
    let _ = set_join_set_tracer(&Operators);
}

struct Operators;

impl JoinSetTracer for Operators {
    fn trace_future(&self, future: BoxFuture<'static, Box<dyn Any + Send>>) -> BoxFuture<'static, Box<dyn Any + Send>> {
        Box::pin(Turns(future))
    }

    fn trace_block(
        &self,
        work: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>,
    ) -> Box<dyn FnOnce() -> Box<dyn Any + Send> + Send> {
        work
    }
}
