//! The first rows of a dataset in files, cached in memory: a client that starts to read, or wants a preview, gets them
//! at once, however large the first pages of the file are.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use salver_model::{Error, Result};
use tokio::sync::Semaphore;

use super::columns::Wanted;
use super::decode::Decoder;
use super::opened::Opened;

/// Most rows that are cached.
const HEAD_ROWS: u64 = 1_024;
/// Largest size of these rows in bytes; if they are larger, none are cached.
const HEAD_BYTES: usize = 1024 * 1024;

/// Reads the first rows of the first file, with all columns of the dataset; `None` if they are too large or can't be
/// read. The error is reported when the file itself is read. Blocks.
pub(super) fn read(opened: &Arc<Opened>) -> Option<RecordBatch> {
    let schema = Arc::clone(&opened.sources.schema);
    let rows = opened.sources.starts.get(1).copied().unwrap_or(0).min(HEAD_ROWS);
    let columns: Vec<usize> = (0..schema.fields().len()).collect();
    let wanted = Wanted { beside: columns.as_slice().into(), columns, schema: Arc::clone(&schema) };
    let mut decoder = Decoder::new(Arc::clone(opened), Arc::new(wanted), 0..rows, Arc::new(Semaphore::new(0)));
    let mut batches = Vec::new();
    while let Some(batch) = decoder.next().ok()? {
        batches.push(batch);
    }
    // Copied, because a slice would keep the whole batch alive.
    let head = concat_batches(&schema, &batches).ok()?;
    (head.num_rows() > 0 && head.get_array_memory_size() <= HEAD_BYTES).then_some(head)
}

/// Returns the rows of `head` from `start` to `end` (exclusive), with `columns`, which `schema` describes.
pub(super) fn cut(
    head: &RecordBatch,
    (start, end): (usize, usize),
    columns: &[usize],
    schema: SchemaRef,
) -> Result<RecordBatch> {
    let head = head.slice(start, end - start);
    let columns = columns.iter().filter_map(|index| head.columns().get(*index).cloned()).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(head.num_rows()));
    RecordBatch::try_new_with_options(schema, columns, &options)
        .map_err(|error| Error::internal("the first rows of a dataset are not what they were").with_source(error))
}
