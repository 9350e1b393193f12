//! Builds one batch from rows of cells, and keeps the key of the last row.

use std::sync::Arc;

use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use salver_model::{Error, Result, memory};

use crate::cell::{Cell, OwnedCell, RowSink};
use crate::table::batches::{ColumnBuilder, unfit};

/// A message from the reading task to the consumer of the rows.
pub(super) enum Message {
    Batch(RecordBatch),
    Failed(Error),
    /// The end of the rows: without this message they are incomplete.
    End,
}

/// Builds one batch of the first columns; of the columns after them it keeps the last row's values.
pub(super) struct HeldSink {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    rows: usize,
    bytes: usize,
    bytes_max: usize,
    rows_max: usize,
    /// Number of rows sent as pieces.
    sent: u64,
    key: Vec<OwnedCell>,
}

impl HeldSink {
    /// Creates a sink that is full at so many bytes or rows.
    pub(super) fn new(schema: &SchemaRef, bytes_max: usize, rows_max: usize) -> Self {
        let columns = schema.fields().iter().map(|field| ColumnBuilder::new(field.data_type())).collect();
        Self { schema: Arc::clone(schema), columns, rows: 0, bytes: 0, bytes_max, rows_max, sent: 0, key: Vec::new() }
    }

    /// Returns the size of the rows in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether rows may have been left out.
    pub(super) fn is_full(&self) -> bool {
        self.full()
    }

    /// Returns the number of rows taken.
    pub(super) fn rows(&self) -> u64 {
        self.sent + self.rows as u64
    }

    /// Returns the rows that were not sent, and the key of the last.
    pub(super) fn finish(mut self) -> Result<(RecordBatch, Vec<OwnedCell>)> {
        Ok((self.batch()?, self.key))
    }

    fn batch(&mut self) -> Result<RecordBatch> {
        let arrays: Vec<ArrayRef> = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options);
        self.sent += self.rows as u64;
        (self.rows, self.bytes) = (0, 0);
        batch.map_err(|error| Error::internal("rows of a database don't fit their schema").with_source(error))
    }
}

impl RowSink for HeldSink {
    type Piece = Message;

    fn row(&mut self, _: usize, cells: &[Cell<'_>]) -> Result<()> {
        let before = self.bytes;
        for (index, (column, cell)) in self.columns.iter_mut().zip(cells).enumerate() {
            if !column.push(*cell) {
                return Err(unfit(self.schema.field(index), *cell));
            }
            self.bytes += cell.varying_bytes().max(size_of::<u64>());
        }
        memory::room_for(self.bytes - before)?;
        let key = &cells[self.columns.len().min(cells.len())..];
        self.key.resize(key.len(), OwnedCell::Null);
        for (kept, cell) in self.key.iter_mut().zip(key) {
            keep(kept, *cell);
        }
        self.rows += 1;
        Ok(())
    }

    fn piece(&mut self) -> Option<Message> {
        Some(self.batch().map_or_else(Message::Failed, Message::Batch))
    }

    fn full(&self) -> bool {
        self.bytes >= self.bytes_max || self.rows >= self.rows_max
    }
}

/// Stores the value in the memory of the previous one.
fn keep(kept: &mut OwnedCell, cell: Cell<'_>) {
    match (kept, cell) {
        (OwnedCell::Text(kept), Cell::Text(text)) => text.clone_into(kept),
        (OwnedCell::Bytes(kept), Cell::Bytes(bytes)) => bytes.clone_into(kept),
        (kept, cell) => *kept = cell.owned(),
    }
}
