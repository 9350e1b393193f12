//! Where a dataset's rows are held: in memory while the budget has room, else on local disk as Parquet.

mod budget;
mod collect;
mod conform;
mod gather;
mod load;
mod loss;
mod source_file;

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, SchemaRef};
use datafusion::common::ScalarValue;
use salver_model::Version;

pub use budget::{Budget, Reservation};
pub(crate) use conform::{batch_of, conform};
pub(crate) use load::load_telling;
pub use load::{load, probe};
pub use source_file::SourceFile;

pub use crate::source::parquet::WideColumn;

/// What was read.
#[derive(Clone, Debug)]
pub enum Content {
    /// All rows in memory: chunks of exactly [`CHUNK_ROWS`] rows (the last may be shorter), each column contiguous.
    /// No rows is no chunks.
    Resident {
        /// The columns; partition columns, if there are any, stand last.
        schema: SchemaRef,
        /// The rows.
        chunks: Vec<RecordBatch>,
    },
    /// Rows on local disk as Parquet: the dataset's own files, or a converted copy.
    Parquet {
        /// The columns: those of the files, then the partition columns.
        schema: SchemaRef,
        /// The files, in order.
        files: Vec<ParquetFile>,
        /// The partition columns; their values stand with each file and not in it.
        partition_columns: Vec<Field>,
        /// The directory of the converted copy, deleted with the last holder.
        kept: Option<Arc<tempfile::TempDir>>,
    },
}

/// One file of [`Content::Parquet`].
#[derive(Clone, Debug, PartialEq)]
pub struct ParquetFile {
    /// Where it is; absolute.
    pub path: PathBuf,
    /// How many rows, from its footer.
    pub rows: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its columns with wide values.
    pub wide: Vec<WideColumn>,
    /// The values of the partition columns, in their order.
    pub partition_values: Vec<ScalarValue>,
}

/// A dataset as read.
#[derive(Debug)]
pub struct Loaded {
    /// Its rows.
    pub content: Content,
    /// Its version: what `probe` gives for the same source and settings.
    pub version: Version,
    /// How many rows.
    pub rows: u64,
    /// Bytes in memory.
    pub memory_bytes: u64,
    /// Where it comes from and where it is held, for people.
    pub source: String,
    /// The file that says the same as the rows.
    pub file: Option<SourceFile>,
    /// Its part of the budget, held as long as the rows are.
    pub reservation: Option<Reservation>,
}
