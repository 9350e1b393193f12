//! A snapshot of resident rows: nothing is copied, readers share the chunks in memory.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use futures::stream;
use salver_model::reply::BatchStream;
use salver_model::{Error, Result};

use super::snapshot::Store;
use crate::direct::Resident;
use crate::residency::Reservation;

/// The rows of a resident dataset.
#[derive(Debug)]
pub(crate) struct ResidentRows {
    resident: Arc<Resident>,
    /// The memory stays reserved while the rows are held, even after the dataset was reloaded.
    _reservation: Option<Arc<Reservation>>,
}

impl ResidentRows {
    /// Returns the rows of `resident`, whose memory `reservation` accounts for.
    pub(crate) fn new(resident: Arc<Resident>, reservation: Option<Arc<Reservation>>) -> Self {
        Self { resident, _reservation: reservation }
    }
}

impl Store for ResidentRows {
    fn rows(&self) -> u64 {
        self.resident.rows
    }

    fn read(&self, rows: Range<u64>, columns: &[usize], schema: SchemaRef) -> BatchStream {
        let (resident, columns) = (Arc::clone(&self.resident), columns.to_vec());
        let mut next = rows.start;
        Box::pin(stream::iter(std::iter::from_fn(move || {
            if next >= rows.end {
                return None;
            }
            let (chunk, row) = Resident::locate(next);
            let found = resident.chunks.get(chunk as usize).filter(|chunk| (row as usize) < chunk.num_rows());
            let Some(chunk) = found else {
                next = rows.end;
                return Some(Err(Error::internal("resident rows are fewer than they are said to be")));
            };
            let left = usize::try_from(rows.end - next).unwrap_or(usize::MAX);
            let count = (chunk.num_rows() - row as usize).min(left);
            next += count as u64;
            Some(sliced(chunk, row as usize, count, &columns, &schema))
        })))
    }
}

fn sliced(chunk: &RecordBatch, row: usize, count: usize, columns: &[usize], schema: &SchemaRef) -> Result<RecordBatch> {
    let chosen = columns.iter().filter_map(|column| chunk.columns().get(*column)).map(|own| own.slice(row, count));
    let options = RecordBatchOptions::new().with_row_count(Some(count));
    RecordBatch::try_new_with_options(Arc::clone(schema), chosen.collect(), &options)
        .map_err(|cause| Error::internal("the columns of resident rows don't fit together").with_source(cause))
}
