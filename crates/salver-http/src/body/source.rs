//! Where the rows of a body come from.

use std::collections::VecDeque;

use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use futures::future::BoxFuture;
use salver_model::reply::BatchStream;
use salver_model::{Result, Share};

/// Rows in order, a few at a time.
pub(crate) trait Source: Send + 'static {
    /// The next rows, as they lie in memory: as many as are convenient, some thousands at most; none at the end.
    fn next(&mut self) -> impl Future<Output = Result<Vec<RecordBatch>>> + Send;

    /// The client has taken nothing for a while ([`salver_model::limits::PARK_MS`], less when others wait): whatever
    /// can be had again is to be dropped. The last `unread` rows that [`Source::next`] gave were not used; `true`
    /// promises that it gives them again, `false` means that whoever has them has to keep them. Not called while `next`
    /// is running, and any number of times.
    fn park(&mut self, unread: u64) -> bool;

    /// Whether others wait for their turn to read: then nobody is to ask for rows before they are needed, or to keep
    /// those that are not used.
    fn is_crowded(&self) -> bool {
        false
    }
}

/// Rows at hand, and those that follow; none of them can be had again.
pub(super) struct Batches {
    /// What comes first.
    pub(super) head: std::vec::IntoIter<RecordBatch>,
    /// What follows.
    pub(super) rest: Option<BatchStream>,
    /// Where what comes first is counted.
    pub(super) _share: Option<Share>,
}

impl Source for Batches {
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

/// A source that is asked for more rows while those at hand are worked on.
pub(super) struct Feed<S> {
    /// The source, when it is not being asked.
    source: Option<S>,
    /// It comes back with its answer, so that whoever waits for the answer may do other things in between.
    asked: Option<BoxFuture<'static, (S, Result<Vec<RecordBatch>>)>>,
    rows: VecDeque<RecordBatch>,
    ended: bool,
}

impl<S: Source> Feed<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source: Some(source), asked: None, rows: VecDeque::new(), ended: false }
    }

    /// Asks for more rows, unless `enough` batches are at hand or there are no more.
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

    /// Waits for the answer, if one is to come. Losing the future loses nothing.
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

    /// Whether others wait for their turn to read.
    pub(super) fn is_crowded(&self) -> bool {
        self.source.as_ref().is_some_and(Source::is_crowded)
    }

    /// Whether rows are at hand.
    pub(super) fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Whether all rows were given out.
    pub(super) fn is_done(&self) -> bool {
        self.ended && self.rows.is_empty()
    }

    /// The next rows: as many as `rows_of` says of what is left of a batch.
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

    /// Drops all that can be had again; whether that is everything.
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
