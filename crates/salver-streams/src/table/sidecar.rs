//! The rows of a closed segment as a Parquet file beside it. The file is derived: if anything is wrong with it, the
//! rows are read from the segment, and the file is rewritten.
//!
//! The file's key-value metadata has the offsets it covers and a CRC-32 of each column chunk, because Parquet itself
//! verifies nothing. The CRC-32 of the metadata is stored before it, where Parquet readers do not look.

mod chunks;
mod conform;
mod footer;
mod prune;
mod read;
mod write;

pub(super) use footer::{Footer, Footers};
pub(super) use prune::offsets_of;
pub(super) use read::SidecarReader;
pub(super) use write::{NEW, write};

/// Metadata key of the offset of the first row.
const BASE: &str = "salver.base";
/// Metadata key of the offset behind the last row.
const END: &str = "salver.end";
/// Metadata key of the checksums of the column chunks: for each row group and leaf column, in hexadecimal, separated by
/// commas.
const SUMS: &str = "salver.crc32";

/// Length of the metadata's checksum.
const SUM_BYTES: usize = 4;

/// Rows of a row group.
pub(super) const GROUP_ROWS: usize = 128 * 1024;
