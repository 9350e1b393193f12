//! What responses may hold of the memory and of the permits that all share.

/// Rows of a page for browsers; of further ones it says that they are there.
pub const PAGE_ROWS_MAX: usize = 100;
/// Bytes of the rows of such a page, about: where cells would make it longer, their text is cut.
pub const PAGE_BYTES_MAX: usize = 900 * 1024;
/// Text of a cell of such a page, in bytes; the rest is cut off.
pub const PAGE_CELL_BYTES_MAX: usize = 4_096;
/// Rows of a response that are encoded before the first byte is sent; a longer response is streamed.
pub const READY_ROWS_MAX: usize = 4_096;
/// Bytes of rows, as held in memory, that are encoded before the first byte is sent; more is streamed.
pub const READY_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of rows up to which a result of the engine is awaited in full; the rest of a larger one is streamed.
pub const AWAITED_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of rows, as held in memory, that are encoded at a time while a response is streamed.
pub const PIECE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Least memory for all complete responses that their clients have not read yet, together, in bytes; a quarter of
/// `memory_bytes_max` where that is more. Further ones are refused with 503.
pub const HELD_ANSWERS_BYTES_MIN: u64 = 256 * 1024 * 1024;
/// Size up to which such a response is not counted, in bytes.
pub const HELD_BYTES_FREE: usize = 64 * 1024;
/// The same for connections with many streams, each with a response.
pub const HELD_BYTES_FREE_OF_STREAM: usize = 16 * 1024;
/// Rows of this many bytes or more are not built while the process exceeds its memory limit; their request is refused
/// with 503.
pub const LARGE_ROW_BYTES: usize = 1024 * 1024;
/// Bytes that the readers of all streams hold ahead of their consumers, together, where no engine has said a quarter of
/// `memory_bytes_max`.
pub const AHEAD_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Longest time a client may read nothing of a response before the response is aborted, in milliseconds.
pub const STALL_MS_MAX: u64 = 60_000;
/// Largest finished body kept in the cache of final bytes, in bytes; a larger one is made anew for each request.
pub const CACHED_BODY_BYTES_MAX: usize = 1024 * 1024;
/// Ratio of permits that one holder may have to those that stay free: alone it gets three quarters of all, and each
/// further holder three quarters of what those before left.
pub const SHARE_OF_FREE: usize = 3;
/// Idle time after which a permit is revoked if another holder waits for it, in milliseconds: longer than a client that
/// reads at some hundred kilobytes per second takes for one chunk.
pub const YIELD_MS: u64 = 3_000;
/// The same if the permit's own holder waits, in milliseconds.
pub const YIELD_OWN_MS: u64 = 30_000;
/// The same while the process exceeds its memory limit, in milliseconds.
pub const YIELD_FOR_MEMORY_MS: u64 = 1_000;
/// Most responses in progress for each of `queries_max`: one whose client reads nothing keeps its rows, but no permit.
/// If others wait, the one that has been idle longest is aborted.
pub const ANSWERS_PER_QUERY_MAX: usize = 4;
/// Shortest response that is compressed, in bytes: compressing a shorter one would save less than a packet.
pub const COMPRESSED_BYTES_MIN: usize = 1_024;
/// Length of what `/openapi.json` says of single entries, in bytes; with more it describes paths with parameters only,
/// and says so.
pub const OPENAPI_ENTRIES_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Most rows of a workbook, as rows go out: a sheet of spreadsheet programs has one more, for the names of the columns.
/// More are refused.
pub const WORKBOOK_ROWS_MAX: u64 = 1_048_575;
/// Most columns of a workbook, as those of a sheet. More are refused.
pub const WORKBOOK_COLUMNS_MAX: usize = 16_384;
/// Longest text of a cell of a workbook, in characters of UTF-16. A longer one is refused, with its place.
pub const WORKBOOK_TEXT_UNITS_MAX: usize = 32_767;
/// Most bytes of the sheet of a workbook, as XML before it is compressed: with more it would take the large form of an
/// archive, which not every program reads. More are refused.
pub const WORKBOOK_BYTES_MAX: u64 = 4_000_000_000;
