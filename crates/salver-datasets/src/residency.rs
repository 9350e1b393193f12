//! Stores a dataset's rows: in memory while the budget has room, else on local disk as Parquet.

mod budget;
mod cast_loss;
mod chunks;
mod collect;
mod conform;
mod delta_plan;
mod file_listing;
mod load;
mod source_file;

use std::path::PathBuf;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{Field, SchemaRef};
use datafusion::common::ScalarValue;
use salver_model::Version;

pub use budget::{Budget, Reservation};
pub(crate) use chunks::Chunks;
pub(crate) use conform::{batch_of, conform};
pub(crate) use load::{LoadingPlaces, load_telling, probe_in};
pub use load::{load, probe};
pub use source_file::SourceFile;

use crate::buckets::CachedObject;
pub use crate::source::parquet::WideColumn;

/// The content of a dataset, as read.
#[derive(Clone, Debug)]
pub enum Content {
    /// All rows in memory: chunks of exactly [`CHUNK_ROWS`] rows (the last may be shorter), each column contiguous.
    /// Without rows there are no chunks.
    Resident {
        /// The columns.
        schema: SchemaRef,
        /// The rows.
        chunks: Vec<RecordBatch>,
    },
    /// Rows on local disk as Parquet: the dataset's own files, or a converted copy.
    Parquet {
        /// The columns: those of the files and the partition columns, in the order that the dataset has.
        schema: SchemaRef,
        /// The files, in order.
        files: Vec<ParquetFile>,
        /// The partition columns; their values are stored with each file's metadata, not in the file.
        partition_columns: Vec<Field>,
        /// The directory of the converted copy, deleted when the last reference is dropped.
        kept: Option<Arc<tempfile::TempDir>>,
    },
}

/// One file of [`Content::Parquet`].
#[derive(Clone, Debug, PartialEq)]
pub struct ParquetFile {
    /// Absolute path.
    pub path: PathBuf,
    /// Number of rows, from its footer.
    pub rows: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its columns with wide values.
    pub wide: Vec<WideColumn>,
    /// The values of the partition columns, in their order.
    pub partition_values: Vec<ScalarValue>,
    /// The object whose parts are at `path`, if it is one.
    pub remote: Remote,
}

/// The object of a file of which only parts are on disk; nothing for files of which everything is.
#[derive(Clone, Debug, Default)]
pub struct Remote(pub(crate) Option<Arc<CachedObject>>);

impl PartialEq for Remote {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

/// A dataset as read.
#[derive(Debug)]
pub struct Loaded {
    /// Its rows.
    pub content: Content,
    /// Its version: equal to the result of `probe` for the same source and settings.
    pub version: Version,
    /// Number of rows.
    pub rows: u64,
    /// Size in memory, in bytes.
    pub memory_bytes: u64,
    /// Description of the source and the storage, for people.
    pub source: String,
    /// The source file with the same content as the rows.
    pub file: Option<SourceFile>,
    /// Its reservation of the budget, kept as long as the rows are.
    pub reservation: Option<Reservation>,
}
