//! Which columns of a file are read, and how they become those that are wanted.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow::datatypes::{Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use salver_model::limits::{PIECE_BYTES_MAX, WAITING_DECODER_BYTES_MAX};
use salver_model::{Error, Result};

use super::file::Footer;
use super::opened::Sources;
use crate::partitions::constant;
use crate::residency::{batch_of, conform};
use crate::source::parquet::unpacked_bytes;

/// Most rows of a batch.
const BATCH_ROWS_MAX: usize = 16_384;
/// Fewest, however wide they are.
const BATCH_ROWS_MIN: usize = 4;
/// Rows with more bytes are wide.
const WIDE_ROW_BYTES: u64 = 4 * 1024;
/// Bytes of a batch of wide rows.
const WIDE_BATCH_BYTES: u64 = 512 * 1024;
/// What writers make a page of, unpacked, in bytes.
const PAGE_BYTES: u64 = 1024 * 1024;
/// What decompression holds between two pages, in bytes.
const DECOMPRESSION_BYTES: u64 = 128 * 1024;

/// What it costs to put a value to its place, as so many unpacked bytes.
const VALUE_COST: u64 = 4;
/// The same of a text.
const TEXT_COST: u64 = 16;

/// The columns that are wanted of a dataset.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Their indexes in the dataset's schema.
    pub(super) columns: Vec<usize>,
    /// Them.
    pub(super) schema: SchemaRef,
    /// These and what others read beside them: together they are a batch, so all must cut it after the same row.
    pub(super) beside: Arc<[usize]>,
}

/// The columns of a file that hold those.
#[derive(Debug)]
pub(super) struct FileColumns {
    wanted: Arc<Wanted>,
    /// The top-level columns that are read, in the order of the file.
    roots: Vec<usize>,
    /// How many rows make a batch.
    pub(super) batch_rows: usize,
    /// What is read, where the file's own names would not tell columns apart.
    renamed: Option<SchemaRef>,
    /// The wanted columns that are in files, though this one may lack some.
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

    /// Whether nothing of the file is needed but the number of its rows.
    pub(super) fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// What the reader of the file is asked for.
    pub(super) fn mask(&self, footer: &Footer) -> ProjectionMask {
        ProjectionMask::roots(footer.metadata.parquet_schema(), self.roots.iter().copied())
    }

    /// What a reader takes between two batches, in KiB, about: of each column a page, what its values are looked up in,
    /// and the state of its decompression.
    pub(super) fn waiting_kib(&self, footer: &Footer) -> u32 {
        let bytes = footer.metadata.metadata().row_groups().iter().map(|group| {
            let waiting = |column: &ColumnChunkMetaData| positive(column.uncompressed_size()).min(PAGE_BYTES);
            read_of(group, &self.roots).map(|column| waiting(column) + DECOMPRESSION_BYTES).sum::<u64>()
        });
        // More than there is room for would never get a place.
        let most = WAITING_DECODER_BYTES_MAX as u64 / 1024;
        u32::try_from((bytes.max().unwrap_or(0) / 1024).clamp(1, most)).unwrap_or(u32::MAX)
    }

    /// The wanted columns of `rows` rows of which nothing was read.
    pub(super) fn unread(&self, sources: &Sources, file: usize, rows: usize) -> Result<RecordBatch> {
        let own = self.own.fields().iter().map(|field| arrow::array::new_null_array(field.data_type(), rows));
        self.completed(sources, file, own.collect(), rows)
    }

    /// The wanted columns of a batch that was read. `label` is the file in messages, `first_row` the batch's first row
    /// in it.
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

    /// Puts the partition columns between the file's own.
    fn completed(&self, sources: &Sources, file: usize, own: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
        let mut own = own.into_iter();
        let columns = self.wanted.columns.iter().zip(self.wanted.schema.fields()).map(|(column, field)| {
            match column.checked_sub(sources.own) {
                None => own.next().ok_or_else(|| Error::internal(format!("`{}` was not read", field.name()))),
                Some(partition) => match sources.value(file, partition) {
                    Some(value) => constant(value, rows),
                    None => Ok(new_null_array(field.data_type(), rows)),
                },
            }
        });
        batch_of(&self.wanted.schema, columns.collect::<Result<_>>()?, rows)
    }
}

/// How many rows make a batch that is neither too large for memory nor too small to be worth the turn, when the columns
/// `roots` are read.
fn batch_rows(footer: &Footer, roots: &[usize]) -> usize {
    let row_bytes = footer
        .metadata
        .metadata()
        .row_groups()
        .iter()
        .map(|group| read_of(group, roots).map(unpacked_bytes).sum::<u64>() / positive(group.num_rows()).max(1));
    let row_bytes = row_bytes.max().unwrap_or(0).max(1);
    // Every reader that waits for its client holds some batches; small ones of wide rows cost little more to make.
    let batch_bytes = if row_bytes > WIDE_ROW_BYTES { WIDE_BATCH_BYTES } else { PIECE_BYTES_MAX as u64 };
    let rows = usize::try_from(batch_bytes / row_bytes).unwrap_or(BATCH_ROWS_MIN);
    rows.clamp(BATCH_ROWS_MIN, BATCH_ROWS_MAX)
}

/// The column chunks of a row group that belong to the columns `roots`.
fn read_of<'a>(group: &'a RowGroupMetaData, roots: &[usize]) -> impl Iterator<Item = &'a ColumnChunkMetaData> {
    let schema = group.schema_descr_ptr();
    let leaves = group.columns().iter().enumerate();
    leaves
        .filter(move |(leaf, _)| roots.binary_search(&schema.get_column_root_idx(*leaf)).is_ok())
        .map(|(_, column)| column)
}

/// What it costs to read a column of a file, as against others: its bytes are unpacked, and each of its values is put
/// to its place, texts with more trouble.
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
