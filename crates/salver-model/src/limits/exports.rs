//! What cursors and exports may hold, and for how long.

/// Most open cursors, and most open exports; an idle one costs little. Further ones are refused with `overloaded`.
pub const LEASES_MAX: usize = 50_000;
/// Most files of datasets kept open for exports; further ones are opened for each read.
pub const HELD_FILES_MAX: usize = 512;
/// Memory for suspended decoders of datasets' files, in bytes; without one, a read restarts at its page.
pub const WAITING_DECODER_BYTES_MAX: usize = 48 * 1024 * 1024;
/// Number of expired ids of cursors and exports that are remembered, to distinguish them from unknown ones; a client
/// with an older one is told that it is unknown.
pub const EXPIRED_LEASES_MAX: usize = 100_000;
/// Time a cursor or an export keeps its decoder for an idle client, in milliseconds.
pub const PARK_MS: u64 = 1_000;
/// Most streams of one export; a request for more is refused.
pub const EXPORT_STREAMS_MAX: u64 = 64;
/// Approximate number of bytes of rows returned by one read of an export's stream; the rest follows with the next read.
pub const EXPORT_READ_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Default time to live of an idle export, in seconds.
pub const EXPORT_TTL_S: u64 = 300;
/// Longest time to live of an export, in seconds; a request for a longer one is refused.
pub const EXPORT_TTL_S_MAX: u64 = 24 * 60 * 60;
/// Longest time to live of an idle cursor, in seconds; a longer one is shortened to it.
pub const CURSOR_TTL_S_MAX: f64 = 86_400.0;
/// Most open cursors whose query is still running, or whose rows are buffered in memory; further ones are refused with
/// 503.
pub const LIVE_CURSORS_MAX: usize = 128;
/// Most decoders that cursors and streams of exports keep between two requests; others are created again at their
/// position.
pub const IDLE_DECODERS_MAX: usize = 32;
/// Bytes of prefetched batches, for all cursors together; beyond them cursors read when they are asked.
pub const PREPARED_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Size at which a batch of a cursor ends before it has all requested rows, in bytes.
pub const BATCH_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of rows, as held in memory, that a cursor buffers because their count was requested; a query with more is
/// refused.
pub const RESULT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Longest token of an export, in bytes, enough for every column of a list and the longest name; a longer one is
/// unknown.
pub const EXPORT_TOKEN_BYTES_MAX: usize = 16 * 1024;
/// Largest batch of several rows that `salver export` takes, in bytes: a server limits them to [`BATCH_BYTES_MAX`] in
/// memory, and encoding makes up to seven times as much of it. The command fails beyond it.
pub const FETCHED_ROWS_BYTES_MAX: u64 = 16 * BATCH_BYTES_MAX as u64;
/// Largest batch of one row that it takes, in bytes; anything larger is not a response of a Salver server.
pub const FETCHED_ROW_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
