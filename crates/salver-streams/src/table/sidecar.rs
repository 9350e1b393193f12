//! The rows of a closed segment as Parquet beside it. Derived: whatever is wrong with one, the segment has the rows
//! too, and the file is written again.
//!
//! The file's own metadata has the offsets it covers, and a CRC-32 of each column chunk, because Parquet checks nothing
//! by itself. The CRC-32 of the metadata stands before it, where Parquet looks for nothing.

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

/// Key of the file's metadata for the offset of its first row.
const BASE: &str = "salver.base";
/// The same for the offset behind its last row.
const END: &str = "salver.end";
/// The same for the sums of its column chunks: of each row group, each leaf column, in hexadecimal with commas between.
const SUMS: &str = "salver.crc32";

/// Length of the sum of the metadata.
const SUM_BYTES: usize = 4;

/// Rows of a row group.
pub(super) const GROUP_ROWS: usize = 128 * 1024;
