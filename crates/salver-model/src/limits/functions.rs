//! What user code may take and answer, and the jobs that run it.

/// Largest response of user code, or chunk of one, in bytes; a call with a larger one fails.
pub const FUNCTION_ANSWER_BYTES_MAX: usize = 1024 * 1024 * 1024;
/// Most calls of a vectorized function that are combined into one.
pub const FUNCTION_GATHERED_ROWS_MAX: usize = 256;
/// Bytes of arguments at which no more calls are combined.
pub const FUNCTION_GATHERED_BYTES_MAX: usize = 1024 * 1024;
/// Largest interface description of a file of functions, in bytes; a file with a larger one is not loaded.
pub const FUNCTION_OFFER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Longest time from the order to fork a worker to its hello, in milliseconds; then the worker counts as missing, and
/// another is ordered.
pub const FUNCTION_FORK_MS_MAX: u64 = 10_000;
/// Idle time after which a worker beyond the minimum is stopped, in milliseconds.
pub const FUNCTION_IDLE_MS_MAX: u64 = 60_000;
/// Time a call may continue after its caller disconnected, before its process is killed, in milliseconds: about the
/// cost of starting another process.
pub const FUNCTION_LINGER_MS_MAX: u64 = 20;
/// Longest delay before a file that could not be loaded, or whose processes end, is retried, in milliseconds.
pub const FUNCTION_RETRY_MS_MAX: u64 = 30_000;
/// Longest line of user code's output in the log, in bytes; longer ones are split.
pub const FUNCTION_LINE_BYTES_MAX: usize = 8 * 1024;
/// Most lines of user code's output that one file may log per second; more are only counted.
pub const FUNCTION_LINES_PER_SECOND_MAX: u32 = 1_000;
/// Longest time a request may wait for a job, in seconds; a longer `wait` is shortened to it, and the response is 202
/// if the job is not done by then.
pub const JOB_WAIT_S_MAX: u64 = 60;
/// Number of attempts of a callback; then a warning is logged.
pub const CALLBACK_TRIES_MAX: u32 = 6;
/// Delay before the first retry of a callback, in milliseconds; it doubles with each further retry.
pub const CALLBACK_RETRY_MS: u64 = 1_000;
/// Timeout of one attempt of a callback, in milliseconds.
pub const CALLBACK_MS_MAX: u64 = 10_000;
/// Most concurrent callbacks; more wait.
pub const CALLBACKS_MAX: usize = 16;
/// Longest address of a callback, in bytes; a request with a longer one is refused.
pub const CALLBACK_BYTES_MAX: usize = 2 * 1024;
/// Most values without bytes, such as nulls, in a stream of Arrow that a client sends to a function; a stream with more
/// is refused with `invalid_body`.
pub const RECEIVED_BARE_VALUES_MAX: u64 = 1_000_000;
/// Most values per byte of such a stream, beyond [`RECEIVED_BARE_VALUES_MAX`]: a boolean takes a bit, and may be nested
/// in several structures. A stream with more is refused with `invalid_body`.
pub const RECEIVED_VALUES_PER_BYTE_MAX: u64 = 64;
/// Most bytes that the values of such a stream have when each is written out, as a multiple of the bytes that the
/// stream may have; it is refused with `body_too_large` beyond them.
pub const RECEIVED_SPREAD_MAX: u64 = 32;
/// Number of attempts of a call whose worker ended before the call reached it; then the call fails.
pub const FUNCTION_TRIES_MAX: usize = 3;
/// Deepest nesting of lists that R code answers as JSON; a call that answers deeper ones fails.
pub const FUNCTION_DEPTH_MAX: u32 = 256;
/// Further files that a file of functions is loaded from whose changes are noticed; those of more are not.
pub const FUNCTION_FILES_MAX: usize = 500;
