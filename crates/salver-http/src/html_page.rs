//! Bounds of pages of rows for browsers, which show a few rows quickly and many slowly. Other formats have none.

use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use salver_formats::Style;
use salver_model::Result;
use salver_model::limits::{PAGE_BYTES_MAX, PAGE_CELL_BYTES_MAX, PAGE_ROWS_MAX};
use salver_model::reply::BatchStream;

use crate::page_ways::PageWays;

/// Bytes of markup around a cell.
const MARKUP_BYTES: usize = 24;
/// Bytes of text that every cell may have, however many there are.
const CELL_BYTES: usize = 16;

/// Returns how many rows of so many columns a page may have.
fn rows_max(columns: usize) -> usize {
    (PAGE_BYTES_MAX / (columns.max(1) * (MARKUP_BYTES + CELL_BYTES))).clamp(1, PAGE_ROWS_MAX)
}

/// Returns the rows of a page with so many columns, and one more if there is one. The rest of the stream is not asked
/// for.
///
/// # Errors
/// Those of the stream.
pub(crate) async fn head(mut stream: BatchStream, columns: usize) -> Result<Vec<RecordBatch>> {
    let (mut head, mut rows) = (Vec::new(), 0);
    while rows <= rows_max(columns)
        && let Some(batch) = stream.next().await
    {
        let batch = batch?;
        rows += batch.num_rows();
        head.push(batch);
    }
    Ok(head)
}

/// Returns the rows that a page shows, and gives it the style that keeps it within its bounds and leads to the others.
pub(crate) fn fitted(
    batches: &[RecordBatch],
    (schema, ways): (&Schema, Option<&PageWays>),
    style: &mut Style,
) -> Vec<RecordBatch> {
    let columns = schema.fields().len();
    let most = rows_max(columns);
    let mut left = most;
    let mut shown = Vec::new();
    for batch in batches {
        let rows = batch.num_rows().min(left);
        shown.push(batch.slice(0, rows));
        left -= rows;
    }
    let is_cut = batches.iter().map(RecordBatch::num_rows).sum::<usize>() > most;
    style.navigation = ways.map(|ways| Box::new(ways.navigation(schema, (most - left, most), is_cut)));
    if is_cut {
        let others = if ways.is_some() { "" } else { " `limit` and `offset` show others;" };
        style.note = format!("At most {most} rows are shown.{others} CSV, JSON and Parquet have all.");
    }
    let cells = (most - left).max(1) * columns.max(1);
    let text = (PAGE_BYTES_MAX / cells).saturating_sub(MARKUP_BYTES);
    style.cell_bytes = Some(text.clamp(CELL_BYTES, PAGE_CELL_BYTES_MAX));
    shown
}
