//! Bounds on running work: how long, how many at once, how many rows.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use futures::{FutureExt, Stream};
use salver_model::reply::BatchStream;
use salver_model::{Batches, Code, Error, Limits, Result, Rows};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};

/// A place among the queries that run at once, and how long the query may still work. The time in which its rows wait
/// for a slow client does not count: that is bounded where they are sent.
#[derive(Debug)]
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
    left: Duration,
    query_ms_max: u64,
}

impl Place {
    /// Waits for a place.
    pub(crate) async fn take(places: &Arc<Semaphore>, limits: &Limits) -> Result<Self> {
        let wait = Duration::from_millis(limits.queue_ms_max);
        let permit = tokio::time::timeout(wait, Arc::clone(places).acquire_owned()).await;
        let Ok(Ok(permit)) = permit else {
            return Err(Error::new(
                Code::Overloaded,
                format!("{} queries are running and none ended in {} ms", limits.queries_max, limits.queue_ms_max),
            )
            .with_hint("try again in a few seconds, or raise `limits.queries_max`"));
        };
        let left = Duration::from_millis(limits.query_ms_max);
        Ok(Self { _permit: permit, left, query_ms_max: limits.query_ms_max })
    }

    /// Runs `work` until it is done or out of time.
    pub(crate) async fn run<T>(&mut self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let started = Instant::now();
        match tokio::time::timeout(self.left, work).await {
            Ok(done) => {
                self.left = self.left.saturating_sub(started.elapsed());
                done
            }
            Err(_) => Err(timeout(self.query_ms_max)),
        }
    }

    /// Keeps the place and the clock while the rows stream out, and ends the stream with an error when it would
    /// exceed `rows_max`.
    pub(crate) fn hold(self, rows: Rows, limits: &Limits) -> Result<Rows> {
        let rows = bound_rows(rows, limits.rows_max)?;
        let Rows { batches: Batches::Stream(inner), .. } = rows else { return Ok(rows) };
        let stream = Bounded {
            inner,
            working_since: None,
            sleep: Box::pin(tokio::time::sleep(self.left)),
            rows_left: if limits.rows_max == 0 { u64::MAX } else { limits.rows_max },
            place: self,
            ended: false,
        };
        Ok(Rows { batches: Batches::Stream(Box::pin(stream)), ..rows })
    }
}

/// Refuses ready rows above `rows_max`.
pub(crate) fn bound_rows(rows: Rows, rows_max: u64) -> Result<Rows> {
    if let Batches::Ready(batches) = &rows.batches {
        let count: u64 = batches.iter().map(|batch| batch.num_rows() as u64).sum();
        if rows_max != 0 && count > rows_max {
            return Err(too_many_rows());
        }
    }
    Ok(rows)
}

fn timeout(query_ms_max: u64) -> Error {
    Error::new(Code::Timeout, format!("the query ran longer than {query_ms_max} ms"))
        .with_hint("ask for less, add a filter or a `limit`, or raise `limits.query_ms_max`")
}

fn too_many_rows() -> Error {
    Error::new(Code::AnswerTooLarge, "the answer has more rows than `limits.rows_max` allows")
        .with_hint("add a `limit` and page through the rows")
}

struct Bounded {
    inner: BatchStream,
    /// Since when somebody waits for the next rows; `None` while they wait for somebody.
    working_since: Option<Instant>,
    sleep: Pin<Box<Sleep>>,
    rows_left: u64,
    place: Place,
    ended: bool,
}

impl Stream for Bounded {
    type Item = Result<RecordBatch>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let since = match self.working_since {
            Some(since) => since,
            None => {
                let now = Instant::now();
                let deadline = now + self.place.left;
                self.sleep.as_mut().reset(deadline);
                *self.working_since.insert(now)
            }
        };
        let polled = self.inner.as_mut().poll_next(context);
        if polled.is_ready() {
            self.place.left = self.place.left.saturating_sub(since.elapsed());
            self.working_since = None;
        } else if self.sleep.poll_unpin(context).is_ready() {
            self.ended = true;
            return Poll::Ready(Some(Err(timeout(self.place.query_ms_max))));
        }
        if let Poll::Ready(Some(Ok(batch))) = &polled {
            match self.rows_left.checked_sub(batch.num_rows() as u64) {
                Some(left) => self.rows_left = left,
                None => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(too_many_rows())));
                }
            }
        }
        polled
    }
}
