//! Reads some rows of a dataset's files, one batch after the other.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow::array::RecordBatch;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelectionPolicy};
use salver_model::{Error, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::columns::{FileColumns, Wanted};
use super::file::{OpenFile, Pages};
use super::opened::Opened;

/// Rows to leave out that are worth a look into the index of pages.
const WORTH_INDEX_ROWS: u64 = 4_096;

/// Where a reader of rows is. What it holds of a file is, of each column, the page it is at.
#[derive(Debug)]
pub(super) struct Decoder {
    opened: Arc<Opened>,
    wanted: Arc<Wanted>,
    /// What is still to be read.
    rows: Range<u64>,
    current: Option<Current>,
    /// Where there is room for what is held between two batches.
    room: Arc<Semaphore>,
    place: Option<OwnedSemaphorePermit>,
}

/// The file that is being read.
#[derive(Debug)]
struct Current {
    number: usize,
    file: Arc<OpenFile>,
    columns: FileColumns,
    /// `None` when nothing of the file is needed but the number of its rows.
    reader: Option<ParquetRecordBatchReader>,
    /// What the reader takes while it waits, in KiB, about.
    kib: u32,
    /// The row of the dataset behind the last that is read of this file.
    end: u64,
}

impl Decoder {
    /// A reader of the rows `rows`, which takes its place in `room`.
    pub(super) fn new(opened: Arc<Opened>, wanted: Arc<Wanted>, rows: Range<u64>, room: Arc<Semaphore>) -> Self {
        Self { opened, wanted, rows, current: None, room, place: None }
    }

    /// Whether all was read.
    pub(super) fn is_done(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether it has room to wait in, and to read ahead.
    pub(super) fn has_place(&self) -> bool {
        self.place.is_some()
    }

    /// The next rows; `None` at the end. Blocks.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>> {
        // The library trusts lengths and offsets that a damaged file gets wrong, and panics on some.
        let read = catch_unwind(AssertUnwindSafe(|| self.read())).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
            let cause = format!("panic: {}", text.unwrap_or_default());
            Err(match &self.current {
                Some(current) => current.file.failed(cause),
                None => Error::internal("a file of the dataset can't be read").with_source(cause),
            })
        });
        if read.is_err() {
            self.rows.start = self.rows.end;
            self.current = None;
        }
        self.settle();
        read
    }

    /// Takes a place to wait in. Where there is none it keeps nothing but its position: the next batch begins with the
    /// pages it is in.
    fn settle(&mut self) {
        if let (Some(current), None) = (&self.current, &self.place) {
            self.place = Arc::clone(&self.room).try_acquire_many_owned(current.kib).ok();
            if self.place.is_none() {
                self.current = None;
            }
        }
    }

    fn read(&mut self) -> Result<Option<RecordBatch>> {
        if self.rows.is_empty() {
            self.current = None;
            return Ok(None);
        }
        let current = match &mut self.current {
            Some(current) => current,
            none => none.insert(Current::open(&self.opened, &self.wanted, &self.rows)?),
        };
        let batch = current.next(&self.opened, self.rows.start)?;
        self.rows.start += batch.num_rows() as u64;
        if self.rows.start >= current.end {
            self.current = None;
        }
        Ok(Some(batch))
    }
}

impl Current {
    /// Opens the file that the first of `rows` is in.
    fn open(opened: &Opened, wanted: &Arc<Wanted>, rows: &Range<u64>) -> Result<Self> {
        let sources = &opened.sources;
        let number = sources.file_of(rows.start);
        let base = sources.starts[number];
        let known = sources.starts[number + 1] - base;
        let file = opened.file(number)?;
        let footer = file.footer()?;
        if footer.starts.last() != Some(&known) {
            return Err(file.failed(format!("it has {:?} rows and had {known}", footer.starts.last())));
        }
        let columns = FileColumns::new(sources, &footer, wanted);
        let (start, end) = (rows.start - base, (rows.end - base).min(known));
        let (mut reader, mut kib) = (None, 1);
        if !columns.is_empty() {
            kib = columns.waiting_kib(&footer);
            let first = footer.starts.partition_point(|row| *row <= start).saturating_sub(1);
            let behind = footer.starts.partition_point(|row| *row < end);
            let skip = start - footer.starts[first];
            let metadata = if skip >= WORTH_INDEX_ROWS { file.indexed(&footer) } else { footer.metadata.clone() };
            let size = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
            let built = ParquetRecordBatchReaderBuilder::new_with_metadata(Pages(Arc::clone(&file)), metadata)
                .with_row_groups((first..behind).collect())
                .with_projection(columns.mask(&footer))
                .with_batch_size(columns.batch_rows)
                // The other policy makes a bit of each row that is left out.
                .with_row_selection_policy(RowSelectionPolicy::Selectors)
                .with_offset(size(skip))
                .with_limit(size(end - start))
                .build();
            reader = Some(built.map_err(|cause| file.failed(cause))?);
        }
        Ok(Self { number, file, columns, reader, kib, end: base + end })
    }

    /// The rows from the dataset's row `at` on.
    fn next(&mut self, opened: &Opened, at: u64) -> Result<RecordBatch> {
        let sources = &opened.sources;
        let left = usize::try_from(self.end - at).unwrap_or(usize::MAX);
        let Some(reader) = &mut self.reader else {
            return self.columns.unread(sources, self.number, left.min(self.columns.batch_rows));
        };
        let batch = match reader.next() {
            Some(Ok(batch)) if batch.num_rows() <= left => batch,
            Some(Ok(batch)) => {
                return Err(self.file.failed(format!("{} rows where {left} were left", batch.num_rows())));
            }
            Some(Err(cause)) => return Err(self.file.failed(cause)),
            None => return Err(self.file.failed(format!("it ends {left} rows too early"))),
        };
        let first_row = at - sources.starts[self.number];
        let batch = self.columns.of(sources, self.number, batch, &self.file.name, first_row);
        // What was read before the file was written over is not told from what was read after it.
        self.file.check()?;
        batch
    }
}
