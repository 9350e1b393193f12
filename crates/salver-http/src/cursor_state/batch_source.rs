//! Encodes batches: rows from their source, as JSON, directly into the body of the response.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use salver_formats::json::ColumnWriter;
use salver_formats::{Format, Nulls, Style, TextEncoder};
use salver_model::limits::{BATCH_BYTES_MAX, READY_BYTES_MAX};
use salver_model::{Caller, Result};
use salver_service::Service;
use salver_service::exports::{Bookmark, ExportReader, LiveRows};
use tokio::sync::OwnedSemaphorePermit;

use crate::aql::ResultShape;
use crate::body::off_the_loop;
use crate::dialect::{Refusal, arangodb};
use crate::export_state::DecoderSlots;
use crate::row_size;

/// Initial number of rows per chunk, until the size of a row is known.
const CHUNK_ROWS: usize = 1_024;
/// Maximum number of rows per chunk.
const FULL_CHUNK_ROWS: usize = 8_192;
/// Target size of a chunk of text, in bytes.
const CHUNK_BYTES: usize = 1024 * 1024;

/// The source of rows.
#[derive(Debug)]
pub(crate) enum BatchRows {
    /// A snapshot of an entry, which can be read again.
    Held(SnapshotRows),
    /// A running query, whose rows can be read once.
    Live(LiveRows),
}

/// The rows of a snapshot, read in turn with all other readers of snapshots.
#[derive(Debug)]
pub(crate) struct SnapshotRows {
    reader: ExportReader,
    turns: Arc<DecoderSlots>,
    /// The permit with which the reader keeps its decoder between two batches.
    idle: Option<OwnedSemaphorePermit>,
}

impl SnapshotRows {
    /// The rows of `reader`.
    pub(crate) fn new(reader: ExportReader, turns: &Arc<DecoderSlots>) -> Self {
        Self { reader, turns: Arc::clone(turns), idle: None }
    }

    /// Keeps the decoder for the next batch, if there is a permit for that.
    fn rest(&mut self) {
        self.idle = self.idle.take().or_else(|| self.turns.idle());
        if self.idle.is_none() {
            self.park();
        }
    }

    fn park(&mut self) {
        self.reader.park();
        self.idle = None;
    }
}

/// The JSON form of a row.
#[derive(Debug)]
enum Writer {
    Objects(TextEncoder),
    Values,
    Empty,
}

/// A batch of rows.
#[derive(Debug)]
pub(crate) struct EncodedBatch {
    /// The body of the response up to the end of the rows.
    pub(crate) body: Vec<u8>,
    /// Number of rows.
    pub(crate) rows: u64,
    /// Whether more rows follow.
    pub(crate) has_more: bool,
    /// Time spent on it.
    pub(crate) took: Duration,
}

/// Encodes batches of rows.
#[derive(Debug)]
pub(crate) struct Supply {
    service: Arc<Service>,
    caller: Caller,
    source: BatchRows,
    writer: Arc<Writer>,
    batch_rows: usize,
    /// Maximum size of a batch that the client allows, in bytes.
    bytes_max: usize,
    /// Remaining time for the query; `None` when only the server's limit applies.
    time_left: Option<Duration>,
    /// Size of the last batch, in bytes.
    last_bytes: usize,
}

impl Supply {
    /// Creates a supply of batches. `schema` has the names of the members in the result.
    pub(crate) fn new(
        service: &Arc<Service>,
        caller: &Caller,
        source: BatchRows,
        shape: ResultShape,
        schema: &SchemaRef,
    ) -> Self {
        let style = Style { nulls: Nulls::Write, ..Style::default() };
        let writer = match shape {
            ResultShape::Objects => Writer::Objects(TextEncoder::new(Format::Json, schema, &style)),
            ResultShape::Values => Writer::Values,
            ResultShape::Empty => Writer::Empty,
        };
        Self {
            service: Arc::clone(service),
            caller: caller.clone(),
            source,
            writer: Arc::new(writer),
            batch_rows: usize::MAX,
            bytes_max: usize::MAX,
            time_left: None,
            last_bytes: 0,
        }
    }

    /// Sets the client's limits: rows per batch, bytes per batch, and time for all batches.
    pub(crate) fn within(mut self, batch_rows: usize, bytes_max: Option<u64>, time: Option<Duration>) -> Self {
        self.batch_rows = batch_rows;
        self.bytes_max = bytes_max.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        self.time_left = time;
        self
    }

    /// Returns the next batch. After an error it rewinds to the beginning of the batch, if the rows can be read again.
    pub(crate) async fn batch(&mut self) -> Result<EncodedBatch, Refusal> {
        let (before, started) = (self.bookmark(), Instant::now());
        let made = match self.time_left {
            None => self.make().await,
            Some(left) => match tokio::time::timeout(left, self.make()).await {
                Ok(made) => made,
                Err(_) => Err(arangodb::killed()),
            },
        };
        let took = started.elapsed();
        if let BatchRows::Held(rows) = &mut self.source {
            rows.rest();
        }
        self.time_left = self.time_left.map(|left| left.saturating_sub(took));
        match made {
            Ok((body, rows, has_more)) => {
                self.last_bytes = body.len();
                Ok(EncodedBatch { body, rows, has_more, took })
            }
            Err(failure) => {
                if let Some(before) = before {
                    self.go_back(before);
                }
                Err(failure)
            }
        }
    }

    /// Makes a batch, in turn with all other readers of snapshots. A running query has a permit of its own.
    async fn make(&mut self) -> Result<(Vec<u8>, u64, bool), Refusal> {
        let _turn = match &self.source {
            BatchRows::Held(rows) => Some(rows.turns.take(&self.caller.holder()).await),
            BatchRows::Live(_) => None,
        };
        let mut body = Vec::with_capacity(self.last_bytes + self.last_bytes / 8);
        body.extend_from_slice(b"{\"result\":[");
        let (mut rows, mut chunk) = (0, CHUNK_ROWS);
        while rows < self.batch_rows && body.len() < BATCH_BYTES_MAX {
            let slices = self.slices(chunk.min(self.batch_rows - rows)).await?;
            if slices.is_empty() {
                body.push(b']');
                return Ok((body, rows as u64, false));
            }
            let is_first = rows == 0;
            rows += slices.iter().map(RecordBatch::num_rows).sum::<usize>();
            body = write(&self.writer, slices, is_first, body).await?;
            if body.len() > self.bytes_max {
                return Err(arangodb::memory("ask for smaller batches, or for more memory with `memoryLimit`"));
            }
            chunk = (CHUNK_BYTES / (body.len() / rows + 1)).clamp(1, FULL_CHUNK_ROWS);
        }
        body.push(b']');
        let has_more = match &mut self.source {
            BatchRows::Held(rows) => self.service.reads_on(&self.caller, &mut rows.reader).await?,
            BatchRows::Live(live) => self.service.lives_on(&self.caller, live).await?,
        };
        Ok((body, rows as u64, has_more))
    }

    async fn slices(&mut self, rows: usize) -> Result<Vec<RecordBatch>> {
        match &mut self.source {
            BatchRows::Held(held) => self.service.read_on(&self.caller, &mut held.reader, rows).await,
            BatchRows::Live(live) => self.service.take_live(&self.caller, live, rows).await,
        }
    }

    /// Returns the expected size of the next batch, which is that of the last one.
    pub(crate) fn expected_bytes(&self) -> usize {
        self.last_bytes
    }

    /// Returns the current position; `None` when rows can be read only once.
    pub(crate) fn bookmark(&self) -> Option<Bookmark> {
        match &self.source {
            BatchRows::Held(rows) if rows.reader.is_seekable() => Some(rows.reader.bookmark()),
            _ => None,
        }
    }

    /// Rewinds to a position.
    pub(crate) fn go_back(&mut self, before: Bookmark) {
        if let BatchRows::Held(rows) = &mut self.source {
            rows.reader.go_back(before);
        }
    }

    /// Releases the resources that can be acquired again.
    pub(crate) fn park(&mut self) {
        if let BatchRows::Held(rows) = &mut self.source {
            rows.park();
        }
    }

    /// Returns whether it keeps a query, or its rows, in memory.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.source, BatchRows::Live(_))
    }
}

/// Appends rows to those in `body`; large batches are encoded off the event loop.
async fn write(writer: &Arc<Writer>, slices: Vec<RecordBatch>, is_first: bool, mut body: Vec<u8>) -> Result<Vec<u8>> {
    if slices.iter().map(row_size::of).sum::<usize>() <= READY_BYTES_MAX {
        writer.write(&slices, is_first, &mut body)?;
        return Ok(body);
    }
    let writer = Arc::clone(writer);
    off_the_loop(move || {
        writer.write(&slices, is_first, &mut body)?;
        Ok(body)
    })
    .await
}

impl Writer {
    fn write(&self, slices: &[RecordBatch], mut is_first: bool, body: &mut Vec<u8>) -> Result<()> {
        for slice in slices {
            match self {
                Self::Objects(encoder) => encoder.rows(slice, is_first, body)?,
                Self::Values => {
                    let column = ColumnWriter::new(slice.column(0).as_ref())?;
                    for row in 0..slice.num_rows() {
                        if row > 0 || !is_first {
                            body.push(b',');
                        }
                        column.write(row, body);
                    }
                }
                Self::Empty => {
                    for row in 0..slice.num_rows() {
                        body.extend_from_slice(if row > 0 || !is_first { b",{}" } else { b"{}" });
                    }
                }
            }
            is_first &= slice.num_rows() == 0;
        }
        Ok(())
    }
}
