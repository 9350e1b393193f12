//! Snapshots of datasets for exports: their rows in partitions, each of which can be read repeatedly and from any row
//! on.
//!
//! Resident rows are returned as slices of memory. Rows in Parquet files are read directly, without a plan: of each
//! column only the current page is in memory, the files are opened once per version, and groups of columns are decoded
//! in parallel. A file that is replaced under its name does not change the snapshot; one that is overwritten is
//! detected. Plans of the engine read the same open files (`scan`).

mod ahead;
mod columns;
mod decode;
mod file;
mod files;
mod head;
mod held;
mod lanes;
mod opened;
mod parquet;
mod resident;
mod scan;
mod shared;

pub(crate) use files::Files;
pub(crate) use held::HeldDataset;
pub(crate) use parquet::ParquetRows;
pub(crate) use resident::ResidentRows;
pub(crate) use scan::{Number, OpenedReaders};
