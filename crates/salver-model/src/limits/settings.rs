//! What settings may be, and the limits that are settings themselves.

/// Longest name of an entry, in bytes; a longer one is a mistake in the configuration, and that of a found file is cut
/// off.
pub const NAME_BYTES_MAX: usize = 128;
/// Shortest secret of `jwt_secrets`, in bytes: shorter ones are not safe from brute force (RFC 7518, section 3.2), and
/// a mistake in the configuration.
pub const JWT_SECRET_BYTES_MIN: usize = 32;
/// Shortest key of `api_keys`, in bytes: shorter ones can't be random, and are a mistake in the configuration.
pub const API_KEY_BYTES_MIN: usize = 16;
/// Longest name of a topic of Kafka, in characters, as in Kafka; a longer one is a mistake in the configuration.
pub const TOPIC_CHARS_MAX: usize = 249;
/// Smallest segment of a stream's log, and smallest log as a whole, in bytes; less is a mistake in the configuration.
pub const LOG_BYTES_MIN: u64 = 4096;
/// Deepest nesting of a type that a setting declares; a deeper one is a mistake in the configuration.
pub const TYPE_DEPTH_MAX: usize = 16;
/// Shortest interval of checks of a source or of a database's schema (`refresh`), in milliseconds; a shorter one is a
/// mistake in the configuration.
pub const REFRESH_MS_MIN: u64 = 100;
/// Longest attribute of a caller that stands in the URL of a database of callers, in bytes; a caller with a longer one
/// has no such database.
pub const OWN_VALUE_BYTES_MAX: usize = 63;
/// Largest file that holds the value of a setting (`${file:PATH}`, `SALVER_..._FILE`), in bytes; a larger one is a
/// mistake in the configuration.
pub const SETTING_FILE_BYTES_MAX: u64 = 64 * 1024;
/// Longest mask of a column (`columns_masked`), in bytes; a longer one is a mistake in the configuration.
pub const MASK_BYTES_MAX: usize = 1024;
/// Most characters that `left` and `right` of a mask keep; more are a mistake in the configuration.
pub const MASK_CHARS_MAX: u32 = 10_000;
/// Shortest secret of the configuration that is masked in messages, in bytes; shorter ones occur by chance in other
/// text, and stay.
pub const MASKED_SECRET_BYTES_MIN: usize = 6;
/// Shortest text from outside that is masked wherever it occurs though its setting is not one for secrets, in bytes; it
/// must have characters of several kinds, too.
pub const UNNAMED_SECRET_BYTES_MIN: usize = 8;

/// Configurable limits; `[limits]` in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Timeout of one query, in milliseconds. The time a slow client takes to receive the response does not count.
    pub query_ms_max: u64,
    /// Maximum number of rows of one response; 0 for no limit.
    pub rows_max: u64,
    /// Largest request body, in bytes.
    pub body_bytes_max: u64,
    /// Maximum number of concurrent queries; more wait for a short time and then get 503.
    pub queries_max: usize,
    /// Longest wait for a permit of `queries_max`, in milliseconds.
    pub queue_ms_max: u64,
    /// Memory for resident datasets and running queries together, in bytes; 0 uses half of the machine's memory.
    pub memory_bytes_max: u64,
    /// Memory for cached response bodies, in bytes.
    pub cache_bytes_max: u64,
    /// Maximum number of open connections, as far as the system has file descriptors for them. When all are in use, one
    /// that waits for its client is closed for the next; if there is none, the next gets 503.
    pub connections_max: usize,
    /// Maximum number of open connections from one address; 0 for a share of `connections_max` only. When all of an
    /// address are in use, one of them that waits for its client is closed for the next; if there is none, the next
    /// gets 503.
    pub connections_per_address_max: usize,
    /// Longest time for a client to send the head of a request, and then its body, in milliseconds; also the keep-alive
    /// timeout between requests.
    pub head_ms_max: u64,
    /// Longest time for open requests to finish after SIGTERM, in milliseconds.
    pub drain_ms_max: u64,
    /// Maximum number of jobs that wait, run, or are kept with their results.
    pub jobs_max: usize,
    /// Memory for the requests and results of jobs, in bytes.
    pub job_bytes_max: u64,
    /// Time a finished job is kept, in milliseconds.
    pub job_ttl_ms: u64,
    /// Disk space for spilling of all running queries together, in bytes; 0 uses half of the free space at the start.
    pub spill_bytes_max: u64,
    /// Disk space for the parts of remote objects that are kept, in bytes; 0 uses a quarter of the free space at the
    /// start.
    pub object_cache_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            query_ms_max: 60_000,
            rows_max: 0,
            body_bytes_max: 2 * 1024 * 1024,
            queries_max: 64,
            queue_ms_max: 5_000,
            memory_bytes_max: 0,
            cache_bytes_max: 128 * 1024 * 1024,
            connections_max: 10_000,
            connections_per_address_max: 0,
            head_ms_max: 30_000,
            drain_ms_max: 10_000,
            jobs_max: 10_000,
            job_bytes_max: 256 * 1024 * 1024,
            job_ttl_ms: 3_600_000,
            spill_bytes_max: 0,
            object_cache_bytes_max: 0,
        }
    }
}
