//! The source of the rows of a body.

use std::collections::VecDeque;

use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use futures::future::BoxFuture;
use salver_model::reply::BatchStream;
use salver_model::{Result, Share};

/// A source of rows, in order, a few at a time.
pub(crate) trait BodySource: Send + 'static {
    /// Returns the next rows as they lie in memory: a convenient number, some thousands at most; none at the end.
    fn next(&mut self) -> impl Future<Output = Result<Vec<RecordBatch>>> + Send;

    /// Releases whatever can be read again: the client has taken nothing for a while
    /// ([`salver_model::limits::PARK_MS`], less when other readers wait). The last `unread` rows that
    /// [`BodySource::next`] returned were not used; `true` promises that `next` returns them again, `false` means that
    /// the caller has to keep them. Not called while `next` is running, and any number of times.
    fn park(&mut self, unread: u64) -> bool;

    /// Returns whether other readers wait for their turn. If so, the caller should not request rows before they are
    /// needed, nor keep unused ones.
    fn is_crowded(&self) -> bool {
        false
    }
}

/// Batches in memory, and the stream that follows them; none of them can be read again.
pub(super) struct Batches {
    /// The batches in memory.
    pub(super) head: std::vec::IntoIter<RecordBatch>,
    /// The rest of the batches.
    pub(super) rest: Option<BatchStream>,
    /// Accounts for the memory of `head`.
    pub(super) _share: Option<Share>,
}

impl BodySource for Batches {
    async fn next(&mut self) -> Result<Vec<RecordBatch>> {
        if let Some(batch) = self.head.next() {
            return Ok(vec![batch]);
        }
        let Some(rest) = &mut self.rest else { return Ok(Vec::new()) };
        let next = rest.next().await.transpose()?;
        Ok(next.into_iter().collect())
    }

    fn park(&mut self, _: u64) -> bool {
        false
    }
}

/// A source that is asked for more rows while the rows at hand are processed.
pub(super) struct Feed<S> {
    /// The source, while no request is pending.
    source: Option<S>,
    /// The pending request. It returns the source with the result, so that the caller can do other work meanwhile.
    asked: Option<BoxFuture<'static, (S, Result<Vec<RecordBatch>>)>>,
    rows: VecDeque<RecordBatch>,
    ended: bool,
}

impl<S: BodySource> Feed<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source: Some(source), asked: None, rows: VecDeque::new(), ended: false }
    }

    /// Requests more rows, unless `enough` batches are at hand or there are no more.
    pub(super) fn ask(&mut self, enough: usize) {
        if self.ended || self.rows.len() >= enough {
            return;
        }
        if let Some(mut source) = self.source.take() {
            self.asked = Some(Box::pin(async move {
                let rows = source.next().await;
                (source, rows)
            }));
        }
    }

    pub(super) fn is_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Waits for the result of a pending request, if any. Cancel-safe.
    pub(super) async fn answer(&mut self) -> Result<()> {
        let Some(asked) = &mut self.asked else { return Ok(()) };
        let (source, rows) = asked.await;
        self.asked = None;
        self.source = Some(source);
        let rows = rows?;
        self.ended = rows.is_empty();
        self.rows.extend(rows.into_iter().filter(|batch| batch.num_rows() > 0));
        Ok(())
    }

    /// Returns whether other readers wait for their turn.
    pub(super) fn is_crowded(&self) -> bool {
        self.source.as_ref().is_some_and(BodySource::is_crowded)
    }

    /// Returns whether rows are at hand.
    pub(super) fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Returns whether all rows were taken.
    pub(super) fn is_done(&self) -> bool {
        self.ended && self.rows.is_empty()
    }

    /// Takes the next rows, at most as many as `rows_of` returns for what is left of a batch.
    pub(super) fn cut(&mut self, rows_of: impl FnOnce(&RecordBatch) -> usize) -> Option<RecordBatch> {
        let batch = self.rows.front_mut()?;
        let rows = rows_of(batch);
        if rows >= batch.num_rows() {
            return self.rows.pop_front();
        }
        let piece = batch.slice(0, rows);
        *batch = batch.slice(rows, batch.num_rows() - rows);
        Some(piece)
    }

    /// Releases whatever can be read again; returns whether that is everything.
    pub(super) fn park(&mut self) -> bool {
        let unread: usize = self.rows.iter().map(RecordBatch::num_rows).sum();
        let Some(source) = &mut self.source else { return false };
        if !source.park(unread as u64) {
            return false;
        }
        self.ended &= unread == 0;
        self.rows = VecDeque::new();
        true
    }
}
