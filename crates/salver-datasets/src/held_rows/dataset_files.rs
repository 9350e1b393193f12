//! The files of a dataset, opened for the first reader and closed with the last.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use arrow::array::{Int64Array, RecordBatch, UInt32Array};
use arrow::datatypes::{Field, SchemaRef};
use salver_model::Result;
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::first_rows;
use super::open_files::{Opened, Sources};
use crate::residency::ParquetFile;

/// The files of one version of a dataset.
#[derive(Debug)]
pub(crate) struct Files {
    pub(super) sources: Arc<Sources>,
    opened: Mutex<Weak<Opened>>,
    /// Permits for open files, shared by all datasets.
    places: Arc<Semaphore>,
    head: OnceLock<Option<RecordBatch>>,
}

impl Files {
    /// Returns the files of a dataset with the columns `schema`, of which some are `partition_columns`.
    pub(crate) fn new(
        schema: &SchemaRef,
        files: &[ParquetFile],
        partition_columns: &[Field],
        kept: Option<Arc<TempDir>>,
        places: Arc<Semaphore>,
    ) -> Result<Self> {
        let sources = Arc::new(Sources::new(schema, files, partition_columns, kept)?);
        Ok(Self { sources, opened: Mutex::new(Weak::new()), places, head: OnceLock::new() })
    }

    /// Returns whether the files are copies that belong to this process.
    #[cfg(feature = "ballista")]
    pub(crate) fn are_copies(&self) -> bool {
        self.sources.are_copies()
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.sources.rows()
    }

    /// Returns the dataset's columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.sources.schema
    }

    /// Returns the number of each row's file, and that of the row in it, for a range of the dataset's rows.
    pub(crate) fn places(&self, rows: Range<u64>) -> (UInt32Array, Int64Array) {
        let (mut files, mut places) = (Vec::new(), Vec::new());
        let mut row = rows.start;
        while row < rows.end {
            let file = self.sources.file_of(row);
            let (start, end) = (self.sources.starts[file], self.sources.starts[file + 1].min(rows.end));
            files.extend((row..end).map(|_| file as u32));
            places.extend((row - start..end - start).map(|place| place as i64));
            row = end;
        }
        (files.into(), places.into())
    }

    /// Returns the first rows, which are read once; none of objects. Blocks.
    pub(crate) fn head(&self) -> Option<&RecordBatch> {
        // Of an object, the first pages are fetched with whole columns.
        if self.sources.is_remote() {
            return None;
        }
        self.head.get_or_init(|| self.open().ok().and_then(|opened| first_rows::read(&opened))).as_ref()
    }

    /// Opens the files, unless they are open already. Blocks.
    pub(crate) fn open(&self) -> Result<Arc<Opened>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = opened.upgrade() {
            return Ok(opened);
        }
        let wanted = self.sources.count().min(self.places.available_permits());
        let places =
            u32::try_from(wanted).ok().and_then(|wanted| Arc::clone(&self.places).try_acquire_many_owned(wanted).ok());
        let new = Arc::new(Opened::new(&self.sources, places)?);
        *opened = Arc::downgrade(&new);
        Ok(new)
    }
}
