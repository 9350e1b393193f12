//! Reading of one part of a snapshot, batch by batch, on threads that may block.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arrow::record_batch::RecordBatch;
use futures::{StreamExt, stream};
use salver_model::memory::{self, ReadAhead};
use salver_model::reply::BatchStream;
use salver_model::{Error, Filter, Result};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::frame_rows::{FrameReader, FrameSource};
use super::layout::Wanted;
use super::sidecar::{Footers, SidecarReader};
use super::{BATCH_BYTES, BATCH_ROWS};
use crate::log::{HeldLog, Segment};

/// Number of batches read at a time after the first.
const READ_AHEAD: usize = 4;
/// Bytes of batches from which on no more are read ahead.
const AHEAD_BYTES: usize = 2 * 1024 * 1024;
/// Bytes that a reader holds which reads ahead: its batches, those before them, and the frames or the row group that it
/// is at.
const READER_BYTES: usize = 12 * 1024 * 1024;
/// Bytes of the batches of one without room for that.
const SMALL_BATCH_BYTES: usize = 256 * 1024;

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

    /// Reads some batches, and returns whether those were the last.
    fn some(&mut self, count: usize) -> (Vec<Result<RecordBatch>>, bool) {
        let mut batches = Vec::with_capacity(count);
        let mut bytes = 0;
        while batches.len() < count && bytes < AHEAD_BYTES {
            match self.next() {
                Ok(Some(batch)) => {
                    bytes += batch.get_array_memory_size();
                    batches.push(Ok(batch));
                }
                Ok(None) => return (batches, true),
                Err(error) => {
                    batches.push(Err(error));
                    self.left.start = self.left.end;
                    self.source = None;
                    return (batches, true);
                }
            }
        }
        (batches, false)
    }
}

/// Batches that were read ahead.
struct Ahead {
    part: PartReader,
    batches: Vec<Result<RecordBatch>>,
    /// Whether these are the last.
    is_end: bool,
}

/// Part that is being read.
struct PartStream {
    batches: std::vec::IntoIter<Result<RecordBatch>>,
    ahead: Option<JoinHandle<Ahead>>,
    part: Option<PartReader>,
    count: usize,
    /// Room for reading ahead, if there is some.
    room: Option<ReadAhead>,
}

/// Streams the batches of a part. While the consumer takes some, the next are read, as far as there is room for all who
/// read ahead: hundreds of clients that read nothing would fill the memory. No thread waits for the consumer, and
/// dropping the stream stops the reading.
pub(super) fn stream_of(part: PartReader) -> BatchStream {
    let reading = PartStream { batches: Vec::new().into_iter(), ahead: None, part: Some(part), count: 1, room: None };
    stream::unfold(reading, |mut reading| async move {
        loop {
            if let Some(batch) = reading.batches.next() {
                return Some((batch, reading));
            }
            if let Some(part) = reading.part.take() {
                reading.read_on(part);
            }
            let done = reading.ahead.take()?.await;
            let Ahead { part, batches, is_end } = match done {
                Ok(done) => done,
                Err(error) => {
                    let error = Error::internal("the read of a stream was cut off").with_source(error);
                    return Some((Err(error), reading));
                }
            };
            reading.count = READ_AHEAD;
            reading.batches = batches.into_iter();
            if is_end {
                if reading.batches.len() == 0 {
                    return None;
                }
            } else if reading.has_room() {
                reading.read_on(part);
            } else {
                reading.part = Some(part);
            }
        }
    })
    .boxed()
}

impl PartStream {
    fn has_room(&mut self) -> bool {
        if self.room.is_none() {
            self.room = memory::read_ahead(READER_BYTES);
        }
        self.room.is_some()
    }

    fn read_on(&mut self, mut part: PartReader) {
        let (count, bytes) = if self.has_room() { (self.count, BATCH_BYTES) } else { (1, SMALL_BATCH_BYTES) };
        part.batch_bytes = bytes;
        self.ahead = Some(tokio::task::spawn_blocking(move || {
            let (batches, is_end) = part.some(count);
            Ahead { part, batches, is_end }
        }));
    }
}
