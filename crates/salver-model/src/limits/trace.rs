//! What the traces of requests may take.

/// Longest text that other systems say of a trace (`tracestate`), in bytes; a longer one is not passed on.
pub const TRACE_STATE_BYTES_MAX: usize = 512;
/// Most spans that wait to be sent to the collector; more are dropped and counted.
pub const TRACE_SPANS_QUEUED_MAX: usize = 2_048;
/// Most spans that are sent to the collector at a time.
pub const TRACE_SPANS_SENT_MAX: usize = 512;
/// Longest request to the collector, in milliseconds; the spans of a longer one are lost and counted.
pub const TRACE_EXPORT_MS_MAX: u64 = 10_000;
/// Largest response of the collector, in bytes; of a larger one nothing is read.
pub const TRACE_ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// Longest wait at the end of the program for the spans that are still to be sent, in milliseconds; what is left is
/// lost.
pub const TRACE_FLUSH_MS_MAX: u64 = 2_000;
