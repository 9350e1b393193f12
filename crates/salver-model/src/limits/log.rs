//! What the log may hold back for a slow reader.

/// Lines about requests (`access`, `slow`) that wait to be written, in bytes; more are dropped, and the log tells how
/// many.
pub const LOG_REQUESTS_BYTES_MAX: usize = 1024 * 1024;
/// Lines of every kind that wait to be written, in bytes; whoever logs more waits until the log is read.
pub const LOG_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Longest wait for the log to be read at the end of the program and at a panic, in milliseconds; what is left is lost.
pub const LOG_FLUSH_MS_MAX: u64 = 2_000;
