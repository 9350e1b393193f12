//! Reads a part for one reader: statement by statement, with the next one prefetched while the rows of the last are
//! consumed.

use std::sync::{Arc, PoisonError};

use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use futures::{StreamExt, stream};
use salver_model::reply::BatchStream;
use salver_model::{Error, Result};
use tokio::sync::mpsc::{self, Sender};

use super::batch_builder::{HeldSink, Message};
use super::statements::ReadPosition;
use super::{HeldState, KeyRange};
#[cfg(feature = "postgres")]
use crate::backend::postgres::snapshot::copy::Copied;
#[cfg(feature = "postgres")]
use crate::backend::snapshot::DatabaseSnapshot;
use crate::backend::snapshot::Scans;
use crate::cell::{Collect, OwnedCell};

/// Rows of the first statement, which should respond at once.
const FIRST_ROWS: usize = 1024;
/// Most rows of a statement.
const STATEMENT_ROWS: usize = 32_768;
/// Target size of a statement's rows, in bytes.
const BYTES_WANTED: usize = 2 * 1024 * 1024;
/// Size at which a statement is cut off, in bytes, when its rows are larger than earlier ones.
const STATEMENT_BYTES: usize = 4 * 1024 * 1024;
/// The same for the first statement; it doubles with each next one, because the client may not consume them.
const FIRST_BYTES: usize = 512 * 1024;

/// A reader before its start.
#[derive(Debug)]
pub(super) struct PendingReader {
    shared: Arc<HeldState>,
    part: usize,
    columns: Vec<usize>,
    schema: SchemaRef,
    skip: u64,
    limit: Option<u64>,
}

/// Rows per piece of a statement without a limit.
const PIECE_ROWS: usize = 4096;
/// Rows of the first window, where a statement should not be much longer than what was read before.
const WINDOW_ROWS: u64 = 16_384;

/// Rows of one statement.
struct StatementRows {
    batch: RecordBatch,
    key: Vec<OwnedCell>,
    bytes: usize,
    /// Whether it was cut short because it grew too large.
    cut: bool,
}

impl PendingReader {
    pub(super) fn new(shared: &Arc<HeldState>, part: usize, columns: &[usize], skip: u64, limit: Option<u64>) -> Self {
        let whole = &shared.description.schema;
        let fields: Vec<_> = columns.iter().filter_map(|index| whole.fields().get(*index).cloned()).collect();
        let schema = Arc::new(Schema::new(fields));
        Self { shared: Arc::clone(shared), part, columns: columns.to_vec(), schema, skip, limit }
    }

    /// Returns the rows as a stream. A task of its own reads them, and ends when the stream is dropped: at once if the
    /// snapshot survives that, else with the current statement, which then runs to its end.
    pub(super) fn stream(self) -> BatchStream {
        enum ReaderState {
            New(PendingReader),
            Reads(mpsc::Receiver<Message>),
            Ended,
        }
        let next = async |state| {
            let mut receiver = match state {
                ReaderState::New(reading) => {
                    let (sender, receiver) = mpsc::channel(1);
                    tokio::spawn(async move { reading.run(sender).await });
                    receiver
                }
                ReaderState::Reads(receiver) => receiver,
                ReaderState::Ended => return None,
            };
            match receiver.recv().await {
                Some(Message::Batch(batch)) => Some((Ok(batch), ReaderState::Reads(receiver))),
                Some(Message::Failed(error)) => Some((Err(error), ReaderState::Ended)),
                Some(Message::End) => None,
                None => Some((Err(Error::internal("reading held rows broke off")), ReaderState::Ended)),
            }
        };
        stream::unfold(ReaderState::New(self), next).boxed()
    }

    async fn run(self, out: Sender<Message>) {
        let keyed = !self.shared.plan.key.columns.is_empty();
        let reading = async {
            match self.shared.snapshot.scans() {
                _ if self.columns.is_empty() => self.count(&out).await,
                scans if !keyed && scans != Scans::Never => self.scan(&out, scans).await,
                _ => self.read(&out).await,
            }
        };
        let ended = if self.shared.snapshot.survives_stops() {
            tokio::select! {
                () = out.closed() => return,
                ended = reading => ended,
            }
        } else {
            reading.await
        };
        let word = ended.map_or_else(Message::Failed, |()| Message::End);
        // The send fails if the reader is gone.
        let _ = out.send(word).await;
    }

    /// Sends rows without columns.
    async fn count(&self, out: &Sender<Message>) -> Result<()> {
        let Some(part) = self.shared.parts.get(self.part) else { return Ok(()) };
        let rows = self.shared.rows_of(part).await?;
        let mut left = rows.saturating_sub(self.skip).min(self.limit.unwrap_or(u64::MAX));
        while left > 0 {
            let rows = usize::try_from(left).map_or(STATEMENT_ROWS, |left| left.min(STATEMENT_ROWS));
            let options = RecordBatchOptions::new().with_row_count(Some(rows));
            let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), Vec::new(), &options)
                .map_err(|error| Error::internal("rows without columns").with_source(error))?;
            if out.send(Message::Batch(batch)).await.is_err() {
                return Ok(());
            }
            left -= rows as u64;
        }
        Ok(())
    }

    async fn read(&self, out: &Sender<Message>) -> Result<()> {
        let Some(part) = self.shared.parts.get(self.part) else { return Ok(()) };
        let keyed = !self.shared.plan.key.columns.is_empty();
        let mark = part.marks.lock().unwrap_or_else(PoisonError::into_inner).before(self.skip);
        let (marked, mut key) = mark.map_or((0, None), |(rows, key)| (rows, Some(key)));
        let mut position = self.skip;
        // Rows to skip after the key.
        let mut skip = position - marked;
        let mut left = self.limit.unwrap_or(u64::MAX);
        let (mut size, mut bytes_max) = (FIRST_ROWS, FIRST_BYTES);
        while left > 0 {
            let rows = usize::try_from(left).map_or(size, |left| left.min(size));
            let place = ReadPosition { range: &part.range, behind: key.as_deref(), skip };
            let piece = self.piece(place, rows, bytes_max).await?;
            bytes_max = (2 * bytes_max).min(STATEMENT_BYTES);
            let got = piece.batch.num_rows();
            let seen = got > 0 || skip == 0 || position > self.skip;
            position += got as u64;
            let end = got < rows && !piece.cut;
            if end && seen {
                // Another reader may have counted them.
                let _ = part.rows.set(position);
            }
            if got > 0 {
                size = next_size(size, got, piece.bytes);
                left -= got as u64;
                skip = if keyed { 0 } else { position };
                if keyed {
                    let last: Arc<[OwnedCell]> = piece.key.into();
                    part.marks.lock().unwrap_or_else(PoisonError::into_inner).note(position, &last);
                    key = Some(last);
                }
                if out.send(Message::Batch(piece.batch)).await.is_err() {
                    return Ok(());
                }
            }
            if end {
                break;
            }
        }
        Ok(())
    }

    /// Reads rows without a key: as long as possible by one statement, which yields to other readers.
    async fn scan(&self, out: &Sender<Message>, scans: Scans) -> Result<()> {
        let Some(part) = self.shared.parts.get(self.part) else { return Ok(()) };
        let mut position = self.skip;
        let mut left = self.limit.unwrap_or(u64::MAX);
        let mut window = if scans == Scans::Windows { WINDOW_ROWS } else { u64::MAX };
        while left > 0 && !out.is_closed() {
            let rows = left.min(window);
            let place = ReadPosition { range: &part.range, behind: None, skip: position };
            let read = self.shared.plan.rows(&self.columns, place, rows);
            let sink = HeldSink::new(&self.schema, BYTES_WANTED, PIECE_ROWS);
            let (sink, whole) = self.shared.snapshot.scan(read, sink, out).await?;
            let got = sink.rows();
            position += got;
            left -= got;
            window = window.saturating_mul(2);
            let (batch, _) = sink.finish()?;
            if batch.num_rows() > 0 && out.send(Message::Batch(batch)).await.is_err() {
                return Ok(());
            }
            if whole && got < rows {
                if got > 0 || position > self.skip || position == 0 {
                    let _ = part.rows.set(position);
                }
                break;
            }
        }
        Ok(())
    }

    /// Reads the rows of one statement.
    async fn piece(&self, place: ReadPosition<'_>, rows: usize, bytes_max: usize) -> Result<StatementRows> {
        let read = self.shared.plan.rows(&self.columns, place, rows as u64);
        #[cfg(feature = "postgres")]
        if let DatabaseSnapshot::Postgres(snapshot) = &*self.shared.snapshot {
            let (forms, keys) = self.shared.plan.forms(&self.columns);
            let copied = Copied::new(&self.schema, &forms, &keys, rows, bytes_max);
            let copied = snapshot.copy(&read.sql, copied).await?;
            let (bytes, cut) = (copied.bytes(), copied.is_full());
            let (batch, key) = copied.finish()?;
            return Ok(StatementRows { batch, key, bytes, cut });
        }
        let sink = self.shared.snapshot.read(read, HeldSink::new(&self.schema, bytes_max, usize::MAX)).await?;
        let (bytes, cut) = (sink.bytes(), sink.is_full());
        let (batch, key) = sink.finish()?;
        Ok(StatementRows { batch, key, bytes, cut })
    }
}

impl HeldState {
    /// Returns the number of rows of a part.
    async fn rows_of(&self, part: &KeyRange) -> Result<u64> {
        if let Some(rows) = part.rows.get() {
            return Ok(*rows);
        }
        let found = self.snapshot.read(self.plan.count(&part.range), Collect::default()).await?;
        let rows = match found.rows.first().and_then(|rows| rows.first()).and_then(|row| row.first()) {
            Some(OwnedCell::Int(rows)) => u64::try_from(*rows).ok(),
            Some(OwnedCell::UInt(rows)) => Some(*rows),
            _ => None,
        };
        let rows = rows.ok_or_else(|| Error::internal("a count that is not a number"))?;
        Ok(*part.rows.get_or_init(|| rows))
    }
}

/// Returns the number of rows for the next statement: growing, as long as their size stays within bounds.
fn next_size(size: usize, got: usize, bytes: usize) -> usize {
    let fit = BYTES_WANTED / (bytes / got).max(1);
    (4 * size).min(STATEMENT_ROWS).min(fit.max(1))
}
