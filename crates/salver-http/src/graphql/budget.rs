//! The resource budget of a document, shared by all of its fields and levels: memory, rows, concurrent reads. It is
//! charged while the document is processed, and once it is exceeded the whole document is refused. Knows nothing of
//! queries.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use salver_model::access::Bound;
use salver_model::limits::GRAPHQL_BYTES_MAX;
use salver_model::{CallerLimits, Code, Error, Limits, Result};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Concurrent reads of a document: enough to wait for one while the result of another is written, and few enough that
/// no document crowds out other requests.
const READS_AT_ONCE: usize = 2;

/// The remaining budget of a document.
#[derive(Debug)]
pub(crate) struct DocumentBudget {
    bytes_left: AtomicUsize,
    rows: Bound,
    rows_left: AtomicU64,
    reads: Semaphore,
    refusal: OnceLock<ExhaustedResource>,
    /// Set when the client no longer waits for the result.
    abandoned: AtomicBool,
}

/// The resource that was exhausted first.
#[derive(Clone, Copy, Debug)]
enum ExhaustedResource {
    Bytes,
    Rows,
}

impl DocumentBudget {
    /// Creates the full budget of one document of a caller.
    pub(crate) fn new(limits: &Limits, own: CallerLimits) -> Self {
        let rows = own.rows(limits.rows_max);
        Self {
            rows,
            bytes_left: AtomicUsize::new(GRAPHQL_BYTES_MAX),
            rows_left: AtomicU64::new(rows.most().unwrap_or(u64::MAX)),
            reads: Semaphore::new(READS_AT_ONCE.min(limits.queries_max.max(1))),
            refusal: OnceLock::new(),
            abandoned: AtomicBool::new(false),
        }
    }

    /// Returns the reason why the document is refused, if it is.
    pub(crate) fn refusal(&self) -> Option<Error> {
        self.refusal.get().map(|exhausted| exhausted.error(self.rows))
    }

    /// Waits for a permit to read.
    pub(crate) async fn turn(&self) -> Result<SemaphorePermit<'_>> {
        let turn = self.reads.acquire().await;
        self.check()?;
        turn.map_err(|closed| Error::internal("the turns of a document ended").with_source(closed))
    }

    /// Charges bytes for as long as the document is processed.
    pub(crate) fn take_bytes(&self, bytes: usize) -> Result<()> {
        self.check()?;
        let taken = self.bytes_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
        taken.map(drop).map_err(|_| self.refuse(ExhaustedResource::Bytes))
    }

    /// Charges rows.
    pub(crate) fn take_rows(&self, rows: usize) -> Result<()> {
        self.check()?;
        let taken =
            self.rows_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(rows as u64));
        taken.map(drop).map_err(|_| self.refuse(ExhaustedResource::Rows))
    }

    fn check(&self) -> Result<()> {
        match self.refusal() {
            Some(error) => Err(error),
            None if self.abandoned.load(Ordering::Relaxed) => Err(Error::internal("nobody waits for this answer")),
            None => Ok(()),
        }
    }

    fn refuse(&self, refusal: ExhaustedResource) -> Error {
        let first = self.refusal.get_or_init(|| {
            if matches!(refusal, ExhaustedResource::Rows) {
                self.rows.count_refusal();
            }
            refusal
        });
        first.error(self.rows)
    }
}

impl ExhaustedResource {
    fn error(self, rows: Bound) -> Error {
        match self {
            Self::Bytes => Error::new(
                Code::AnswerTooLarge,
                format!("the document needs more than {} MiB for its answer", GRAPHQL_BYTES_MAX >> 20),
            )
            .with_hint("add a `limit`, or read the rows at `/api/tables/{name}`, which streams them"),
            Self::Rows => {
                let message = format!("the document reads more rows than {} allows", rows.setting());
                Error::new(Code::AnswerTooLarge, message).with_hint("add a `limit` and page through the rows")
            }
        }
    }
}

/// Charged bytes that are returned to the budget on drop.
#[derive(Debug)]
pub(crate) struct Held {
    budget: Arc<DocumentBudget>,
    bytes: usize,
}

impl Held {
    /// Creates an empty charge.
    pub(crate) fn new(budget: &Arc<DocumentBudget>) -> Self {
        Self { budget: Arc::clone(budget), bytes: 0 }
    }

    /// Charges more bytes.
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

/// A guard that, when dropped, cancels the work on a document in other threads.
#[derive(Debug)]
pub(crate) struct CancelOnDrop(pub(crate) Arc<DocumentBudget>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.abandoned.store(true, Ordering::Relaxed);
    }
}
