//! Reads single rows of a dataset's files by their positions: of each column only the pages that have one of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow::array::{RecordBatch, UInt64Array};
use arrow::compute::{concat_batches, take_record_batch};
use arrow::datatypes::SchemaRef;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReaderBuilder, RowSelection, RowSelectionPolicy, RowSelector};
use salver_model::{Error, Result};

use super::column_selection::{FileColumns, Wanted};
use super::open_files::Opened;
use super::parquet_file::Pages;

/// The position of a row: the number of its file, and its own number in that.
pub(crate) type Position = (usize, u64);

/// The columns that single rows are read of.
#[derive(Debug)]
pub(crate) struct PickedColumns {
    opened: Arc<Opened>,
    wanted: Arc<Wanted>,
}

impl PickedColumns {
    /// Prepares to read the columns of `opened` that have these indexes in the dataset's schema.
    ///
    /// # Errors
    /// When there is no such column.
    pub(crate) fn new(opened: Arc<Opened>, columns: Vec<usize>) -> Result<Self> {
        let odd = |cause| Error::internal("a plan reads a column that its dataset does not have").with_source(cause);
        let schema = Arc::new(opened.sources.schema.project(&columns).map_err(odd)?);
        let beside = columns.as_slice().into();
        Ok(Self { opened, wanted: Arc::new(Wanted { columns, schema, beside }) })
    }

    /// Returns the schema of the columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.wanted.schema
    }

    /// Reads the rows at `positions`, in that order, until `is_cancelled`. Blocks.
    ///
    /// # Errors
    /// When a file is damaged, or was overwritten, or when nothing waits for the rows any more.
    pub(crate) fn read(&self, positions: &[Position], is_cancelled: &dyn Fn() -> bool) -> Result<RecordBatch> {
        let mut sorted = positions.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let files = sorted.chunk_by(|one, other| one.0 == other.0);
        let batches = files.map(|rows| self.of_file(rows, is_cancelled)).collect::<Result<Vec<_>>>()?;
        let found = concat_batches(self.schema(), batches.iter().flatten()).map_err(mixed_up)?;
        if found.num_rows() != sorted.len() {
            return Err(Error::internal(format!("{} rows of {} were found again", found.num_rows(), sorted.len())));
        }
        let places = positions.iter().map(|position| sorted.partition_point(|own| own < position) as u64);
        take_record_batch(&found, &UInt64Array::from_iter_values(places)).map_err(mixed_up)
    }

    /// Reads rows of one file, in ascending order.
    fn of_file(&self, rows: &[Position], is_cancelled: &dyn Fn() -> bool) -> Result<Vec<RecordBatch>> {
        let Some((number, _)) = rows.first() else { return Ok(Vec::new()) };
        let file = self.opened.numbered(*number)?;
        // The library trusts lengths and offsets of damaged files, and panics on some of them.
        catch_unwind(AssertUnwindSafe(|| {
            let sources = &self.opened.sources;
            let footer = file.footer()?;
            let columns = FileColumns::new(sources, &footer, &self.wanted);
            if columns.is_empty() {
                return Ok(vec![columns.unread(sources, *number, rows.len())?]);
            }
            let groups = footer.starts.windows(2).enumerate().filter(|(_, of)| {
                let first = rows.partition_point(|(_, row)| *row < of[0]);
                rows.get(first).is_some_and(|(_, row)| *row < of[1])
            });
            let (groups, bounds): (Vec<usize>, Vec<&[u64]>) = groups.unzip();
            let reader =
                ParquetRecordBatchReaderBuilder::new_with_metadata(Pages(Arc::clone(&file)), file.indexed(&footer))
                    .with_row_groups(groups)
                    .with_projection(columns.mask(&footer))
                    .with_batch_size(columns.batch_rows)
                    .with_row_selection_policy(RowSelectionPolicy::Selectors)
                    .with_row_selection(selection(rows, &bounds))
                    .build()
                    .map_err(|cause| file.failed(cause))?;
            let batches = reader.map(|batch| {
                if is_cancelled() {
                    return Err(Error::internal("the query was stopped before its end"));
                }
                let batch = batch.map_err(|cause| file.failed(cause))?;
                columns.of(sources, *number, batch, &file.name, 0)
            });
            let batches = batches.collect::<Result<Vec<_>>>()?;
            // Checked after reading: data read before and after an overwrite can't be told apart.
            file.check()?;
            Ok(batches)
        }))
        .unwrap_or_else(|_| Err(file.failed("panic")))
    }
}

/// Returns the selection of `rows` from row groups, of which `bounds` has the first row and the one behind the last.
fn selection(rows: &[Position], bounds: &[&[u64]]) -> RowSelection {
    let mut selectors = Vec::with_capacity(2 * rows.len() + bounds.len());
    let size = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
    for bounds in bounds {
        let (mut at, end) = (bounds[0], bounds[1]);
        let place = |row: u64| rows.partition_point(|(_, own)| *own < row);
        for (_, row) in &rows[place(at)..place(end)] {
            selectors.push(RowSelector::skip(size(row - at)));
            selectors.push(RowSelector::select(1));
            at = row + 1;
        }
        selectors.push(RowSelector::skip(size(end - at)));
    }
    selectors.into()
}

fn mixed_up(cause: arrow::error::ArrowError) -> Error {
    Error::internal("rows that were found again are not what they were").with_source(cause)
}
