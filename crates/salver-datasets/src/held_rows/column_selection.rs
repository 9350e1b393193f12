//! Selects the columns of a file to read, and maps them to the columns of the dataset.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use salver_model::limits::{PIECE_BYTES_MAX, WAITING_DECODER_BYTES_MAX};
use salver_model::{Error, Result};

use super::open_files::Sources;
use super::parquet_file::Footer;
use crate::hive_partitions::constant;
use crate::residency::{batch_of, conform};
use crate::source::parquet::unpacked_bytes;

/// Most rows of a batch.
const FULL_BATCH_ROWS: usize = 16_384;
/// Fewest rows of a batch, however wide they are.
const LEAST_BATCH_ROWS: usize = 4;
/// Rows with more bytes than this count as wide.
const WIDE_ROW_BYTES: u64 = 4 * 1024;
/// Bytes of a batch of wide rows.
const WIDE_BATCH_BYTES: u64 = 512 * 1024;
/// Usual size of a page as written, uncompressed, in bytes.
const PAGE_BYTES: u64 = 1024 * 1024;
/// Memory that a decompressor keeps between two pages, in bytes.
const DECOMPRESSION_BYTES: u64 = 128 * 1024;

/// Cost of decoding one value, in the unit of one uncompressed byte.
const VALUE_COST: u64 = 4;
/// Cost of decoding one text value, in the same unit.
const TEXT_COST: u64 = 16;

/// The columns to read of a dataset.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Their indexes in the dataset's schema.
    pub(super) columns: Vec<usize>,
    /// Their schema.
    pub(super) schema: SchemaRef,
    /// These columns and those that other lanes read. Together they make a batch, so all lanes must have the same batch
    /// size.
    pub(super) beside: Arc<[usize]>,
}

/// The columns of a file that are read for the wanted ones.
#[derive(Debug)]
pub(super) struct FileColumns {
    wanted: Arc<Wanted>,
    /// The top-level columns that are read, in the order of the file.
    roots: Vec<usize>,
    /// Number of rows of a batch.
    pub(super) batch_rows: usize,
    /// The schema of what is read, with unique names, if the file's own names are ambiguous.
    renamed: Option<SchemaRef>,
    /// The wanted columns that are stored in files, though this file may lack some.
    own: SchemaRef,
}

impl FileColumns {
    pub(super) fn new(sources: &Sources, footer: &Footer, wanted: &Arc<Wanted>) -> Self {
        let own = sources.fields(&wanted.columns);
        let roots = footer.roots(&own);
        let batch_rows = batch_rows(footer, &footer.roots(&sources.fields(&wanted.beside)));
        let file = footer.metadata.schema().fields();
        let is_renamed = roots.iter().any(|root| *file[*root].name() != footer.names[*root]);
        let renamed = is_renamed.then(|| {
            let field = |root: &usize| file[*root].as_ref().clone().with_name(footer.names[*root].as_str());
            Arc::new(Schema::new(roots.iter().map(field).collect::<Vec<Field>>()))
        });
        Self { wanted: Arc::clone(wanted), roots, batch_rows, renamed, own: Arc::new(Schema::new(own)) }
    }

    /// Returns whether only the number of rows is needed from the file.
    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Returns the projection for the file's reader.
    pub(super) fn mask(&self, footer: &Footer) -> ProjectionMask {
        ProjectionMask::roots(footer.metadata.parquet_schema(), self.roots.iter().copied())
    }

    /// Estimates the memory, in KiB, that a reader holds between two batches: for each column a page, its dictionary
    /// and the state of its decompressor.
    pub(super) fn waiting_kib(&self, footer: &Footer) -> u32 {
        let bytes = footer.metadata.metadata().row_groups().iter().map(|group| {
            let waiting = |column: &ColumnChunkMetaData| positive(column.uncompressed_size()).min(PAGE_BYTES);
            read_of(group, &self.roots).map(|column| waiting(column) + DECOMPRESSION_BYTES).sum::<u64>()
        });
        // A request for more than all permits would never be granted.
        let most = WAITING_DECODER_BYTES_MAX as u64 / 1024;
        u32::try_from((bytes.max().unwrap_or(0) / 1024).clamp(1, most)).unwrap_or(u32::MAX)
    }

    /// Returns the wanted columns of `rows` rows, for which no column was read.
    pub(super) fn unread(&self, sources: &Sources, file: usize, rows: usize) -> Result<RecordBatch> {
        let own = self.own.fields().iter().map(|field| arrow::array::new_null_array(field.data_type(), rows));
        self.completed(sources, file, own.collect(), rows)
    }

    /// Returns the wanted columns of a batch that was read. `label` is the file's name in messages, `first_row` the
    /// batch's first row in the file.
    pub(super) fn of(
        &self,
        sources: &Sources,
        file: usize,
        batch: RecordBatch,
        label: &str,
        first_row: u64,
    ) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let batch = match &self.renamed {
            None => batch,
            Some(schema) => {
                let options = RecordBatchOptions::new().with_row_count(Some(rows));
                RecordBatch::try_new_with_options(Arc::clone(schema), batch.columns().to_vec(), &options)
                    .map_err(|cause| Error::internal("columns can't be renamed").with_source(cause))?
            }
        };
        let own = conform(&batch, &self.own, label, first_row)?;
        self.completed(sources, file, own, rows)
    }

    /// Inserts the partition columns between the file's own.
    fn completed(&self, sources: &Sources, file: usize, own: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let mut own = own.into_iter();
        let columns = self.wanted.columns.iter().zip(self.wanted.schema.fields()).map(|(column, field)| match sources
            .partition(*column)
        {
            None => own.next().ok_or_else(|| Error::internal(format!("`{}` was not read", field.name()))),
            Some(partition) => match sources.value(file, partition) {
                Some(value) => constant(value, rows),
                None => Ok(new_null_array(field.data_type(), rows)),
            },
        });
        batch_of(&self.wanted.schema, columns.collect::<Result<_>>()?, rows)
    }
}

/// Returns the batch size for reading the columns `roots`: small enough for memory, large enough to amortize the work
/// per batch.
fn batch_rows(footer: &Footer, roots: &[usize]) -> usize {
    let row_bytes = footer
        .metadata
        .metadata()
        .row_groups()
        .iter()
        .map(|group| read_of(group, roots).map(unpacked_bytes).sum::<u64>() / positive(group.num_rows()).max(1));
    let row_bytes = row_bytes.max().unwrap_or(0).max(1);
    // Every reader that waits for its client holds some batches; small batches of wide rows cost little more to decode.
    let batch_bytes = if row_bytes > WIDE_ROW_BYTES { WIDE_BATCH_BYTES } else { PIECE_BYTES_MAX as u64 };
    let rows = usize::try_from(batch_bytes / row_bytes).unwrap_or(LEAST_BATCH_ROWS);
    rows.clamp(LEAST_BATCH_ROWS, FULL_BATCH_ROWS)
}

/// Returns the column chunks of a row group that belong to the columns `roots`.
fn read_of<'a>(group: &'a RowGroupMetaData, roots: &[usize]) -> impl Iterator<Item = &'a ColumnChunkMetaData> {
    let schema = group.schema_descr_ptr();
    let leaves = group.columns().iter().enumerate();
    leaves
        .filter(move |(leaf, _)| roots.binary_search(&schema.get_column_root_idx(*leaf)).is_ok())
        .map(|(_, column)| column)
}

/// Estimates the relative cost of reading a column of a file: its bytes are decompressed, and each of its values is
/// decoded, which costs more for text.
pub(super) fn cost(footer: &Footer, root: usize) -> u64 {
    let groups = footer.metadata.metadata().row_groups().iter();
    let chunks = groups.flat_map(|group| read_of(group, &[root]).collect::<Vec<_>>());
    let costs = chunks.map(|chunk| {
        let value = if chunk.column_type() == PhysicalType::BYTE_ARRAY { TEXT_COST } else { VALUE_COST };
        positive(chunk.uncompressed_size()).saturating_add(positive(chunk.num_values()).saturating_mul(value))
    });
    costs.fold(0, u64::saturating_add)
}

fn positive(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
