//! Rows of a range of offsets, past whatever is damaged.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use salver_model::{Code, Error, Result};

use super::columns::Columns;
use crate::log::{HeldLog, Log};
use crate::table::BATCH_ROWS;
use crate::table::layout::{Layout, OFFSET, Wanted};
use crate::table::part_reader::{PartReader, Sidecars};

/// Snapshot of a log, with what is needed to read it.
#[derive(Debug)]
pub(super) struct EventRows<'a> {
    pub(super) log: &'a Log,
    pub(super) held: Arc<HeldLog>,
    pub(super) layout: Arc<Layout>,
    pub(super) columns: &'a Columns,
    pub(super) sidecars: Arc<Sidecars>,
    /// Set when the stream is closing.
    pub(super) stop: &'a AtomicBool,
}

impl EventRows<'_> {
    /// Passes the rows at these offsets to `each`, in the columns of the table. Damaged events are left out, as far as
    /// the log tells where they end. Blocks.
    ///
    /// # Errors
    /// Returns `Source` when the log can't be read, and `StreamUnavailable` when the stream is closing.
    pub(super) fn read(&self, offsets: Range<u64>, each: &mut dyn FnMut(&RecordBatch) -> Result<()>) -> Result<()> {
        let wanted = Wanted::new(Arc::clone(&self.layout), &self.columns.indexes());
        let (mut from, mut step) = (offsets.start, u64::MAX);
        while from < offsets.end {
            let end = offsets.end.min(from.saturating_add(step));
            let part =
                PartReader::new(Arc::clone(&self.held), from..end, wanted.clone(), None, Arc::clone(&self.sidecars));
            match self.read_part(part, &mut from, each) {
                Ok(()) => {
                    from = end;
                    step = step.saturating_mul(2);
                }
                Err(error) if error.code != Code::Source => return Err(error),
                // The rows before the damage are read in smaller parts.
                Err(_) if end - from > 1 => step = ((end - from) / 2).min(BATCH_ROWS as u64),
                Err(error) => {
                    let good = self.good_from(from)?;
                    if good <= from {
                        return Err(error);
                    }
                    tracing::error!("events {from} to {} are not published: {}", good - 1, error.message);
                    from = good;
                    step = BATCH_ROWS as u64;
                }
            }
        }
        Ok(())
    }

    /// Returns the first offset from `from` on that is not damaged on disk. The log itself may have it in memory.
    fn good_from(&self, from: u64) -> Result<u64> {
        let closed = &self.held.closed;
        match closed.get(closed.partition_point(|segment| segment.end() <= from)) {
            Some(segment) if segment.base() <= from => segment.good_from(from),
            _ => self.log.good_from(from),
        }
    }

    /// Reads a part, and moves `from` behind each batch.
    fn read_part(
        &self,
        mut part: PartReader,
        from: &mut u64,
        each: &mut dyn FnMut(&RecordBatch) -> Result<()>,
    ) -> Result<()> {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::new(Code::StreamUnavailable, "the stream is closing"));
            }
            let Some(batch) = part.next()? else { return Ok(()) };
            let last = batch.column(OFFSET).as_primitive::<Int64Type>().values().last().copied();
            each(&self.columns.batch(&batch)?)?;
            *from = last.and_then(|last| u64::try_from(last).ok()).map_or(*from, |last| last + 1);
        }
    }
}
