//! Rows in memory, made of batches: chunks whose columns are contiguous and take no more memory than their rows need.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use salver_model::{Error, Result};

use super::{Budget, Reservation};
use crate::chunk_size::CHUNK_ROWS;

/// Text offsets have 32 bits, which limits the size of a chunk.
const CHUNK_BYTES: u64 = 1024 * 1024 * 1024;

/// Chunks that are being made, whose memory is reserved.
pub(crate) struct Chunks {
    reservation: Reservation,
    chunks: Vec<RecordBatch>,
    chunk_bytes: u64,
    pending: Vec<RecordBatch>,
    pending_rows: usize,
    pending_bytes: u64,
}

impl Chunks {
    /// Begins with no rows.
    pub(crate) fn new(budget: &Arc<Budget>) -> Result<Self> {
        let reservation = budget.reserve(0).ok_or_else(|| Error::internal("the memory budget refuses nothing"))?;
        Ok(Self {
            reservation,
            chunks: Vec::new(),
            chunk_bytes: 0,
            pending: Vec::new(),
            pending_rows: 0,
            pending_bytes: 0,
        })
    }

    /// Appends a batch; returns false if that exceeds the available memory, though the batch is kept.
    pub(crate) fn push(&mut self, batch: RecordBatch, bytes_max: u64) -> Result<bool> {
        self.pending_bytes += slice_bytes(&batch);
        self.pending_rows += batch.num_rows();
        self.pending.push(batch);
        let is_wide = self.pending_bytes > CHUNK_BYTES;
        if is_wide || !self.fits(bytes_max) {
            return Ok(false);
        }
        self.compact(false)?;
        Ok(self.fits(bytes_max))
    }

    /// Takes all batches out, in their order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = RecordBatch> + '_ {
        self.chunks.drain(..).chain(self.pending.drain(..))
    }

    /// Returns the chunks: of exactly [`CHUNK_ROWS`] rows, the last may be shorter.
    pub(crate) fn finish(mut self) -> Result<(Vec<RecordBatch>, Reservation)> {
        self.compact(true)?;
        // The size counted before compaction was no smaller, so this only shrinks.
        let _ = self.reservation.resize(self.chunk_bytes);
        Ok((self.chunks, self.reservation))
    }

    fn fits(&mut self, bytes_max: u64) -> bool {
        let bytes = self.chunk_bytes + self.pending_bytes;
        bytes <= bytes_max && self.reservation.resize(bytes)
    }

    /// Compacts pending batches into chunks; with `all`, also the rest that is smaller than a chunk.
    fn compact(&mut self, all: bool) -> Result<()> {
        // Thousands of small batches may be pending, so they are looked at only when they fill a chunk.
        if !all && self.pending_rows < CHUNK_ROWS {
            return Ok(());
        }
        while self.pending_rows >= CHUNK_ROWS || (all && self.pending_rows > 0) {
            let mut wanted = CHUNK_ROWS.min(self.pending_rows);
            self.pending_rows -= wanted;
            let mut parts = Vec::new();
            let mut rest = Vec::new();
            for batch in self.pending.drain(..) {
                let rows = batch.num_rows();
                let taken = rows.min(wanted);
                if taken > 0 {
                    parts.push(batch.slice(0, taken));
                }
                if taken < rows {
                    rest.push(batch.slice(taken, rows - taken));
                }
                wanted -= taken;
            }
            self.pending = rest;
            let chunk = joined(&parts)?;
            self.chunk_bytes += chunk.get_array_memory_size() as u64;
            self.chunks.push(chunk);
        }
        self.pending_bytes = self.pending.iter().map(slice_bytes).sum();
        Ok(())
    }
}

/// Joins batches into one whose columns are contiguous and take no more memory than their rows need.
fn joined(parts: &[RecordBatch]) -> Result<RecordBatch> {
    let failed = |cause| Error::internal("rows that were read can't be joined").with_source(cause);
    let Some(first) = parts.first() else { return Err(Error::internal("a chunk has no rows")) };
    // Concatenating a single part would keep its buffers and their spare capacity; an empty second part forces a copy.
    let empty = first.slice(0, 0);
    let parts: Vec<&RecordBatch> = parts.iter().chain((parts.len() == 1).then_some(&empty)).collect();
    concat_batches(&first.schema(), parts).map_err(failed)
}

fn slice_bytes(batch: &RecordBatch) -> u64 {
    let bytes = |column: &arrow::array::ArrayRef| {
        column.to_data().get_slice_memory_size().unwrap_or_else(|_| column.get_array_memory_size())
    };
    batch.columns().iter().map(|column| bytes(column) as u64).sum()
}
