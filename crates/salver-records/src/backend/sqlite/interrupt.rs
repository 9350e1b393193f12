//! Stops a running statement: at its timeout, its budget, when its caller is gone or its file was replaced.
//!
//! SQLite calls back every few hundred of its operations. `sqlite3_interrupt` is not used: it hits whatever runs when
//! it comes, which may be the next caller's statement.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ffi};
use salver_model::{Code, Error};

use super::error_codes;

/// Virtual machine operations between two callbacks: 10 to 50 microseconds.
const OPERATIONS_PER_TICK: c_int = 500;
/// Number of callbacks within the budget of a read on the caller's own thread.
const TICKS_AT_ONCE: u32 = 8;
/// Longest run of a read on the caller's own thread, from its first callback on, for one that is slow because of a cold
/// disk and not its operations. It is long, because a busy machine may preempt the thread for milliseconds, and reading
/// twice is more expensive.
const AT_ONCE_TIME: Duration = Duration::from_millis(50);

/// Deadline that counts from the first callback: most reads by key end before it, and need no clock.
const FROM_FIRST_CALLBACK: u64 = 0;

/// Reason for stopping a statement.
const TIME: u8 = 1;
const BUDGET: u8 = 2;
const GONE: u8 = 3;
const REPLACED: u8 = 4;

/// Bounds for what runs on one connection.
#[derive(Debug)]
pub(super) struct Watch {
    born: Instant,
    /// Deadline in nanoseconds after `born`.
    deadline: AtomicU64,
    ms_max: AtomicU64,
    ticks_left: AtomicU32,
    /// The current run, and the last run whose caller is gone.
    run: AtomicU64,
    stopped: AtomicU64,
    why: AtomicU8,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self {
            born: Instant::now(),
            deadline: AtomicU64::new(u64::MAX),
            ms_max: AtomicU64::new(0),
            ticks_left: AtomicU32::new(u32::MAX),
            run: AtomicU64::new(1),
            stopped: AtomicU64::new(u64::MAX),
            why: AtomicU8::new(0),
        }
    }

    /// Starts a statement of the run with this number, and its timeout.
    pub(super) fn begin(&self, run: u64, ms_max: u64) {
        self.run.store(run, Relaxed);
        self.ticks_left.store(u32::MAX, Relaxed);
        self.ms_max.store(ms_max, Relaxed);
        let deadline = if ms_max == 0 { u64::MAX } else { self.now().saturating_add(ms_max.saturating_mul(1_000_000)) };
        self.deadline.store(deadline, Relaxed);
    }

    /// Starts a statement on the caller's own thread.
    pub(super) fn begin_at_once(&self) {
        self.ticks_left.store(TICKS_AT_ONCE, Relaxed);
        self.deadline.store(FROM_FIRST_CALLBACK, Relaxed);
    }

    /// Extends the deadline by a time in which the statement only waited for its reader.
    pub(super) fn extend(&self, by: Duration) {
        let deadline = self.deadline.load(Relaxed);
        self.deadline.store(deadline.saturating_add(nanoseconds(by)), Relaxed);
    }

    /// Stops this run, because its caller is gone.
    pub(super) fn stop(&self, run: u64) {
        self.stopped.store(run, Relaxed);
    }

    /// Returns whether the caller of this run is gone.
    pub(super) fn is_stopped(&self, run: u64) -> bool {
        self.stopped.load(Relaxed) == run
    }

    /// Makes this watch control the statements of `connection`, until another is set.
    pub(super) fn set(self: &Arc<Self>, connection: &mut Connection, over: &Arc<AtomicBool>) -> rusqlite::Result<()> {
        let (watch, over) = (Arc::clone(self), Arc::clone(over));
        connection.progress_handler(OPERATIONS_PER_TICK, Some(move || watch.tick(&over)))
    }

    /// Converts the failure, with the reason if this watch stopped the statement.
    pub(super) fn explain(&self, error: rusqlite::Error) -> Error {
        if error_codes::primary(error_codes::result_code(&error)) != ffi::SQLITE_INTERRUPT {
            return error_codes::fault(error);
        }
        let why = match self.why.load(Relaxed) {
            GONE => Error::new(Code::Execution, "the caller is gone"),
            REPLACED => {
                Error::new(Code::DatabaseUnavailable, "the database's file was replaced").with_hint("ask again")
            }
            _ => Error::new(
                Code::Timeout,
                format!("the statement ran longer than {} milliseconds", self.ms_max.load(Relaxed)),
            )
            .with_hint("narrow it, index the columns it looks at, or raise `statement_ms_max` of the database"),
        };
        why.with_source(error)
    }

    fn now(&self) -> u64 {
        nanoseconds(self.born.elapsed())
    }

    /// Returns whether to stop.
    fn tick(&self, over: &AtomicBool) -> bool {
        let why = if self.is_stopped(self.run.load(Relaxed)) {
            GONE
        } else if over.load(Relaxed) {
            REPLACED
        } else if self.spend() {
            BUDGET
        } else if self.is_late() {
            TIME
        } else {
            return false;
        };
        self.why.store(why, Relaxed);
        true
    }

    /// Returns whether the deadline has passed.
    fn is_late(&self) -> bool {
        let (now, deadline) = (self.now(), self.deadline.load(Relaxed));
        if deadline == FROM_FIRST_CALLBACK {
            self.deadline.store(now.saturating_add(nanoseconds(AT_ONCE_TIME)), Relaxed);
            return false;
        }
        now > deadline
    }

    /// Takes one callback off the budget; returns whether there was none left.
    fn spend(&self) -> bool {
        let left = self.ticks_left.load(Relaxed);
        if left != u32::MAX {
            self.ticks_left.store(left.saturating_sub(1), Relaxed);
        }
        left == 0
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
