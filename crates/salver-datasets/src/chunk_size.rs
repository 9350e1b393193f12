//! The size of the chunks that resident rows are stored in.

/// Rows of every chunk of a resident dataset but the last.
pub const CHUNK_ROWS: usize = 65_536;
