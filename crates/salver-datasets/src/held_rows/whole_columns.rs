//! Reads whole columns on the caller's thread, from the first row to the last.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::Schema;
use salver_model::{Error, Result};
use tokio::sync::Semaphore;

use super::column_selection::Wanted;
use super::dataset_files::Files;
use super::decode::Decoder;

/// The rows of some columns, in batches.
#[derive(Debug)]
pub(crate) struct WholeColumns(Decoder);

impl WholeColumns {
    /// Opens `files` to read those of their columns. Blocks.
    ///
    /// # Errors
    /// When a file has changed, or can't be opened.
    pub(crate) fn of(files: &Files, columns: &[usize]) -> Result<Self> {
        let opened = files.open()?;
        let own = files.schema().project(columns);
        let schema: Schema = own.map_err(|cause| Error::internal("a dataset lacks a column").with_source(cause))?;
        let wanted = Wanted { columns: columns.to_vec(), schema: Arc::new(schema), beside: columns.into() };
        // Nobody waits between two batches, so that it needs no permit of those who do.
        let room = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
        Ok(Self(Decoder::new(opened, Arc::new(wanted), 0..files.rows(), room)))
    }
}

impl Iterator for WholeColumns {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        self.0.next().transpose()
    }
}
