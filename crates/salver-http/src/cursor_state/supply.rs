//! Makes batches: rows from their source, as JSON, straight into the body of the answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use salver_formats::json::ColumnWriter;
use salver_formats::{Format, Nulls, Style, TextEncoder};
use salver_model::limits::{BATCH_BYTES_MAX, READY_BYTES_MAX};
use salver_model::{Caller, Result};
use salver_service::Service;
use salver_service::exports::{Bookmark, LiveRows, Reader};

use super::failure::Failure;
use crate::aql::Shape;
use crate::body::off_the_loop;
use crate::weight;

/// Rows that are encoded at a time, until it is known how large they are.
const CHUNK_ROWS: usize = 1_024;
/// Most rows that are encoded at a time.
const CHUNK_ROWS_MAX: usize = 8_192;
/// Text that is written at a time, in bytes.
const CHUNK_BYTES: usize = 1024 * 1024;

/// Where rows come from.
#[derive(Debug)]
pub(crate) enum Source {
    /// An entry, held; read again at will.
    Held(Reader),
    /// A query; each row comes once.
    Live(LiveRows),
}

/// How a row becomes JSON.
#[derive(Debug)]
enum Writer {
    Objects(TextEncoder),
    Values,
    Empty,
}

/// One batch.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The body of the answer up to the end of the rows.
    pub(crate) body: Vec<u8>,
    /// How many rows.
    pub(crate) rows: u64,
    /// Whether more follow.
    pub(crate) has_more: bool,
    /// How long it took to make.
    pub(crate) took: Duration,
}

/// Makes batches.
#[derive(Debug)]
pub(crate) struct Supply {
    service: Arc<Service>,
    caller: Caller,
    source: Source,
    writer: Arc<Writer>,
    batch_rows: usize,
    /// The largest batch the client allows, in bytes.
    bytes_max: usize,
    /// How long it may still work; `None` for as long as any query.
    time_left: Option<Duration>,
    /// How large the last batch was.
    last_bytes: usize,
}

impl Supply {
    /// A supply of batches of `batch_rows`. `schema` has the names that members get.
    pub(crate) fn new(
        service: &Arc<Service>,
        caller: &Caller,
        source: Source,
        shape: Shape,
        schema: &SchemaRef,
    ) -> Self {
        let style = Style { nulls: Nulls::Write, title: String::new() };
        let writer = match shape {
            Shape::Objects => Writer::Objects(TextEncoder::new(Format::Json, schema, &style)),
            Shape::Values => Writer::Values,
            Shape::Empty => Writer::Empty,
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

    /// The same with what the client wants: so many rows a batch, so many bytes at most, so much time for all.
    pub(crate) fn within(mut self, batch_rows: usize, bytes_max: Option<u64>, time: Option<Duration>) -> Self {
        self.batch_rows = batch_rows;
        self.bytes_max = bytes_max.map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        self.time_left = time;
        self
    }

    /// The next batch. When that fails and rows can be read again, they will be.
    pub(crate) async fn batch(&mut self) -> Result<Batch, Failure> {
        let (before, started) = (self.bookmark(), Instant::now());
        let made = match self.time_left {
            None => self.make().await,
            Some(left) => match tokio::time::timeout(left, self.make()).await {
                Ok(made) => made,
                Err(_) => Err(Failure::killed()),
            },
        };
        let took = started.elapsed();
        self.time_left = self.time_left.map(|left| left.saturating_sub(took));
        match made {
            Ok((body, rows, has_more)) => {
                self.last_bytes = body.len();
                Ok(Batch { body, rows, has_more, took })
            }
            Err(failure) => {
                if let Some(before) = before {
                    self.go_back(before);
                }
                Err(failure)
            }
        }
    }

    async fn make(&mut self) -> Result<(Vec<u8>, u64, bool), Failure> {
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
                return Err(Failure::memory("ask for smaller batches, or for more memory with `memoryLimit`"));
            }
            chunk = (CHUNK_BYTES / (body.len() / rows + 1)).clamp(1, CHUNK_ROWS_MAX);
        }
        body.push(b']');
        let has_more = match &mut self.source {
            Source::Held(reader) => self.service.reads_on(&self.caller, reader).await?,
            Source::Live(live) => self.service.lives_on(&self.caller, live).await?,
        };
        Ok((body, rows as u64, has_more))
    }

    async fn slices(&mut self, rows: usize) -> Result<Vec<RecordBatch>> {
        match &mut self.source {
            Source::Held(reader) => self.service.read_on(&self.caller, reader, rows).await,
            Source::Live(live) => self.service.take_live(&self.caller, live, rows).await,
        }
    }

    /// How large the next batch will be, as far as the last one tells.
    pub(crate) fn expected_bytes(&self) -> usize {
        self.last_bytes
    }

    /// Where it stands; `None` when rows come only once.
    pub(crate) fn bookmark(&self) -> Option<Bookmark> {
        match &self.source {
            Source::Held(reader) if reader.is_seekable() => Some(reader.bookmark()),
            _ => None,
        }
    }

    /// Goes back to where it stood.
    pub(crate) fn go_back(&mut self, before: Bookmark) {
        if let Source::Held(reader) = &mut self.source {
            reader.go_back(before);
        }
    }

    /// Drops what can be had again.
    pub(crate) fn park(&mut self) {
        if let Source::Held(reader) = &mut self.source {
            reader.park();
        }
    }

    /// Whether it keeps a query, or its rows, in memory.
    pub(crate) fn is_live(&self) -> bool {
        matches!(self.source, Source::Live(_))
    }
}

/// Writes rows behind those in `body`; many of them away from the threads that answer requests.
async fn write(writer: &Arc<Writer>, slices: Vec<RecordBatch>, is_first: bool, mut body: Vec<u8>) -> Result<Vec<u8>> {
    if slices.iter().map(weight::of).sum::<usize>() <= READY_BYTES_MAX {
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
