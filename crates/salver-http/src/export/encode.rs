//! Encodes the rows of a snapshot in any format, from any row, in memory that does not grow with the number of rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::record_batch::RecordBatch;
use futures::{Stream, StreamExt, stream};
use salver_formats::{Encoder, TextEncoder};
use salver_model::Result;

use super::body_encoder::Work;
use super::outlet::{Flow, Sink};
use super::source::HeldRows;
use crate::body::{Broken, off_the_loop};

/// Number of pieces of text that are encoded concurrently for one body.
const PIECES_AT_ONCE: usize = 2;
/// Maximum number of rows in a piece.
const PIECE_ROWS: usize = 16 * 1024;
/// Rows per batch of a binary format. Constant, because the encoded bytes depend on it.
const BINARY_ROWS: usize = 8 * 1024;
/// Estimated size of a row before the first rows are encoded, in bytes.
const ROW_BYTES_GUESS: usize = 256;

/// The text of some rows.
struct EncodedRows {
    rows: u64,
    bytes: Vec<u8>,
}

impl Work {
    /// Encodes all rows into `sink`. Returns the number of rows, or `None` when the sink had enough before the end.
    pub(super) async fn run(&self, sink: &mut Sink) -> Result<Option<u64>, Broken> {
        if self.encoding.format.is_text() { self.text(sink).await } else { self.binary(sink).await }
    }

    /// Encodes a text format in pieces of any size, several concurrently: the bytes do not depend on the cuts.
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

    /// Returns the pieces after the first `done` rows.
    fn pieces(
        &self,
        done: u64,
        encoder: &Arc<TextEncoder>,
        row_bytes: &Arc<AtomicUsize>,
        wanted: &Arc<AtomicUsize>,
    ) -> impl Stream<Item = Result<EncodedRows>> + Send {
        let (encoder, row_bytes, wanted) = (Arc::clone(encoder), Arc::clone(row_bytes), Arc::clone(wanted));
        let estimate = Arc::clone(&row_bytes);
        let state = Some((HeldRows::behind(self, done), self.before + done == 0));
        let read = stream::unfold(state, move |state| {
            let (row_bytes, wanted) = (Arc::clone(&row_bytes), Arc::clone(&wanted));
            async move {
                let (mut rows, is_first) = state?;
                let count = wanted.load(Ordering::Relaxed) / row_bytes.load(Ordering::Relaxed).max(1);
                match rows.some(count.clamp(1, PIECE_ROWS)).await {
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

    /// Encodes a binary format, batch by batch: its encoder keeps state between batches.
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

fn encode(
    encoder: &TextEncoder,
    slices: &[RecordBatch],
    is_first: bool,
    row_bytes: &AtomicUsize,
) -> Result<EncodedRows> {
    let (mut bytes, mut rows) = (Vec::new(), 0);
    for slice in slices {
        encoder.rows(slice, is_first && rows == 0, &mut bytes)?;
        rows += slice.num_rows();
    }
    row_bytes.store(bytes.len() / rows.max(1) + 1, Ordering::Relaxed);
    Ok(EncodedRows { rows: rows as u64, bytes })
}
