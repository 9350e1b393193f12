//! Runs work on the engine's own threads and returns its rows. Dropping the future or the stream cancels the work at
//! any time.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use datafusion::execution::SendableRecordBatchStream;
use futures::{FutureExt, Stream, StreamExt};
use salver_model::limits::{AWAITED_BYTES_MAX, READY_ROWS_MAX, SHORT_MEMORY_MS_MAX};
use salver_model::{Batches, Code, Error, Result, memory};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{sleep, timeout};

use crate::engine::function_bounds::held_bytes;
use crate::engine::work::Guard;
use crate::engine::{Engine, QueryWork};
use crate::fault;

/// Batches buffered for a slow reader before backpressure stops the plan.
const CHANNEL_BATCHES: usize = 2;

/// Number of responses per thread that may be started at once.
pub(super) const BEGINNING_PER_THREAD: usize = 2;
/// Time after which a response gives up its permit to start, so that others can.
const BEGINNING_TURN: Duration = Duration::from_millis(50);
/// Interval at which available memory is checked.
const LOOK: Duration = Duration::from_millis(20);

/// Result of a plan.
#[derive(Debug)]
pub(crate) struct PlanOutput {
    /// Schema of the rows.
    pub(crate) schema: SchemaRef,
    /// The rows, in batches.
    pub(crate) batches: Batches,
}

/// Cancellation flag for work on a blocking thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Returns whether the work was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Aborts a task when it is dropped.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Work that was started and will be awaited. It is cancelled when this is dropped, unless it is already running.
pub(crate) struct Started<T> {
    task: JoinHandle<Result<T>>,
    _abort: AbortOnDrop,
}

impl<T> Started<T> {
    /// Waits for the result.
    pub(crate) async fn done(self) -> Result<T> {
        self.task.await.map_err(fault::stopped)?
    }
}

impl Engine {
    /// Starts decoding when a thread is free: however many exports there are, only a limited number decode at once.
    pub(crate) fn start_decoding<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<Started<T>> {
        let task = self.decoding()?.spawn_blocking(work);
        Ok(Started { _abort: AbortOnDrop(task.abort_handle()), task })
    }

    /// Runs CPU-bound work on a thread that may block. `work` should check its [`Cancel`] now and then.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Cancel) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let cancel = Cancel::default();
        let theirs = cancel.clone();
        let on_drop = CancelOnDrop(cancel);
        let task = self.lanes.spawn_blocking(move || {
            std::panic::catch_unwind(AssertUnwindSafe(|| work(&theirs)))
                .unwrap_or_else(|panic| Err(fault::panic(&*panic)))
        })?;
        let done = task.await.map_err(fault::stopped)?;
        drop(on_drop);
        done
    }

    /// Runs asynchronous work on the engine's threads. It is cancelled with its caller.
    pub(crate) async fn run_task<T: Send + 'static>(
        &self,
        work: QueryWork,
        task: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let guarded = AssertUnwindSafe(task).catch_unwind();
        let task: JoinHandle<Result<T>> =
            self.lanes.spawn(async move { guarded.await.unwrap_or_else(|panic| Err(fault::panic(&*panic))) })?;
        let (guard, _abort) = (work.guard(), AbortOnDrop(task.abort_handle()));
        let done = task.await.map_err(fault::stopped)?;
        guard.disarm();
        done
    }

    /// Runs the plan that `start` returns. Up to [`READY_ROWS_MAX`] rows and [`AWAITED_BYTES_MAX`] are awaited; the
    /// rest of a larger result is returned as a stream. Dropping the future or the stream cancels the work.
    pub(crate) async fn execute(
        &self,
        work: QueryWork,
        start: impl Future<Output = Result<SendableRecordBatchStream>> + Send + 'static,
    ) -> Result<PlanOutput> {
        let (schema_out, schema_in) = oneshot::channel();
        let (rows_out, mut rows_in) = mpsc::channel(CHANNEL_BATCHES);
        let failures = rows_out.clone();
        let query_ms_max = self.query_ms_max.load(Ordering::Relaxed);
        let guarded = AssertUnwindSafe(pump(start, schema_out, rows_out, query_ms_max)).catch_unwind();
        // Boxed to keep the caller's future small.
        let guarded = Box::pin(guarded);
        let mut beginning = Some(Beginning::wait(&self.beginning).await);
        let task = self.lanes.spawn(async move {
            let outcome = guarded.await.unwrap_or_else(|panic| Err(fault::panic(&*panic)));
            if let Err(error) = outcome {
                // It is no failure if nothing receives the error any more.
                let _ = failures.send(Err(error)).await;
            }
        })?;
        let ends = (work.guard(), AbortOnDrop(task.abort_handle()));
        let Ok(schema) = schema_in.await else {
            return Err(match rows_in.recv().await {
                Some(Err(error)) => error,
                _ => Error::internal("the query ended without an answer"),
            });
        };
        let mut head: Vec<RecordBatch> = Vec::new();
        let (mut rows, mut bytes) = (0, 0);
        while let Some(batch) = next(rows_in.recv().await)? {
            drop(beginning.take());
            rows += batch.num_rows();
            bytes += batch.columns().iter().map(|column| held_bytes(column)).sum::<u64>();
            if batch.num_rows() > 0 {
                head.push(batch);
            }
            if rows > READY_ROWS_MAX || bytes > AWAITED_BYTES_MAX {
                let rest = Rest { rows: rows_in, ended: false, _ends: ends };
                let stream = futures::stream::iter(head.into_iter().map(Ok)).chain(rest);
                return Ok(PlanOutput { schema, batches: Batches::Stream(Box::pin(stream)) });
            }
        }
        Ok(PlanOutput { schema, batches: Batches::Ready(head) })
    }
}

/// Permit to start a response, released when this is dropped or after a while.
struct Beginning(JoinHandle<()>);

impl Drop for Beginning {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Beginning {
    /// Waits until a response may start. Hundreds that start at once would all hold their first rows in memory before
    /// their size is known; so they start one after another, and none while memory is short.
    ///
    /// The permit is released on the caller's runtime, because the engine's threads may all be busy with other
    /// responses.
    async fn wait(beginning: &Arc<Semaphore>) -> Self {
        let patience = Instant::now() + Duration::from_millis(SHORT_MEMORY_MS_MAX);
        let turn = Arc::clone(beginning).acquire_owned().await;
        while memory::is_short() && Instant::now() < patience {
            sleep(LOOK).await;
        }
        Self(tokio::spawn(async move {
            sleep(BEGINNING_TURN).await;
            drop(turn);
        }))
    }
}

async fn pump(
    start: impl Future<Output = Result<SendableRecordBatchStream>> + Send,
    schema_out: oneshot::Sender<SchemaRef>,
    rows_out: mpsc::Sender<Result<Option<RecordBatch>>>,
    query_ms_max: u64,
) -> Result<()> {
    let mut left = if query_ms_max == 0 { Duration::MAX } else { Duration::from_millis(query_ms_max) };
    let began = Instant::now();
    let mut stream = start.await?;
    left = left.saturating_sub(began.elapsed());
    if schema_out.send(stream.schema()).is_err() {
        return Ok(());
    }
    // Time spent waiting for the reader does not count.
    loop {
        // A place first: rows without one would wait in the hand of this task.
        let Ok(place) = rows_out.reserve().await else { return Ok(()) };
        let began = Instant::now();
        let next = timeout(left.saturating_sub(began.elapsed()), stream.next()).await;
        let Some(batch) = next.map_err(|_| too_long(query_ms_max))? else { break };
        left = left.saturating_sub(began.elapsed());
        place.send(Ok(Some(batch.map_err(fault::execution)?)));
    }
    // The end is sent explicitly, because a closed channel of cancelled work must not look like a complete result.
    let _ = rows_out.send(Ok(None)).await;
    Ok(())
}

fn too_long(query_ms_max: u64) -> Error {
    Error::new(Code::Timeout, format!("the query ran longer than {query_ms_max} ms"))
        .with_hint("ask for less, add a filter or a `limit`, or raise `limits.query_ms_max`")
}

/// Converts a message of the channel: a batch, the end, or a failure.
fn next(received: Option<Result<Option<RecordBatch>>>) -> Result<Option<RecordBatch>> {
    received.unwrap_or_else(|| Err(Error::internal("the query was stopped before its end")))
}

/// Stream of the rows that were not awaited.
struct Rest {
    rows: mpsc::Receiver<Result<Option<RecordBatch>>>,
    ended: bool,
    _ends: (Guard, AbortOnDrop),
}

impl Stream for Rest {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        self.rows.poll_recv(context).map(|received| {
            let item = next(received).transpose();
            self.ended = !matches!(item, Some(Ok(_)));
            item
        })
    }
}
