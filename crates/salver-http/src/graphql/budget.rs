//! What one document may take, shared by all of its fields and levels: memory, rows, reads at a time. It is counted
//! while the document is answered, and once it is used up the document as a whole is refused. Knows no query.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use salver_model::limits::GRAPHQL_BYTES_MAX;
use salver_model::{Code, Error, Limits, Result};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Reads of one document at the same time: enough to wait for one while another is written, and few enough that no
/// document crowds out other requests.
const READS_AT_ONCE: usize = 2;

/// What is left for a document.
#[derive(Debug)]
pub(crate) struct Budget {
    bytes_left: AtomicUsize,
    rows_left: AtomicU64,
    reads: Semaphore,
    refusal: OnceLock<Refusal>,
    /// Nobody waits for the answer any more.
    abandoned: AtomicBool,
}

/// What was used up first.
#[derive(Clone, Copy, Debug)]
enum Refusal {
    Bytes,
    Rows,
}

impl Budget {
    /// The whole budget of one document.
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            bytes_left: AtomicUsize::new(GRAPHQL_BYTES_MAX),
            rows_left: AtomicU64::new(if limits.rows_max == 0 { u64::MAX } else { limits.rows_max }),
            reads: Semaphore::new(READS_AT_ONCE.min(limits.queries_max.max(1))),
            refusal: OnceLock::new(),
            abandoned: AtomicBool::new(false),
        }
    }

    /// Why the document is refused, when it is.
    pub(crate) fn refusal(&self) -> Option<Error> {
        self.refusal.get().copied().map(Refusal::error)
    }

    /// Waits for a turn to read.
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>> {
        let turn = self.reads.acquire().await;
        self.check()?;
        turn.map_err(|closed| Error::internal("the turns of a document ended").with_source(closed))
    }

    /// Takes bytes for as long as the document is answered.
    pub(crate) fn take_bytes(&self, bytes: usize) -> Result<()> {
        self.check()?;
        let taken = self.bytes_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.map(drop).map_err(|_| self.refuse(Refusal::Bytes))
    }

    /// Takes rows.
    pub(crate) fn take_rows(&self, rows: usize) -> Result<()> {
        self.check()?;
        let taken =
            self.rows_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(rows as u64));
        taken.map(drop).map_err(|_| self.refuse(Refusal::Rows))
    }

    fn check(&self) -> Result<()> {
        match self.refusal() {
            Some(error) => Err(error),
            None if self.abandoned.load(Ordering::Relaxed) => Err(Error::internal("nobody waits for this answer")),
            None => Ok(()),
        }
    }

    fn refuse(&self, refusal: Refusal) -> Error {
        self.refusal.get_or_init(|| refusal).error()
    }
}

impl Refusal {
    fn error(self) -> Error {
        match self {
            Self::Bytes => Error::new(
                Code::AnswerTooLarge,
                format!("the document needs more than {} MiB for its answer", GRAPHQL_BYTES_MAX >> 20),
            )
            .with_hint("add a `limit`, or read the rows at `/api/tables/{name}`, which streams them"),
            Self::Rows => {
                Error::new(Code::AnswerTooLarge, "the document reads more rows than `limits.rows_max` allows")
                    .with_hint("add a `limit` and page through the rows")
            }
        }
    }
}

/// Bytes that are given back when what they were taken for is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Held {
    /// Nothing yet.
    pub(crate) fn new(budget: &Arc<Budget>) -> Self {
        Self { budget: Arc::clone(budget), bytes: 0 }
    }

    /// Takes more.
    pub(crate) fn grow(&mut self, bytes: usize) -> Result<()> {
        self.budget.take_bytes(bytes)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.bytes_left.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// Tells those who still work on a document on other threads, when it is dropped, that they can stop.
#[derive(Debug)]
pub(crate) struct Waiting(pub(crate) Arc<Budget>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.abandoned.store(true, Ordering::Relaxed);
    }
}
