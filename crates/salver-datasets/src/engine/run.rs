//! Runs work on the engine's own threads and hands its rows over. Whoever waits may leave at any time: dropping the
//! future or the stream ends the work.

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
use salver_model::limits::{AWAITED_BYTES_MAX, READY_ROWS_MAX};
use salver_model::{Batches, Code, Error, Result, memory};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{sleep, timeout};

use crate::engine::functions::held_bytes;
use crate::engine::work::Guard;
use crate::engine::{Engine, Work};
use crate::fault;

/// Batches that may wait for a slow reader before the plan is made to wait.
const CHANNEL_BATCHES: usize = 2;

/// How many answers per thread may be begun at once.
pub(super) const BEGINNING_PER_THREAD: usize = 2;
/// How long an answer is begun before others may be, too.
const BEGINNING_MAX: Duration = Duration::from_millis(50);
/// How long an answer is not begun because memory is short: what stalls gives way long before.
const SHORT_MAX: Duration = Duration::from_secs(2);
/// How often it is looked whether memory is short still.
const LOOK: Duration = Duration::from_millis(20);

/// What a plan answers.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The columns.
    pub(crate) schema: SchemaRef,
    /// The rows.
    pub(crate) batches: Batches,
}

/// Tells work on a blocking thread that nobody waits any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Whether the work may stop.
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

/// Ends a task with its holder.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Work that was started and will be waited for. It ends with its holder, unless it is at it already.
pub(crate) struct Started<T> {
    task: JoinHandle<Result<T>>,
    _abort: AbortOnDrop,
}

impl<T> Started<T> {
    /// Waits for its end.
    pub(crate) async fn done(self) -> Result<T> {
        self.task.await.map_err(fault::stopped)?
    }
}

impl Engine {
    /// Starts to decode, when its turn has come: however many exports there are, only some decode at once.
    pub(crate) fn start_decoding<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<Started<T>> {
        let task = self.decoding()?.spawn_blocking(work);
        Ok(Started { _abort: AbortOnDrop(task.abort_handle()), task })
    }

    /// Runs computing work on a thread that may block. `work` should look at its [`Cancel`] now and then.
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

    /// Runs asynchronous work on the engine's threads. It ends with its caller.
    pub(crate) async fn run_task<T: Send + 'static>(
        &self,
        work: Work,
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

    /// Runs the plan that `start` makes. An answer of up to [`READY_ROWS_MAX`] rows and [`AWAITED_BYTES_MAX`] is
    /// waited for; of a longer one the rest comes as a stream. The work ends with whoever waits for it.
    pub(crate) async fn execute(
        &self,
        work: Work,
        start: impl Future<Output = Result<SendableRecordBatchStream>> + Send + 'static,
    ) -> Result<Answer> {
        let (schema_out, schema_in) = oneshot::channel();
        let (rows_out, mut rows_in) = mpsc::channel(CHANNEL_BATCHES);
        let failures = rows_out.clone();
        let guarded = AssertUnwindSafe(pump(start, schema_out, rows_out, self.query_ms_max)).catch_unwind();
        // Boxed, so that whoever waits below is not as large as the work.
        let guarded = Box::pin(guarded);
        let mut beginning = Some(Beginning::wait(&self.beginning).await);
        let task = self.lanes.spawn(async move {
            let outcome = guarded.await.unwrap_or_else(|panic| Err(fault::panic(&*panic)));
            if let Err(error) = outcome {
                // Nobody left to tell is not a failure.
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
                return Ok(Answer { schema, batches: Batches::Stream(Box::pin(stream)) });
            }
        }
        Ok(Answer { schema, batches: Batches::Ready(head) })
    }
}

/// A turn to begin an answer, which ends with the value, or after a while.
struct Beginning(JoinHandle<()>);

impl Drop for Beginning {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Beginning {
    /// Waits until an answer may be begun. Hundreds that are begun at once have all of their first rows in memory
    /// before it is known how many these are; so they begin one after another, and none while memory is short.
    ///
    /// The turn ends on the threads of who asks: those of the engine may all be busy with what others began.
    async fn wait(beginning: &Arc<Semaphore>) -> Self {
        let patience = Instant::now() + SHORT_MAX;
        let turn = Arc::clone(beginning).acquire_owned().await;
        while memory::is_short() && Instant::now() < patience {
            sleep(LOOK).await;
        }
        Self(tokio::spawn(async move {
            sleep(BEGINNING_MAX).await;
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
    let mut began = Instant::now();
    let mut stream = start.await?;
    if schema_out.send(stream.schema()).is_err() {
        return Ok(());
    }
    // The time in which rows wait for their reader does not count.
    loop {
        let next = timeout(left.saturating_sub(began.elapsed()), stream.next()).await;
        let Some(batch) = next.map_err(|_| too_long(query_ms_max))? else { break };
        left = left.saturating_sub(began.elapsed());
        if rows_out.send(Ok(Some(batch.map_err(fault::execution)?))).await.is_err() {
            return Ok(());
        }
        began = Instant::now();
    }
    // The end is said, and not told from the channel's end: work that was stopped must not look complete.
    let _ = rows_out.send(Ok(None)).await;
    Ok(())
}

fn too_long(query_ms_max: u64) -> Error {
    Error::new(Code::Timeout, format!("the query ran longer than {query_ms_max} ms"))
        .with_hint("ask for less, add a filter or a `limit`, or raise `limits.query_ms_max`")
}

/// What came through the channel: a batch, the end, or a failure.
fn next(received: Option<Result<Option<RecordBatch>>>) -> Result<Option<RecordBatch>> {
    received.unwrap_or_else(|| Err(Error::internal("the query was stopped before its end")))
}

/// The rows that were not waited for.
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
