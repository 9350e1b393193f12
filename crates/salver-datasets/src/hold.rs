//! Datasets held for exports: their rows in parts, each of which can be read again and from any row on.
//!
//! Resident rows are handed out as they lie in memory. Rows in Parquet files are read directly, without a plan: of each
//! column the page that is just needed, from files that were opened once for the version, and some columns beside
//! others. What replaces a file under its name does not change what is held; what is written over it is noticed. Plans
//! of the engine read the same open files (`scan`).

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
