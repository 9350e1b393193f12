//! Reads the rows of a snapshot in order, from any position on, in batches of any size.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use salver_model::ports::{Held, locate};
use salver_model::reply::BatchStream;
use salver_model::{Error, Result};

/// Approximate number of bytes read at a time when the caller accepts any number of rows.
const SOME_BYTES: u64 = 1024 * 1024;

/// Range of rows to read: those of some parts, without the first `skip`, at most `rows`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Parts, in order.
    pub parts: std::ops::Range<usize>,
    /// Number of rows of these parts to skip.
    pub skip: u64,
    /// Maximum number of rows; `None` for all.
    pub rows: Option<u64>,
}

impl Range {
    /// Returns the range of all rows.
    #[must_use]
    pub fn all(held: &dyn Held) -> Self {
        Self { parts: 0..held.parts(), skip: 0, rows: None }
    }

    /// Returns the range of all rows of some parts.
    #[must_use]
    pub fn parts(parts: std::ops::Range<usize>) -> Self {
        Self { parts, skip: 0, rows: None }
    }

    /// Divides the rows among `count` streams. If the number of rows is known, the division depends only on that number
    /// and `count`; else streams are made of whole parts.
    #[must_use]
    pub fn split(held: &dyn Held, count: u64) -> Vec<Self> {
        let parts = held.parts();
        let counted: Option<u64> = (0..parts).map(|part| held.part_rows(part)).sum();
        let share = |all: u64, stream: u64| (u128::from(all) * u128::from(stream) / u128::from(count.max(1))) as u64;
        let total = held.describe().rows.or(counted);
        (0..count)
            .map(|stream| match total {
                Some(total) => {
                    let (skip, end) = (share(total, stream), share(total, stream + 1));
                    Self { parts: 0..parts, skip, rows: Some(end - skip) }
                }
                None => {
                    let part = |stream| usize::try_from(share(parts as u64, stream)).unwrap_or(parts);
                    Self::parts(part(stream)..part(stream + 1))
                }
            })
            .collect()
    }
}

/// Reader of rows in order. Between two reads it may be parked, which keeps only its position. A read that is cancelled
/// loses no row.
pub struct ExportReader {
    held: Arc<dyn Held>,
    columns: Vec<usize>,
    schema: SchemaRef,
    /// End of the parts.
    end: usize,
    /// Position of the next row to return.
    next: RowPosition,
    /// Number of rows returned or skipped, counted from the first row of the parts.
    position: u64,
    rows_left: u64,
    /// Whether `next` is known to be in its part, or right behind it.
    is_found: bool,
    source: Option<PartStream>,
    /// Whether rows can be found again without reading those before them, as far as is known.
    is_seekable: bool,
    /// Whether all rows are decoded.
    is_done: bool,
    waiting: VecDeque<DecodedRows>,
    waiting_rows: u64,
}

/// Position of a [`ExportReader`] to go back to.
#[derive(Clone, Copy, Debug)]
pub struct Bookmark {
    next: RowPosition,
    position: u64,
    rows_left: u64,
    is_found: bool,
}

/// Position of a row: its part, and the number of rows before it in the part.
#[derive(Clone, Copy, Debug)]
struct RowPosition {
    part: usize,
    row: u64,
}

/// Rows being decoded.
struct PartStream {
    part: usize,
    stream: BatchStream,
    /// Rows that are read and discarded, because those behind them cannot be reached otherwise.
    discard: u64,
}

/// Rows that are decoded but not returned yet.
struct DecodedRows {
    part: usize,
    batch: RecordBatch,
    /// Number of rows of the part before the batch.
    row: u64,
}

impl DecodedRows {
    /// Returns the memory it keeps alive, in bytes; for a slice, that of the whole buffer.
    fn bytes(&self) -> u64 {
        self.batch.get_array_memory_size() as u64
    }
}

impl ExportReader {
    /// Creates a reader of `range` of `held`, with the columns `columns` (indexes into the schema, in this order).
    /// Reads nothing yet.
    #[must_use]
    pub fn new(held: Arc<dyn Held>, columns: Vec<usize>, range: Range) -> Self {
        let schema = held.schema_of(&columns);
        Self {
            end: range.parts.end.min(held.parts()),
            next: RowPosition { part: range.parts.start, row: range.skip },
            position: range.skip,
            rows_left: range.rows.unwrap_or(u64::MAX),
            is_found: false,
            source: None,
            is_seekable: true,
            is_done: false,
            waiting: VecDeque::new(),
            waiting_rows: 0,
            held,
            columns,
            schema,
        }
    }

    /// Returns the columns of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the snapshot that is read.
    #[must_use]
    pub fn held(&self) -> &Arc<dyn Held> {
        &self.held
    }

    /// Returns the number of rows before the next one, counted from the first row of the parts.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the next `rows_max` rows as one batch, fewer only at the end; `None` when there are no more.
    ///
    /// # Errors
    /// Returns whatever reading the snapshot refuses. A failed read may be retried.
    pub async fn next(&mut self, rows_max: usize) -> Result<Option<RecordBatch>> {
        let mut slices = self.slices(rows_max, u64::MAX).await?;
        match slices.len() {
            0 => Ok(None),
            1 => Ok(slices.pop()),
            _ => concat_batches(&self.schema, &slices)
                .map(Some)
                .map_err(|error| Error::internal("batches of one entry do not fit together").with_source(error)),
        }
    }

    /// Returns some rows, at most `rows_max`, without copying: about as many as are decoded for [`SOME_BYTES`]. Empty
    /// when there are no more.
    ///
    /// # Errors
    /// Returns the errors of [`ExportReader::next`].
    pub async fn some(&mut self, rows_max: usize) -> Result<Vec<RecordBatch>> {
        self.slices(rows_max, SOME_BYTES).await
    }

    async fn slices(&mut self, rows_max: usize, bytes_max: u64) -> Result<Vec<RecordBatch>> {
        let wanted = self.rows_left.min(rows_max as u64);
        let mut bytes: u64 = self.waiting.iter().map(DecodedRows::bytes).sum();
        while self.waiting_rows < wanted && (self.waiting_rows == 0 || bytes < bytes_max) {
            let before = self.waiting.len();
            if !self.advance().await? {
                break;
            }
            bytes += self.waiting.iter().skip(before).map(DecodedRows::bytes).sum::<u64>();
        }
        let mut missing = wanted.min(self.waiting_rows);
        let mut slices = Vec::new();
        while missing > 0
            && let Some(mut front) = self.waiting.pop_front()
        {
            let rows = front.batch.num_rows() as u64;
            let taken = rows.min(missing);
            let cut = usize::try_from(taken).unwrap_or(usize::MAX);
            slices.push(front.batch.slice(0, cut));
            self.next = RowPosition { part: front.part, row: front.row + taken };
            if taken < rows {
                front.batch = front.batch.slice(cut, front.batch.num_rows() - cut);
                front.row += taken;
                self.waiting.push_front(front);
            }
            self.waiting_rows -= taken;
            self.rows_left -= taken;
            self.position += taken;
            missing -= taken;
        }
        Ok(slices)
    }

    /// Returns the current position, to go back to.
    #[must_use]
    pub fn bookmark(&self) -> Bookmark {
        let Self { next, position, rows_left, is_found, .. } = *self;
        Bookmark { next, position, rows_left, is_found }
    }

    /// Goes back to an earlier position.
    pub fn go_back(&mut self, bookmark: Bookmark) {
        self.drop_all();
        let Bookmark { next, position, rows_left, is_found } = bookmark;
        (self.next, self.position, self.rows_left, self.is_found) = (next, position, rows_left, is_found);
    }

    /// Returns whether going back costs no more than the rows read again.
    #[must_use]
    pub fn is_seekable(&self) -> bool {
        self.is_seekable
    }

    /// Returns whether another row follows; reads ahead as far as necessary.
    ///
    /// # Errors
    /// Returns the errors of [`ExportReader::next`].
    pub async fn has_more(&mut self) -> Result<bool> {
        while self.rows_left > 0 && self.waiting_rows == 0 {
            if !self.advance().await? {
                return Ok(false);
            }
        }
        Ok(self.rows_left > 0)
    }

    /// Drops everything but the position: decoder, buffers, decoded rows. The next read resumes from there. Rows that
    /// are only reachable by reading those before them keep their decoder, since finding them again would cost more.
    pub fn park(&mut self) {
        if self.is_seekable {
            self.drop_all();
        }
    }

    fn drop_all(&mut self) {
        self.source = None;
        self.is_done = false;
        self.waiting = VecDeque::new();
        self.waiting_rows = 0;
    }

    /// Decodes one batch, or moves to the next part; returns `false` at the end.
    async fn advance(&mut self) -> Result<bool> {
        if self.source.is_none() && !self.is_done {
            self.source = self.open();
        }
        let Some(source) = &mut self.source else {
            self.is_done = true;
            return Ok(false);
        };
        let part = source.part;
        match source.stream.next().await {
            Some(Ok(batch)) => {
                self.take_in(batch);
                Ok(true)
            }
            Some(Err(error)) => {
                // A failed decoder is unusable; earlier batches stay valid, and the rest is read anew.
                self.drop_all();
                Err(error)
            }
            None => {
                let discard = source.discard;
                self.source = None;
                if self.waiting.is_empty() {
                    // The rest of the rows to discard is in the part behind.
                    self.next = RowPosition { part: part + 1, row: discard };
                    return Ok(true);
                }
                self.source = self.open_part(part + 1, 0);
                self.is_done = self.source.is_none();
                Ok(!self.is_done)
            }
        }
    }

    fn take_in(&mut self, batch: RecordBatch) {
        let Some(source) = &mut self.source else { return };
        let left_out = source.discard.min(batch.num_rows() as u64);
        source.discard -= left_out;
        if left_out == batch.num_rows() as u64 {
            return;
        }
        self.is_found = true;
        let cut = usize::try_from(left_out).unwrap_or(usize::MAX);
        let batch = if cut == 0 { batch } else { batch.slice(cut, batch.num_rows() - cut) };
        let row = match self.waiting.back() {
            Some(last) if last.part == source.part => last.row + last.batch.num_rows() as u64,
            None if self.next.part == source.part => self.next.row,
            _ => 0,
        };
        self.waiting_rows += batch.num_rows() as u64;
        self.waiting.push_back(DecodedRows { part: source.part, batch, row });
    }

    /// Opens the rows from `next` on.
    fn open(&mut self) -> Option<PartStream> {
        let (part, row) = locate(&*self.held, self.next.part..self.end, self.next.row);
        self.next = RowPosition { part, row };
        self.open_part(part, row)
    }

    fn open_part(&mut self, part: usize, row: u64) -> Option<PartStream> {
        if part >= self.end {
            return None;
        }
        let limit = self.rows_left.saturating_sub(self.waiting_rows);
        let limit = (limit < u64::MAX / 2).then_some(limit);
        // Without a known number of rows, a position behind the end of a part is only found by counting.
        let is_inside = self.is_found || self.held.part_rows(part).is_some() || part + 1 == self.end;
        let behind = (row == 0 || is_inside).then(|| self.held.read_behind(part, row, &self.columns, limit)).flatten();
        self.is_seekable = behind.is_some();
        Some(match behind {
            Some(stream) => PartStream { part, stream, discard: 0 },
            None => {
                let limit = limit.and_then(|limit| limit.checked_add(row));
                let stream = self.held.read(part, &self.columns, None, limit);
                PartStream { part, stream, discard: row }
            }
        })
    }
}

impl fmt::Debug for ExportReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reading = if self.source.is_some() { "reading" } else { "parked" };
        write!(f, "Reader({} at {}, {reading})", self.held.describe().name, self.position)
    }
}

/// Counts the rows of a snapshot; reads them without columns when their number is not known.
///
/// # Errors
/// Returns whatever reading the snapshot refuses.
pub async fn count(held: &dyn Held) -> Result<u64> {
    if let Some(rows) = held.describe().rows {
        return Ok(rows);
    }
    let mut rows = 0;
    for part in 0..held.parts() {
        match held.part_rows(part) {
            Some(known) => rows += known,
            None => {
                let mut stream = held.read(part, &[], None, None);
                while let Some(batch) = stream.next().await {
                    rows += batch?.num_rows() as u64;
                }
            }
        }
    }
    Ok(rows)
}
