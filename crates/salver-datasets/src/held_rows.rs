//! Snapshots of datasets for exports: their rows in partitions, each of which can be read repeatedly and from any row
//! on.
//!
//! Resident rows are returned as slices of memory. Rows in Parquet files are read directly, without a plan: of each
//! column only the current page is in memory, the files are opened once per version, and groups of columns are decoded
//! in parallel. A file that is replaced under its name does not change the snapshot; one that is overwritten is
//! detected. Plans of the engine read the same open files (`plan_files`).

mod column_selection;
mod dataset_files;
mod decode;
mod first_rows;
mod open_files;
mod parallel_columns;
mod parquet;
mod parquet_file;
mod picked_rows;
mod plain_footer;
mod plan_files;
mod prefetch;
mod resident;
mod shared_chunks;
mod snapshot;
mod whole_columns;

pub(crate) use dataset_files::Files;
pub(crate) use open_files::{Opened, RowGroup};
pub(crate) use parquet::ParquetRows;
pub(crate) use picked_rows::{PickedColumns, Position};
pub(crate) use plan_files::{Number, OpenedReaders};
pub(crate) use resident::ResidentRows;
pub(crate) use snapshot::HeldDataset;
pub(crate) use whole_columns::WholeColumns;
