//! How rows in memory are cut.

/// Rows of every chunk of a resident dataset but the last.
pub const CHUNK_ROWS: usize = 65_536;
