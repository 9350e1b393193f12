//! The row source of a body. It shares decoders with other bodies, and reopens its reader where it was when the client
//! had stalled.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use salver_model::Result;

use super::body_encoder::Work;
use crate::body::BodySource;
use crate::export_state::{HeldSlot, SlotPermit};

/// Rows per read.
const STEP_ROWS: usize = 8 * 1024;

/// The rows of `work`.
pub(super) struct HeldRows {
    work: Work,
    /// Number of rows returned so far.
    done: u64,
    seat: Arc<SlotPermit>,
}

impl HeldRows {
    /// Returns the rows of `work` after the first `done`.
    pub(super) fn behind(work: &Work, done: u64) -> Self {
        Self { work: work.clone(), done, seat: Arc::default() }
    }

    /// Returns up to `rows_max` rows; none at the end.
    pub(super) async fn some(&mut self, rows_max: usize) -> Result<Vec<RecordBatch>> {
        let mut seated = self.begin().await?;
        let slices = self.work.app.service.read_on(&self.work.caller, &mut seated.reader, rows_max).await?;
        self.end(seated, slices.iter().map(RecordBatch::num_rows).sum())?;
        Ok(slices)
    }

    /// Returns the next `rows` rows as one batch, fewer only at the end; `None` when there are no more.
    pub(super) async fn batch(&mut self, rows: usize) -> Result<Option<RecordBatch>> {
        let mut seated = self.begin().await?;
        let batch = self.work.app.service.read_batch(&self.work.caller, &mut seated.reader, rows).await?;
        self.end(seated, batch.as_ref().map_or(0, RecordBatch::num_rows))?;
        Ok(batch)
    }

    /// Releases the reader and rewinds by `unread` rows. Returns `false` when the position can't be found again.
    pub(super) fn rest(&mut self, unread: u64) -> bool {
        if !self.work.can_seek() {
            return false;
        }
        self.done = self.done.saturating_sub(unread);
        drop(self.seat.take());
        true
    }

    /// Returns the reader at the current position; waits for a turn where it needs one.
    async fn begin(&mut self) -> Result<HeldSlot> {
        let turns = &self.work.app.exports.turns;
        match self.seat.take() {
            Some(seated) if !turns.is_over(&seated) => return Ok(seated),
            // Released before the next turn is awaited.
            over => drop(over),
        }
        let turn = if self.work.can_seek() {
            Some(turns.take_for(&self.seat, &self.work.caller.holder()).await)
        } else {
            None
        };
        Ok(HeldSlot::new(self.work.reader(self.done), turn))
    }

    fn end(&mut self, seated: HeldSlot, rows: usize) -> Result<()> {
        self.done += rows as u64;
        if rows > 0 {
            self.seat.put(seated);
        }
        self.work.check(self.done)
    }
}

impl BodySource for HeldRows {
    async fn next(&mut self) -> Result<Vec<RecordBatch>> {
        self.some(STEP_ROWS).await
    }

    fn park(&mut self, unread: u64) -> bool {
        self.rest(unread)
    }

    fn is_crowded(&self) -> bool {
        self.work.can_seek() && self.work.app.exports.turns.are_wanted()
    }
}
