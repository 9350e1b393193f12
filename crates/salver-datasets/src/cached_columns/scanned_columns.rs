//! The columns of a scan, in chunks.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::SchemaRef;
use datafusion::common::{Result, internal_err};

use crate::chunk_size::CHUNK_ROWS;
use crate::column_cache::CachedColumn;
use crate::held_rows::Files;

/// What a column of a scan is made of.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// A column in memory.
    Column(Arc<CachedColumn>),
    /// The number of each row's file.
    File,
    /// The number of each row in its file.
    Row,
}

/// Columns that are scanned together.
#[derive(Clone, Debug)]
pub(crate) struct ScannedColumns {
    pub(crate) schema: SchemaRef,
    /// One for each column of the schema. Texts become views where the schema has them.
    pub(crate) pieces: Arc<[Piece]>,
    /// The files whose rows these are.
    pub(crate) files: Arc<Files>,
}

impl ScannedColumns {
    /// Returns the column in memory of this name, if it is one.
    pub(super) fn in_memory(&self, name: &str) -> Option<&CachedColumn> {
        match self.pieces.get(self.schema.index_of(name).ok()?)? {
            Piece::Column(column) => Some(column),
            Piece::File | Piece::Row => None,
        }
    }

    /// Returns the number of chunks.
    pub(super) fn chunks(&self) -> usize {
        usize::try_from(self.files.rows()).unwrap_or(usize::MAX).div_ceil(CHUNK_ROWS)
    }

    /// Returns the number of rows of a chunk.
    pub(super) fn chunk_rows(&self, chunk: usize) -> usize {
        let rows = usize::try_from(self.files.rows()).unwrap_or(usize::MAX);
        rows.saturating_sub(chunk * CHUNK_ROWS).min(CHUNK_ROWS)
    }

    /// Returns some rows of a chunk.
    pub(super) fn batch(&self, chunk: usize, rows: Range<usize>) -> Result<RecordBatch> {
        let start = (chunk * CHUNK_ROWS) as u64;
        let (first, end) = (start + rows.start as u64, start + rows.end as u64);
        let columns = self.pieces.iter().zip(self.schema.fields()).map(|(piece, field)| {
            let values: ArrayRef = match piece {
                Piece::Column(column) => match column.chunks().get(chunk) {
                    Some(values) => values.slice(rows.start, rows.len()),
                    None => return internal_err!("`{}` has fewer rows in memory than its files", field.name()),
                },
                Piece::File => Arc::new(self.files.places(first..end).0),
                Piece::Row => Arc::new(self.files.places(first..end).1),
            };
            match values.data_type() == field.data_type() {
                true => Ok(values),
                false => Ok(cast(&values, field.data_type())?),
            }
        });
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns.collect::<Result<_>>()?)?)
    }
}
