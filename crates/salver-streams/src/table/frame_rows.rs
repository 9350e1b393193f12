//! Rows decoded from the log itself.

use std::ops::Range;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use salver_model::{Code, Error, Result};

use super::BATCH_ROWS;
use super::layout::{RowBuilder, Wanted};
use crate::log::frame::Frame;
use crate::log::{HeldLog, Segment};

/// Bytes of the log read at a time.
const PIECE_BYTES: usize = 1024 * 1024;

/// Source of frames.
#[derive(Clone, Debug)]
pub(super) enum FrameSource {
    /// Closed segment.
    Closed(Arc<Segment>),
    /// Part of a snapshot behind the closed segments.
    Open(Arc<HeldLog>),
}

impl FrameSource {
    fn read(&self, from: u64) -> Result<Vec<Frame>> {
        match self {
            Self::Closed(segment) => segment.read(from, PIECE_BYTES),
            Self::Open(held) => held.open.read(from, PIECE_BYTES),
        }
    }

    /// Returns the first offset from `from` on that is not damaged.
    fn good_from(&self, from: u64) -> Result<u64> {
        match self {
            Self::Closed(segment) => segment.good_from(from),
            Self::Open(held) => held.open.good_from(from),
        }
    }
}

/// Reader of a range of events as rows.
#[derive(Debug)]
pub(super) struct FrameReader {
    place: FrameSource,
    /// Offsets still to be read.
    left: Range<u64>,
    frames: std::vec::IntoIter<Frame>,
    frame: Option<Frame>,
    rows: RowBuilder,
    /// Damaged events that were left out, with what was wrong.
    lost: Vec<(Range<u64>, Error)>,
}

impl FrameReader {
    pub(super) fn new(place: FrameSource, offsets: Range<u64>, wanted: Wanted) -> Self {
        let rows = RowBuilder::new(wanted);
        Self { place, left: offsets, frames: Vec::new().into_iter(), frame: None, rows, lost: Vec::new() }
    }

    /// Returns the offset of the next event.
    pub(super) fn position(&self) -> u64 {
        self.left.start
    }

    /// Returns the damaged events that were left out since the last call.
    pub(super) fn take_lost(&mut self) -> Vec<(Range<u64>, Error)> {
        std::mem::take(&mut self.lost)
    }

    /// Returns the next rows, at most `rows_max`, and fewer from `bytes_max` bytes of events on; `None` at the end.
    /// Damaged events are left out. Blocks.
    pub(super) fn next(&mut self, rows_max: usize, bytes_max: usize) -> Result<Option<RecordBatch>> {
        let mut bytes = 0;
        let rows_max = rows_max.min(BATCH_ROWS);
        while !self.left.is_empty() && self.rows.rows() < rows_max && bytes < bytes_max {
            let Some(frame) = self.current()? else {
                self.left.start = self.left.end;
                break;
            };
            let skipped = self.left.start.saturating_sub(frame.head.offset) as usize;
            for placed in frame.records().skip(skipped) {
                if placed.offset >= self.left.end {
                    break;
                }
                if self.rows.rows() == rows_max || bytes >= bytes_max {
                    break;
                }
                bytes += placed.record.value.len();
                self.rows.push(&placed);
                self.left.start = placed.offset + 1;
            }
            // A frame without further records, whatever its header says, must not stop the walk.
            if self.rows.rows() < rows_max && bytes < bytes_max {
                self.left.start = self.left.start.max(frame.head.end().min(self.left.end));
            }
            self.frame = Some(frame);
        }
        if self.rows.rows() == 0 { Ok(None) } else { self.rows.finish().map(Some) }
    }

    /// Returns the frame with the next event.
    fn current(&mut self) -> Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.frame.take().or_else(|| self.frames.next()) {
                if frame.head.end() > self.left.start {
                    return Ok(Some(frame));
                }
                continue;
            }
            if self.left.is_empty() {
                return Ok(None);
            }
            let frames = match self.place.read(self.left.start) {
                Err(error) if error.code == Code::Source => {
                    self.pass(error)?;
                    continue;
                }
                frames => frames?,
            };
            if frames.last().is_none_or(|frame| frame.head.end() <= self.left.start) {
                return Ok(None);
            }
            self.frames = frames.into_iter();
        }
    }

    /// Goes on behind the damage that the next event is in.
    fn pass(&mut self, error: Error) -> Result<()> {
        let start = self.left.start;
        let good = self.place.good_from(start)?.min(self.left.end);
        if good <= start {
            return Err(error);
        }
        self.lost.push((start..good, error));
        self.left.start = good;
        Ok(())
    }
}
