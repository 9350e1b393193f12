//! Producer of the pieces of one body: rows are decoded, encoded and sent concurrently, in order and in bounded memory.
//!
//! One task coordinates the threads and does none of the work: it requests rows from the source, has them encoded away
//! from the threads that serve requests, and sends the pieces to the outlet. When the client takes nothing for a while,
//! the source is parked, and only the finished pieces stay in memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use salver_formats::{Coding, Compressor, Encoder, TextEncoder};
use salver_model::limits::{PARK_MS, PIECE_BYTES_MAX, STALL_MS_MAX};
use salver_model::{Error, Result};

use super::budget::BodyBudget;
use super::source::{BodySource, Feed};
use super::{Broken, Encoding, Idle, Outlet, compressor, off_the_loop};
use crate::row_size;

/// Most rows that are encoded at a time.
const PIECE_ROWS: usize = 8_192;
/// Rows of the first piece, before the length of a row is known.
const FIRST_ROWS: usize = 512;
/// Multiple of a piece's bytes that is encoded at a time in formats that are compressed or have a header per batch.
const PACKED_PIECES: usize = 4;
/// Pieces that are encoded concurrently for one response.
const PIECES_AT_ONCE: usize = 2;
/// Time without progress of the client after which its source is parked while other readers wait for a turn.
const PATIENCE: Duration = Duration::from_millis(20);

/// Produces a body of the rows of `source`. The outlet is ended only when the body is complete.
pub(super) async fn produce<S: BodySource>(
    schema: SchemaRef,
    source: S,
    encoding: &Encoding,
    outlet: Outlet,
) -> Result<(), Broken> {
    let lane = Lane::new(&schema, encoding)?;
    let is_text = encoding.format.is_text();
    let (feed, jobs) = (Feed::new(source), FuturesOrdered::new());
    let budget = BodyBudget::of(encoding.time);
    Producer { feed, outlet, lane, jobs, is_text, row_bytes: None, budget }.run().await
}

struct Producer<S> {
    feed: Feed<S>,
    outlet: Outlet,
    lane: Lane,
    /// Pieces that are being encoded, in order.
    jobs: FuturesOrdered<Job>,
    is_text: bool,
    /// Encoded length of a row of the last piece.
    row_bytes: Option<usize>,
    budget: BodyBudget,
}

/// A piece that is being encoded.
type Job = BoxFuture<'static, Result<Done>>;

/// A finished piece.
struct Done {
    piece: Vec<u8>,
    /// Length before compression, and number of rows.
    plain_bytes: usize,
    rows: usize,
    took: Duration,
    chain: Option<Box<Chain>>,
}

impl<S: BodySource> Producer<S> {
    async fn run(mut self) -> Result<(), Broken> {
        loop {
            while self.launch() {}
            // While other readers wait for a turn, rows are not requested before they can be used.
            let is_crowded = self.feed.is_crowded();
            if !is_crowded || !self.outlet.is_full(0) {
                self.feed.ask(if is_crowded { 1 } else { 2 });
            }
            if self.jobs.is_empty() && !self.feed.is_asked() {
                if self.feed.is_done() {
                    return self.finish().await;
                }
                self.wait().await?;
                continue;
            }
            let Self { jobs, feed, outlet, .. } = &mut self;
            let (has_jobs, is_asked) = (!jobs.is_empty(), feed.is_asked());
            let is_blocked = feed.has_rows();
            tokio::select! {
                biased;
                done = jobs.next(), if has_jobs => if let Some(done) = done {
                    self.pass(done?)?;
                },
                answer = feed.answer(), if is_asked => answer?,
                () = outlet.taken(), if is_blocked => {}
            }
        }
    }

    /// Begins to encode the next piece, if there are rows and room for it.
    fn launch(&mut self) -> bool {
        let (piece_bytes, row_bytes) = (self.outlet.piece_bytes(), self.row_bytes.filter(|_| self.is_text));
        if self.jobs.len() >= self.lane.jobs_max()
            || !self.feed.has_rows()
            || self.outlet.is_full(self.jobs.len() * piece_bytes)
        {
            return false;
        }
        let is_text = self.is_text;
        let Some(batch) = self.feed.cut(|batch| match row_bytes {
            None if is_text => rows_within(piece_bytes, batch).min(FIRST_ROWS),
            None => rows_within(PACKED_PIECES * piece_bytes, batch),
            Some(bytes) => {
                let rows = (piece_bytes / bytes.max(1)).clamp(1, rows_within(PIECE_BYTES_MAX, batch));
                even(rows, batch.num_rows())
            }
        }) else {
            return false;
        };
        let buffer = self.outlet.buffer();
        self.jobs.push_back(self.lane.encode(batch, buffer));
        true
    }

    fn pass(&mut self, done: Done) -> Result<()> {
        self.budget.spend(done.took)?;
        self.row_bytes = done.plain_bytes.checked_div(done.rows).or(self.row_bytes);
        if let Some(chain) = done.chain {
            self.lane.take_back(chain);
        }
        self.outlet.send(done.piece);
        Ok(())
    }

    /// Waits for the client, first with all data in memory, then without the data that can be read again.
    async fn wait(&mut self) -> Result<(), Broken> {
        let patience = if self.feed.is_crowded() { PATIENCE } else { Duration::from_millis(PARK_MS) };
        if self.outlet.room(patience).await.is_ok() {
            return Ok(());
        }
        self.outlet.trim();
        let stall = Duration::from_millis(STALL_MS_MAX).saturating_sub(patience);
        // Seeking back to the position is only worth it for more than one piece.
        let waited = if self.feed.park() { self.outlet.drained(stall).await } else { self.outlet.room(stall).await };
        waited.map_err(|Idle| Broken::Gone)
    }

    async fn finish(mut self) -> Result<(), Broken> {
        let buffer = self.outlet.buffer();
        let end = self.lane.finish(buffer).await?;
        self.outlet.send(end);
        self.outlet.end(None);
        Ok(())
    }
}

/// Returns how many rows of a batch fit in `bytes` of memory, up to [`PIECE_ROWS`].
fn rows_within(bytes: usize, batch: &RecordBatch) -> usize {
    let row_bytes = row_size::of(batch) / batch.num_rows().max(1) + 1;
    (bytes / row_bytes).clamp(1, PIECE_ROWS)
}

/// Returns `wanted` or somewhat less, so that `rows` rows are cut into pieces of equal size.
fn even(wanted: usize, rows: usize) -> usize {
    rows.div_ceil(rows.div_ceil(wanted).max(1))
}

/// The encoder of the pieces.
enum Lane {
    /// Pieces are independent, and several are encoded concurrently.
    Free { encoder: Arc<TextEncoder>, has_begun: bool },
    /// Pieces depend on each other and are encoded one at a time; `None` while one is being encoded.
    Bound(Option<Box<Chain>>),
}

/// An encoder, or an encoder and a compressor, with state that carries over from piece to piece.
struct Chain {
    encoder: Encoder,
    compressor: Option<Compressor>,
    /// Input of the compressor.
    plain: Vec<u8>,
}

impl Lane {
    fn new(schema: &SchemaRef, encoding: &Encoding) -> Result<Self> {
        let Encoding { format, style, coding, .. } = encoding;
        if format.is_text() && *coding == Coding::Identity {
            let encoder = Arc::new(TextEncoder::new(*format, schema, style));
            return Ok(Self::Free { encoder, has_begun: false });
        }
        let (encoder, compressor) = (Encoder::new(*format, schema, style)?, compressor(*coding)?);
        Ok(Self::Bound(Some(Box::new(Chain { encoder, compressor, plain: Vec::new() }))))
    }

    /// Returns how many pieces may be encoded concurrently at the moment.
    fn jobs_max(&self) -> usize {
        match self {
            Self::Free { .. } => PIECES_AT_ONCE,
            Self::Bound(chain) => usize::from(chain.is_some()),
        }
    }

    /// Begins to encode a piece.
    fn encode(&mut self, batch: RecordBatch, mut piece: Vec<u8>) -> Job {
        match self {
            Self::Free { encoder, has_begun } => {
                let encoder = Arc::clone(encoder);
                let is_first = !std::mem::replace(has_begun, true);
                Box::pin(off_the_loop(move || {
                    let begun = Instant::now();
                    if is_first {
                        encoder.begin(&mut piece);
                    }
                    encoder.rows(&batch, is_first, &mut piece)?;
                    let (plain_bytes, rows) = (piece.len(), batch.num_rows());
                    Ok(Done { piece, plain_bytes, rows, took: begun.elapsed(), chain: None })
                }))
            }
            Self::Bound(chain) => {
                let chain = chain.take();
                Box::pin(off_the_loop(move || {
                    let begun = Instant::now();
                    let mut chain =
                        chain.ok_or_else(|| Error::internal("a piece was begun before the last was done"))?;
                    let plain_bytes = chain.write(&batch, &mut piece)?;
                    let (rows, took) = (batch.num_rows(), begun.elapsed());
                    Ok(Done { piece, plain_bytes, rows, took, chain: Some(chain) })
                }))
            }
        }
    }

    fn take_back(&mut self, chain: Box<Chain>) {
        if let Self::Bound(place) = self {
            *place = Some(chain);
        }
    }

    /// Writes the end of the format, after the last row.
    async fn finish(&mut self, mut end: Vec<u8>) -> Result<Vec<u8>> {
        match self {
            Self::Free { encoder, has_begun } => {
                if !*has_begun {
                    encoder.begin(&mut end);
                }
                encoder.end(&mut end);
                Ok(end)
            }
            Self::Bound(chain) => match chain.take() {
                Some(chain) => off_the_loop(move || chain.finish(end)).await,
                None => Err(Error::internal("a body ended before its last piece was done")),
            },
        }
    }
}

impl Chain {
    /// Encodes rows and returns their length in bytes before compression.
    fn write(&mut self, batch: &RecordBatch, piece: &mut Vec<u8>) -> Result<usize> {
        let Some(compressor) = &mut self.compressor else {
            self.encoder.write(batch, piece)?;
            return Ok(piece.len());
        };
        self.plain.clear();
        self.encoder.write(batch, &mut self.plain)?;
        *piece = compressor.write(&self.plain, false)?;
        Ok(self.plain.len())
    }

    fn finish(mut self, mut piece: Vec<u8>) -> Result<Vec<u8>> {
        let Some(mut compressor) = self.compressor else {
            self.encoder.finish(&mut piece)?;
            return Ok(piece);
        };
        self.plain.clear();
        self.encoder.finish(&mut self.plain)?;
        piece = compressor.write(&self.plain, false)?;
        piece.append(&mut compressor.finish()?);
        Ok(piece)
    }
}
