//! Limits on running work: its duration, its concurrency, and its number of rows.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use futures::{FutureExt, Stream, StreamExt};
use salver_model::access::Bound;
use salver_model::limits::{ANSWERS_PER_QUERY_MAX, STALL_MS_MAX};
use salver_model::shares::Yielding;
use salver_model::{Batches, Caller, Code, Error, Holder, Limits, Result, Rows, Share, Shares};
use tokio::time::{Instant, Sleep};

/// Permits shared by the queries of all callers.
#[derive(Clone, Debug)]
pub(crate) struct QueryPermits {
    /// Permits of running queries.
    queries: Arc<Shares>,
    /// Permits of responses that are not finished, whether they run or wait for their client.
    answers: Arc<Shares>,
}

impl QueryPermits {
    pub(crate) fn new(limits: &Limits) -> Self {
        let queries = limits.queries_max.clamp(1, usize::MAX / ANSWERS_PER_QUERY_MAX);
        Self {
            queries: Shares::new("queries", queries),
            answers: Shares::new("answers", queries * ANSWERS_PER_QUERY_MAX),
        }
    }

    /// Returns every kind of permit.
    pub(crate) fn all(&self) -> [Arc<Shares>; 2] {
        [Arc::clone(&self.queries), Arc::clone(&self.answers)]
    }
}

/// Permit of a running query, and the time it may still run. While rows wait for a slow client, the clock stops and the
/// permit is released; both are limited where the rows are sent.
#[derive(Debug)]
pub(crate) struct QueryPermit {
    share: Share,
    places: QueryPermits,
    left: Duration,
    limits: PermitLimits,
}

#[derive(Clone, Copy, Debug)]
struct PermitLimits {
    query_ms: Bound,
    rows: Bound,
    queue_ms_max: u64,
}

impl QueryPermit {
    /// Waits for a permit.
    pub(crate) async fn take(places: &QueryPermits, caller: &Caller, limits: &Limits) -> Result<Self> {
        let wait = Duration::from_millis(limits.queue_ms_max);
        let holder = caller.holder();
        let share = match places.queries.try_take(&holder) {
            Some(share) => share,
            None => tokio::time::timeout(wait, places.queries.take(&holder)).await.map_err(|_| {
                let running = places.queries.taken().taken;
                overloaded(format!("{running} queries are running and none ended in {} ms", limits.queue_ms_max))
            })?,
        };
        let (query_ms, rows) = (caller.limits.query_ms(limits.query_ms_max), caller.limits.rows(limits.rows_max));
        let left = Duration::from_millis(query_ms.value());
        let limits = PermitLimits { query_ms, rows, queue_ms_max: limits.queue_ms_max };
        Ok(Self { share, places: places.clone(), left, limits })
    }

    /// Runs `work` until it completes or times out.
    pub(crate) async fn run<T, W>(&mut self, work: W) -> Result<T>
    where
        W: IntoFuture<Output = Result<T>>,
    {
        let started = Instant::now();
        match tokio::time::timeout(self.left, work.into_future()).await {
            Ok(done) => {
                self.left = self.left.saturating_sub(started.elapsed());
                done
            }
            Err(_) => Err(timeout(self.limits.query_ms)),
        }
    }

    /// Keeps the timeout while rows stream out, and the permit while they are produced; refuses more rows than the
    /// caller may get.
    pub(crate) async fn hold(self, rows: Rows, limits: &Limits) -> Result<Rows> {
        let rows = bound_rows(rows, self.limits.rows)?;
        let Rows { batches: Batches::Stream(inner), .. } = rows else { return Ok(rows) };
        let answers = &self.places.answers;
        let wait = Duration::from_millis(limits.queue_ms_max);
        let lying = answers.take_within(self.share.holder(), wait, tokio::time::sleep).await.ok_or_else(|| {
            overloaded(format!("{} answers wait for clients who take nothing of them", answers.taken().taken))
        })?;
        let stream = Bounded {
            inner: Yielding::new(inner, lying),
            stage: Stage::Working(self.share),
            holder: None,
            queries: self.places.queries,
            working_since: None,
            sleep: Box::pin(tokio::time::sleep(self.left)),
            left: self.left,
            limits: self.limits,
            ended: false,
        };
        Ok(Rows { batches: Batches::Stream(Box::pin(stream)), ..rows })
    }
}

fn overloaded(message: String) -> Error {
    Error::new(Code::Overloaded, message).with_hint("try again in a few seconds, or raise `limits.queries_max`")
}

/// Refuses rows above the bound: at once if they are there, else where the stream exceeds it.
pub(crate) fn bound_rows(rows: Rows, bound: Bound) -> Result<Rows> {
    let Some(mut left) = bound.most() else { return Ok(rows) };
    let mut counted = move |batch: RecordBatch| {
        left = left.checked_sub(batch.num_rows() as u64).ok_or_else(|| too_many_rows(bound))?;
        Ok(batch)
    };
    let batches = match rows.batches {
        Batches::Ready(batches) => Batches::Ready(batches.into_iter().map(counted).collect::<Result<_>>()?),
        Batches::Stream(inner) => Batches::Stream(Box::pin(inner.map(move |batch| batch.and_then(&mut counted)))),
    };
    Ok(Rows { batches, ..rows })
}

fn timeout(bound: Bound) -> Error {
    bound
        .refuse(Code::Timeout, format!("the query ran longer than {} ms", bound.value()))
        .with_hint(format!("ask for less, add a filter or a `limit`, or raise {}", bound.setting()))
}

fn too_many_rows(bound: Bound) -> Error {
    bound
        .refuse(Code::AnswerTooLarge, format!("the answer has more rows than {} allows", bound.setting()))
        .with_hint("add a `limit` and page through the rows")
}

/// State of streaming rows with respect to their permit.
enum Stage {
    /// The rows are being produced.
    Working(Share),
    /// The rows wait for a permit.
    Queued(BoxFuture<'static, Share>),
    /// The rows wait for their client.
    Resting,
}

struct Bounded {
    inner: Yielding<RecordBatch>,
    stage: Stage,
    /// Holder of the permit, while it is released.
    holder: Option<Holder>,
    queries: Arc<Shares>,
    /// Time since which the consumer waits for rows; `None` while the rows wait for the consumer.
    working_since: Option<Instant>,
    sleep: Pin<Box<Sleep>>,
    left: Duration,
    limits: PermitLimits,
    ended: bool,
}

impl Bounded {
    /// Polls for a permit, if there is none. A queue that does not move does not end the response, unless it takes as
    /// long as a client may.
    fn poll_place(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        if let Stage::Resting = self.stage {
            let holder = self.holder.take().unwrap_or(Holder::Server);
            self.sleep.as_mut().reset(Instant::now() + Duration::from_millis(STALL_MS_MAX));
            self.stage = match self.queries.try_take(&holder) {
                Some(share) => Stage::Working(share),
                None => Stage::Queued(Box::pin(self.queries.take(&holder))),
            };
        }
        let Stage::Queued(turn) = &mut self.stage else { return Poll::Ready(Ok(())) };
        match turn.poll_unpin(context) {
            Poll::Ready(share) => {
                self.stage = Stage::Working(share);
                Poll::Ready(Ok(()))
            }
            Poll::Pending if self.sleep.poll_unpin(context).is_ready() => {
                let waited = STALL_MS_MAX.max(self.limits.queue_ms_max);
                Poll::Ready(Err(overloaded(format!("no place came free for the rest of the answer in {waited} ms"))))
            }
            Poll::Pending => Poll::Pending,
        }
    }

    /// Releases the permit until more rows are requested.
    fn rest(&mut self) {
        if let Stage::Working(share) = std::mem::replace(&mut self.stage, Stage::Resting) {
            self.holder = Some(share.holder().clone());
        }
    }
}

impl Stream for Bounded {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        if let Err(error) = ready!(self.poll_place(context)) {
            self.ended = true;
            return Poll::Ready(Some(Err(error)));
        }
        let since = match self.working_since {
            Some(since) => since,
            None => {
                let now = Instant::now();
                let deadline = now + self.left;
                self.sleep.as_mut().reset(deadline);
                *self.working_since.insert(now)
            }
        };
        let polled = self.inner.poll_next_unpin(context);
        if polled.is_ready() {
            self.left = self.left.saturating_sub(since.elapsed());
            self.working_since = None;
            self.rest();
        } else if self.sleep.poll_unpin(context).is_ready() {
            self.ended = true;
            self.rest();
            return Poll::Ready(Some(Err(timeout(self.limits.query_ms))));
        }
        self.ended |= matches!(&polled, Poll::Ready(Some(Err(_))));
        polled
    }
}
