//! Reading of one part of a snapshot, batch by batch, on threads that may block.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow::record_batch::RecordBatch;
use salver_model::{Filter, Result};
use tokio::sync::mpsc;

use super::frame_rows::{FrameReader, FrameSource};
use super::layout::Wanted;
use super::sidecar::{Footers, SidecarReader};
use super::{BATCH_BYTES, BATCH_ROWS};
use crate::log::{HeldLog, Segment};

/// Delay before a file that could not be written is tried again.
const AGAIN: Duration = Duration::from_secs(60);

/// Readers' view of the Parquet files.
#[derive(Debug)]
pub(super) struct Sidecars {
    pub(super) footers: Footers,
    /// Queue of segments whose files are to be written.
    orders: mpsc::UnboundedSender<Arc<Segment>>,
    /// Bases of the queued segments, and of those that failed with the time of the failure.
    ordered: Mutex<HashMap<u64, Option<Instant>>>,
}

impl Sidecars {
    pub(super) fn new(orders: mpsc::UnboundedSender<Arc<Segment>>) -> Self {
        Self { footers: Footers::default(), orders, ordered: Mutex::default() }
    }

    /// Requests the file of a segment, because it is missing, damaged, or has outdated columns.
    fn order(&self, segment: &Arc<Segment>) {
        let mut ordered = self.ordered.lock().unwrap_or_else(PoisonError::into_inner);
        let is_to_do = match ordered.get(&segment.base()) {
            None => true,
            Some(failed) => failed.is_some_and(|time| time.elapsed() > AGAIN),
        };
        if is_to_do {
            ordered.insert(segment.base(), None);
            // There is no receiver when the stream is closing.
            let _ = self.orders.send(Arc::clone(segment));
        }
    }

    /// Records that the file of a segment was written, or could not be.
    pub(super) fn done(&self, segment: &Segment, is_written: bool) {
        let mut ordered = self.ordered.lock().unwrap_or_else(PoisonError::into_inner);
        if is_written {
            ordered.remove(&segment.base());
        } else {
            ordered.insert(segment.base(), Some(Instant::now()));
        }
    }
}

/// Current source of rows.
enum RowSource {
    Frames(Box<FrameReader>),
    Sidecar(Box<SidecarReader>, Arc<Segment>),
}

/// Reader of a part.
pub(super) struct PartReader {
    log: Arc<HeldLog>,
    /// Offsets without a source yet.
    left: Range<u64>,
    source: Option<(RowSource, u64)>,
    wanted: Wanted,
    filter: Option<Filter>,
    sidecars: Arc<Sidecars>,
    /// Bytes that complete a batch.
    batch_bytes: usize,
}

impl PartReader {
    pub(super) fn new(
        log: Arc<HeldLog>,
        offsets: Range<u64>,
        wanted: Wanted,
        filter: Option<Filter>,
        sidecars: Arc<Sidecars>,
    ) -> Self {
        Self { log, left: offsets, source: None, wanted, filter, sidecars, batch_bytes: BATCH_BYTES }
    }

    /// Returns the next rows; `None` at the end. Blocks.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let Some((source, end)) = &mut self.source else {
                if self.left.is_empty() {
                    return Ok(None);
                }
                self.source = Some(self.open());
                continue;
            };
            let batch = match source {
                RowSource::Frames(frames) => {
                    let batch = frames.next(BATCH_ROWS, self.batch_bytes);
                    for (lost, why) in frames.take_lost() {
                        self.log.lose(lost, &why);
                    }
                    batch?
                }
                RowSource::Sidecar(sidecar, segment) => match sidecar.next() {
                    Ok(batch) => batch,
                    Err(error) => {
                        let path = segment.parquet_path();
                        tracing::warn!(%error, path = %path.display(), "a damaged Parquet file is written again");
                        let _ = std::fs::remove_file(path);
                        self.sidecars.order(segment);
                        let rest = sidecar.position().unwrap_or(*end)..*end;
                        let place = FrameSource::Closed(Arc::clone(segment));
                        *source = RowSource::Frames(Box::new(FrameReader::new(place, rest, self.wanted.clone())));
                        continue;
                    }
                },
            };
            if batch.is_some() {
                return Ok(batch);
            }
            self.source = None;
        }
    }

    /// Opens a source for the next offsets, and returns its end.
    fn open(&mut self) -> (RowSource, u64) {
        let start = self.left.start;
        let index = self.log.closed.partition_point(|segment| segment.end() <= start);
        let Some(segment) = self.log.closed.get(index) else {
            let place = FrameSource::Open(Arc::clone(&self.log));
            let frames = FrameReader::new(place, self.left.clone(), self.wanted.clone());
            self.left.start = self.left.end;
            return (RowSource::Frames(Box::new(frames)), self.left.end);
        };
        let end = segment.end().min(self.left.end);
        let offsets = start..end;
        self.left.start = end;
        let row_bytes = segment.bytes() / (segment.end() - segment.base()).max(1);
        let batch_rows = (self.batch_bytes as u64 / row_bytes.max(1)).clamp(1, BATCH_ROWS as u64) as usize;
        let sidecar = self
            .sidecars
            .footers
            .open(segment)
            .and_then(|file| SidecarReader::new(file, &offsets, &self.wanted, self.filter.as_ref(), batch_rows));
        if let Some(sidecar) = sidecar {
            return (RowSource::Sidecar(Box::new(sidecar), Arc::clone(segment)), end);
        }
        self.sidecars.order(segment);
        let frames = FrameReader::new(FrameSource::Closed(Arc::clone(segment)), offsets, self.wanted.clone());
        (RowSource::Frames(Box::new(frames)), end)
    }

    /// Returns the offset of the next row.
    pub(super) fn position(&self) -> u64 {
        match &self.source {
            None => self.left.start,
            Some((RowSource::Frames(frames), _)) => frames.position(),
            Some((RowSource::Sidecar(sidecar, _), end)) => sidecar.position().unwrap_or(*end),
        }
    }

    /// Closes the source, to read on from `position`.
    pub(super) fn rewind(&mut self, position: u64) {
        self.source = None;
        self.left.start = position;
    }

    /// Ends the read.
    pub(super) fn end(&mut self) {
        self.source = None;
        self.left.start = self.left.end;
    }

    /// Sets the bytes that complete a batch, for sources that are opened from now on, and for frames.
    pub(super) fn set_batch_bytes(&mut self, bytes: usize) {
        self.batch_bytes = bytes;
    }
}
