//! Reads a range of rows of a dataset's files, batch by batch.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow::array::RecordBatch;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelectionPolicy};
use salver_model::{Error, Result};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::column_selection::{FileColumns, Wanted};
use super::open_files::Opened;
use super::parquet_file::{OpenFile, Pages};

/// Number of rows to skip from which reading the page index pays off.
const WORTH_INDEX_ROWS: u64 = 4_096;

/// A reader of rows and its position. Of a file it holds, for each column, the current page.
#[derive(Debug)]
pub(super) struct Decoder {
    opened: Arc<Opened>,
    wanted: Arc<Wanted>,
    /// The rows that are still to be read.
    rows: Range<u64>,
    current: Option<Current>,
    /// Permits for the memory that is held between two batches.
    room: Arc<Semaphore>,
    place: Option<OwnedSemaphorePermit>,
}

/// The file that is being read.
#[derive(Debug)]
struct Current {
    number: usize,
    file: Arc<OpenFile>,
    columns: FileColumns,
    /// `None` if only the number of rows is needed from the file.
    reader: Option<ParquetRecordBatchReader>,
    /// Estimated memory that the reader holds while it waits, in KiB.
    kib: u32,
    /// The dataset's row after the last one to be read from this file.
    end: u64,
}

impl Decoder {
    /// Returns a reader of the rows `rows`, which acquires its permits from `room`.
    pub(super) fn new(opened: Arc<Opened>, wanted: Arc<Wanted>, rows: Range<u64>, room: Arc<Semaphore>) -> Self {
        Self { opened, wanted, rows, current: None, room, place: None }
    }

    /// Returns whether all rows were read.
    pub(super) fn is_done(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns whether it has permits for the memory to wait and to read ahead.
    pub(super) fn has_place(&self) -> bool {
        self.place.is_some()
    }

    /// Returns the next batch; `None` at the end. Blocks.
    pub(super) fn next(&mut self) -> Result<Option<RecordBatch>> {
        // The library trusts lengths and offsets of damaged files, and panics on some of them.
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

    /// Acquires permits for the memory held while waiting. If there are none, it drops everything but its position: the
    /// next batch then decodes the current pages again.
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
    /// Opens the file that has the first of `rows`.
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
                // The other policy allocates a bit for each row that is skipped.
                .with_row_selection_policy(RowSelectionPolicy::Selectors)
                .with_offset(size(skip))
                .with_limit(size(end - start))
                .build();
            reader = Some(built.map_err(|cause| file.failed(cause))?);
        }
        Ok(Self { number, file, columns, reader, kib, end: base + end })
    }

    /// Returns the next batch, from the dataset's row `at` on.
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
        // Checked after reading: data read before and after an overwrite can't be told apart.
        self.file.check()?;
        batch
    }
}
