//! Makes the bytes of held rows: in any format, from any row on, in memory that does not grow with them.

use std::ops::Range as Span;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use arrow::record_batch::RecordBatch;
use futures::{Stream, StreamExt, stream};
use salver_formats::{Encoder, Format, TextEncoder};
use salver_model::ports::Held;
use salver_model::{Caller, Code, Error, Result};
use salver_service::exports::{Range, Reader};

use super::outlet::{Flow, Sink};
use super::source::HeldRows;
use crate::app::App;
use crate::body::{Broken, Encoding, off_the_loop};

/// Pieces of text that are encoded at the same time for one body.
const PIECES_AT_ONCE: usize = 2;
/// Most rows of one piece.
const PIECE_ROWS_MAX: usize = 16 * 1024;
/// Rows that a binary format gets at a time. Always as many, because its bytes follow from that.
const BINARY_ROWS: usize = 8 * 1024;
/// What a row is taken to need before the first was encoded, in bytes.
const ROW_BYTES_GUESS: usize = 256;

/// Which bytes are to be made.
#[derive(Clone)]
pub(super) struct Work {
    pub(super) app: Arc<App>,
    pub(super) caller: Caller,
    pub(super) held: Arc<dyn Held>,
    pub(super) columns: Vec<usize>,
    pub(super) parts: Span<usize>,
    /// Rows of the parts that are left out first, and how many follow at most.
    pub(super) skip: u64,
    pub(super) rows: Option<u64>,
    pub(super) encoding: Encoding,
    /// How many of the rows that were left out stand in the same body, so that its beginning is left out too.
    pub(super) before: u64,
}

/// Text of some rows.
struct Piece {
    rows: u64,
    bytes: Vec<u8>,
}

impl Work {
    /// All rows of `held`.
    pub(super) fn all(
        app: &Arc<App>,
        caller: &Caller,
        held: Arc<dyn Held>,
        columns: Vec<usize>,
        encoding: Encoding,
    ) -> Self {
        let (app, parts) = (Arc::clone(app), 0..held.parts());
        Self { app, caller: caller.clone(), held, columns, parts, skip: 0, rows: None, encoding, before: 0 }
    }

    /// Goes on behind the first `rows` rows of the same body.
    pub(super) fn behind(mut self, rows: u64) -> Self {
        (self.skip, self.before) = (self.skip + rows, rows);
        self.rows = self.rows.map(|all| all.saturating_sub(rows));
        self
    }

    /// Puts everything into `sink`; tells how many rows that was, and `None` when the sink had enough before.
    pub(super) async fn run(&self, sink: &mut Sink) -> Result<Option<u64>, Broken> {
        if self.encoding.format.is_text() { self.text(sink).await } else { self.binary(sink).await }
    }

    /// A reader of what is left behind `done` rows.
    pub(super) fn reader(&self, done: u64) -> Reader {
        let rows = self.rows.map(|rows| rows.saturating_sub(done));
        let range = Range { parts: self.parts.clone(), skip: self.skip + done, rows };
        Reader::new(Arc::clone(&self.held), self.columns.clone(), range)
    }

    /// Whether reading can begin anywhere at little cost, so that a client that stalls need not keep a decoder.
    pub(super) fn can_seek(&self) -> bool {
        self.held.finds_again()
    }

    /// How long a client is waited for with everything at hand.
    fn patience(&self) -> Duration {
        self.app.exports.turns.patience()
    }

    /// Whether there are more rows than an answer may have.
    pub(super) fn check(&self, rows: u64) -> Result<()> {
        let rows_max = self.app.service.limits().rows_max;
        if rows_max != 0 && self.before + rows > rows_max {
            return Err(too_many_rows());
        }
        Ok(())
    }

    /// Text is encoded in pieces of any size, several at once: their bytes are the same.
    async fn text(&self, sink: &mut Sink) -> Result<Option<u64>, Broken> {
        let schema = self.held.schema_of(&self.columns);
        let encoder = Arc::new(TextEncoder::new(self.encoding.format, &schema, &self.encoding.style));
        let row_bytes = Arc::new(AtomicUsize::new(ROW_BYTES_GUESS));
        let wanted = Arc::new(AtomicUsize::new(sink.piece_bytes()));
        let mut done = 0;
        if self.before == 0 {
            let mut begin = Vec::new();
            encoder.begin(&mut begin);
            if sink.put(begin, self.patience()).await? == Flow::Enough {
                return Ok(None);
            }
            sink.mark(0);
        }
        loop {
            let mut pieces = Box::pin(self.pieces(done, &encoder, &row_bytes, &wanted));
            let mut flow = Flow::Going;
            while let Some(piece) = pieces.next().await {
                let piece = piece?;
                done += piece.rows;
                flow = sink.put(piece.bytes, self.patience()).await?;
                sink.mark(self.before + done);
                wanted.store(sink.piece_bytes(), Ordering::Relaxed);
                match flow {
                    Flow::Going => {}
                    Flow::Enough => return Ok(None),
                    Flow::Stalled if self.can_seek() => break,
                    Flow::Stalled => {
                        sink.settle().await?;
                        flow = Flow::Going;
                    }
                }
            }
            drop(pieces);
            if flow == Flow::Going {
                break;
            }
            sink.settle().await?;
        }
        let mut end = Vec::new();
        encoder.end(&mut end);
        sink.put(end, self.patience()).await?;
        Ok(Some(done))
    }

    /// The pieces behind `done` rows.
    fn pieces(
        &self,
        done: u64,
        encoder: &Arc<TextEncoder>,
        row_bytes: &Arc<AtomicUsize>,
        wanted: &Arc<AtomicUsize>,
    ) -> impl Stream<Item = Result<Piece>> + Send {
        let (encoder, row_bytes, wanted) = (Arc::clone(encoder), Arc::clone(row_bytes), Arc::clone(wanted));
        let estimate = Arc::clone(&row_bytes);
        let state = Some((HeldRows::behind(self, done), self.before + done == 0));
        let read = stream::unfold(state, move |state| {
            let (row_bytes, wanted) = (Arc::clone(&row_bytes), Arc::clone(&wanted));
            async move {
                let (mut rows, is_first) = state?;
                let count = wanted.load(Ordering::Relaxed) / row_bytes.load(Ordering::Relaxed).max(1);
                match rows.some(count.clamp(1, PIECE_ROWS_MAX)).await {
                    Ok(slices) if slices.is_empty() => None,
                    Ok(slices) => Some((Ok((slices, is_first)), Some((rows, false)))),
                    Err(error) => Some((Err(error), None)),
                }
            }
        });
        let encoded = read.map(move |read| {
            let (encoder, estimate) = (Arc::clone(&encoder), Arc::clone(&estimate));
            async move {
                let (slices, is_first) = read?;
                off_the_loop(move || encode(&encoder, &slices, is_first, &estimate)).await
            }
        });
        encoded.buffered(PIECES_AT_ONCE)
    }

    /// Binary formats keep state from batch to batch, so they encode one after the other.
    async fn binary(&self, sink: &mut Sink) -> Result<Option<u64>, Broken> {
        let schema = self.held.schema_of(&self.columns);
        let mut encoder = Encoder::new(self.encoding.format, &schema, &self.encoding.style)?;
        let mut rows = HeldRows::behind(self, 0);
        let mut done = 0;
        let mut next = rows.batch(BINARY_ROWS).await?;
        while let Some(batch) = next.take() {
            done += batch.num_rows() as u64;
            let encoding = off_the_loop(move || {
                let mut piece = Vec::new();
                encoder.write(&batch, &mut piece)?;
                Ok((encoder, piece))
            });
            let (encoded, following) = tokio::join!(encoding, rows.batch(BINARY_ROWS));
            let piece;
            (encoder, piece) = encoded?;
            next = following?;
            match sink.put(piece, self.patience()).await? {
                Flow::Going => {}
                Flow::Enough => return Ok(None),
                Flow::Stalled => {
                    let unread = next.as_ref().map_or(0, |batch| batch.num_rows() as u64);
                    let rests = unread > 0 && rows.rest(unread);
                    if rests {
                        next = None;
                    }
                    sink.settle().await?;
                    if rests {
                        next = rows.batch(BINARY_ROWS).await?;
                    }
                }
            }
        }
        let mut end = Vec::new();
        encoder.finish(&mut end)?;
        sink.put(end, self.patience()).await?;
        Ok(Some(done))
    }
}

/// Whether the bytes of `format` are the same however its rows are cut, so that a body of it can be gone on with.
/// Arrow's are not: unused bits and dictionaries follow from how rows lay in memory.
pub(super) fn is_repeatable(format: Format) -> bool {
    !matches!(format, Format::ArrowStream | Format::ArrowFile)
}

fn encode(encoder: &TextEncoder, slices: &[RecordBatch], is_first: bool, row_bytes: &AtomicUsize) -> Result<Piece> {
    let (mut bytes, mut rows) = (Vec::new(), 0);
    for slice in slices {
        encoder.rows(slice, is_first && rows == 0, &mut bytes)?;
        rows += slice.num_rows();
    }
    row_bytes.store(bytes.len() / rows.max(1) + 1, Ordering::Relaxed);
    Ok(Piece { rows: rows as u64, bytes })
}

/// That an answer has more rows than it may.
pub(super) fn too_many_rows() -> Error {
    Error::new(Code::AnswerTooLarge, "the answer has more rows than `limits.rows_max` allows")
        .with_hint("read it in parts: `POST /api/export` opens streams that are read by `offset` and `rows`")
}
