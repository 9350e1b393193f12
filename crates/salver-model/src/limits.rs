//! Every limit of Salver, in one place. Units stand last.

/// Longest name of an entry, in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// Deepest nesting of a filter (`or`, `and`, `not`) in a request.
pub const FILTER_DEPTH_MAX: usize = 32;
/// Most terms in one filter, and most values in one `in` list.
pub const FILTER_TERMS_MAX: usize = 10_000;
/// Most columns, sort keys, groups or conditions of one request to the REST door.
pub const LIST_ITEMS_MAX: usize = 1_000;
/// Deepest nesting of parentheses and subqueries the SQL door parses.
pub const SQL_DEPTH_MAX: usize = 50;
/// Deepest nesting of subqueries in SQL expressions, each of which doubles the time that planning takes.
pub const SQL_SUBQUERY_DEPTH_MAX: usize = 12;
/// Deepest nesting of SQL expressions that planning writes out twice or more: the arguments of `coalesce` before the
/// last, the operand of `between`, the conditions of a `case`, and rows in comparisons or memberships; those of `any`,
/// `all` and `between symmetric` count twice, those of `overlaps` four times.
pub const SQL_COPIED_DEPTH_MAX: usize = 5;
/// Deepest nesting of casts of expressions that contain casts, each of which doubles the time that planning takes.
pub const SQL_CASTS_DEPTH_MAX: usize = 8;
/// Most steps and expressions of a query in which SQL tests a column with `in`, which is written out three times.
pub const SQL_LOOKED_UP_MAX: usize = 100;
/// Most words and operators of one SQL statement, not counting commas and values.
pub const SQL_WORDS_MAX: usize = 4_000;
/// Most bytes of a name, and most digits of a number, in a SQL statement: suggestions for a name compare it with all
/// known names.
pub const SQL_NAME_BYTES_MAX: usize = 1_024;
/// Longest chain of operators in one SQL expression (`a or b or c`, `a::text::int`), levels of nesting counted.
pub const SQL_CHAIN_MAX: usize = 500;
/// Most expressions that the parser begins in one SQL statement by backtracking to parse some words in another way, not
/// counting the written ones.
pub const SQL_READINGS_MAX: usize = 20_000;
/// Most tables and queries that one SQL statement reads, each as often as it is used.
pub const SQL_RELATIONS_MAX: usize = 500;
/// Most columns, in total, of the tables that one SQL statement of several tables reads, each counted as often as it is
/// read.
pub const SQL_COLUMNS_MAX: usize = 20_000;
/// Approximate maximum of columns that the `*` of one SQL statement of several tables expand to: planning time grows
/// with their square.
pub const SQL_STARRED_MAX: usize = 5_000;
/// Most columns, groups, sort keys or arguments in one list of a SQL statement.
pub const SQL_ITEMS_MAX: usize = 4_000;
/// Most expressions that one step of a planned query computes when all names in them are expanded, not counting values.
pub const SQL_EXPRESSIONS_MAX: usize = 8_000;
/// Most thread pools, each with one thread per core, that the engine has while queries block threads and cannot be
/// interrupted.
pub const ENGINE_LANES_MAX: usize = 8;
/// Longest request line plus headers, in bytes. The request target may have at most 64 KiB, a limit of the `http`
/// crate; this limit is larger, so that a longer target is still read and refused with a status code.
pub const HEAD_BYTES_MAX: usize = 512 * 1024;
/// Deepest nesting of a GraphQL selection.
pub const GRAPHQL_DEPTH_MAX: usize = 12;
/// Most fields (after fragments) one GraphQL document may select.
pub const GRAPHQL_FIELDS_MAX: usize = 2_000;
/// Most rows of one nested GraphQL relation held in memory while it is joined.
pub const GRAPHQL_RELATION_ROWS_MAX: u64 = 100_000;
/// Largest response to a standard GraphQL document, which is built in memory, in bytes.
pub const GRAPHQL_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Rows of a response that are encoded before the first byte is sent; a longer response is streamed.
pub const READY_ROWS_MAX: usize = 4_096;
/// Bytes of rows, as held in memory, that are encoded before the first byte is sent; more is streamed.
pub const READY_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of rows up to which a result of the engine is awaited in full; the rest of a larger one is streamed.
pub const AWAITED_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of rows, as held in memory, that are encoded at a time while a response is streamed.
pub const PIECE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Least memory for all complete responses that their clients have not read yet, together, in bytes; a quarter of
/// `memory_bytes_max` where that is more.
pub const HELD_ANSWERS_BYTES_MIN: u64 = 256 * 1024 * 1024;
/// Size up to which such a response is not counted, in bytes.
pub const HELD_BYTES_FREE: usize = 64 * 1024;
/// The same for connections with many streams, each with a response.
pub const HELD_BYTES_FREE_OF_STREAM: usize = 16 * 1024;
/// Most columns that the rows of a table without a key are ordered by, beside what a request says.
pub const KEYLESS_ORDER_COLUMNS_MAX: usize = 64;
/// Rows of this many bytes or more are not built while the process exceeds its memory limit.
pub const LARGE_ROW_BYTES: usize = 1024 * 1024;
/// Longest time a client may read nothing of a response before the response is aborted, in milliseconds.
pub const STALL_MS_MAX: u64 = 60_000;
/// Most requests open at once on one HTTP/2 connection.
pub const STREAMS_PER_CONNECTION_MAX: u32 = 100;
/// Largest finished body kept in the cache of final bytes, in bytes.
pub const CACHED_BODY_BYTES_MAX: usize = 1024 * 1024;
/// Longest pattern of `like`, and longest text that rows are searched for, in bytes.
pub const PATTERN_BYTES_MAX: usize = 4 * 1024;
/// Longest name for which a similar one is suggested, in bytes.
pub const SUGGESTED_NAME_BYTES_MAX: usize = 256;
/// Most parameters in one query string or form.
pub const PARAMETERS_MAX: usize = 10_000;
/// Bytes of values that one GraphQL document or AQL query may use; those of a variable count each time it is used.
pub const ARGUMENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Most tokens of an AQL query.
pub const AQL_TOKENS_MAX: usize = 65_536;
/// Most parts that the name of a nested column may have.
pub const COLUMN_PARTS_MAX: usize = 64;

/// Most operations of one atomic request to the records door, and most records of one batch.
pub const CHANGES_MAX: usize = 10_000;
/// Most relations one list or read of records may join, counting each path between two tables.
pub const JOINED_RELATIONS_MAX: usize = 64;
/// Most bytes of joined rows, as JSON, that are buffered for the rows they belong to.
pub const JOINED_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Memory that all requests together may use for rows that are collected before any is sent, in bytes. Each counts
/// twice, for the copies made when a buffer grows.
pub const GATHERED_BYTES_ALL_MAX: usize = 192 * 1024 * 1024;
/// Most bytes of rows that are read by their keys in one request.
pub const READ_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Most refused rows that a load reports individually; more are only counted.
pub const LOAD_PROBLEMS_MAX: usize = 10_000;
/// Most open databases of callers, for one entry; the least recently used one is closed first.
pub const DATABASES_OF_CALLERS_MAX: usize = 256;
/// Largest response of the records door that a function may change, in bytes.
pub const CUSTOMIZED_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most prepared statements per connection to a database; the least recently used are evicted.
pub const PREPARED_MAX: usize = 256;
/// Most connections to one database that hold snapshots for exports; further exports are refused until one ends.
pub const SNAPSHOTS_PER_DATABASE_MAX: usize = 64;
/// Most threads that read for such connections of file databases, for all files together: each caches some megabytes.
pub const SNAPSHOT_THREADS_MAX: usize = 8;
/// Most of these that read the parts of one export concurrently, where the database lets connections share a snapshot.
pub const SNAPSHOT_CONNECTIONS_MAX: usize = 4;
/// Most tables on the path of one `join`, or to a column in a `filter` or an `order`.
pub const WAY_TABLES_MAX: usize = 16;
/// Most tables on all paths of one request to the records door together.
pub const WAYS_TABLES_MAX: usize = 1_000;
/// Longest name that a new table or column may have, and a column in the first line of a load of CSV, in bytes: it is
/// repeated many times in what a request is translated to.
pub const NEW_NAME_BYTES_MAX: usize = 256;
/// Most columns of a new table.
pub const NEW_COLUMNS_MAX: usize = 4_096;
/// Deepest nesting of a body of XML.
pub const XML_DEPTH_MAX: usize = 64;
/// Most elements of a body of XML.
pub const XML_ELEMENTS_MAX: usize = 250_000;
/// Deepest nesting of JSON in a record.
pub const JSON_DEPTH_MAX: usize = 128;

/// Size at which a segment of a stream's log is closed, in bytes, unless the stream has another setting.
pub const SEGMENT_BYTES: u64 = 128 * 1024 * 1024;
/// Most bytes of a stream's quarantine on disk; its oldest events are deleted first. Less when the stream itself has
/// less.
pub const QUARANTINE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Most events of one body that go to the quarantine before the rest of it is refused.
pub const QUARANTINED_MAX: u64 = 100_000;
/// Largest event of a stream, in bytes.
pub const EVENT_BYTES_MAX: usize = 1024 * 1024;
/// Deepest nesting of an event.
pub const EVENT_DEPTH_MAX: usize = 64;
/// Most columns that are inferred for a stream's table, including nested ones; further members stay in the event only.
pub const EVENT_COLUMNS_MAX: usize = 1_000;
/// Longest key or id of an event, in bytes.
pub const EVENT_KEY_BYTES_MAX: usize = 4 * 1024;
/// Largest backlog of a stream's events in memory, in bytes; more are refused.
pub const STREAM_WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of a stream's latest events that are kept in memory for readers that follow it.
pub const STREAM_RECENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Most ids of events that one stream remembers; the oldest are evicted.
pub const STREAM_IDS_MAX: usize = 1_000_000;
/// Longest wait of an append for the broker's acknowledgement, in milliseconds.
pub const BROKER_MS_MAX: u64 = 10_000;
/// Bytes of a request body that are appended to a stream at a time.
pub const APPEND_PIECE_BYTES: usize = 1024 * 1024;
/// Most outcomes of single events in one response.
pub const APPEND_RESULTS_MAX: usize = 100_000;
/// Most conditions of a reader that follows a stream.
pub const TAIL_TERMS_MAX: usize = 1_000;
/// Most patterns of `like` among them.
pub const TAIL_PATTERNS_MAX: usize = 16;

/// Most open cursors and exports; an idle one costs little.
pub const LEASES_MAX: usize = 50_000;
/// Most files of datasets kept open for exports; further ones are opened for each read.
pub const HELD_FILES_MAX: usize = 512;
/// Memory for suspended decoders of datasets' files, in bytes; without one, a read restarts at its page.
pub const WAITING_DECODER_BYTES_MAX: usize = 48 * 1024 * 1024;
/// Number of expired ids of cursors and exports that are remembered, to distinguish them from unknown ones.
pub const EXPIRED_LEASES_MAX: usize = 100_000;
/// Time a cursor or an export keeps its decoder for an idle client, in milliseconds.
pub const PARK_MS: u64 = 1_000;

/// Largest response of user code, or chunk of one, in bytes.
pub const FUNCTION_ANSWER_BYTES_MAX: usize = 1024 * 1024 * 1024;
/// Most calls of a vectorized function that are combined into one.
pub const FUNCTION_GATHERED_ROWS_MAX: usize = 256;
/// Bytes of arguments at which no more calls are combined.
pub const FUNCTION_GATHERED_BYTES_MAX: usize = 1024 * 1024;
/// Largest interface description of a file of functions, in bytes.
pub const FUNCTION_OFFER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Longest time from the order to fork a worker to its hello, in milliseconds.
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

/// Longest time a request may wait for a job, in seconds.
pub const JOB_WAIT_S_MAX: u64 = 60;
/// Number of attempts of a callback.
pub const CALLBACK_TRIES_MAX: u32 = 6;
/// Delay before the first retry of a callback, in milliseconds; it doubles with each further retry.
pub const CALLBACK_RETRY_MS: u64 = 1_000;
/// Timeout of a callback, in milliseconds.
pub const CALLBACK_MS_MAX: u64 = 10_000;
/// Most concurrent callbacks; more wait.
pub const CALLBACKS_MAX: usize = 16;
/// Longest address of a callback, in bytes.
pub const CALLBACK_BYTES_MAX: usize = 2 * 1024;

/// Most streams of one export.
pub const EXPORT_STREAMS_MAX: u64 = 64;
/// Approximate number of bytes of rows returned by one read of an export's stream; the rest follows with the next read.
pub const EXPORT_READ_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Default time to live of an idle export, in seconds.
pub const EXPORT_TTL_S: u64 = 300;
/// Longest time to live of an export, in seconds.
pub const EXPORT_TTL_S_MAX: u64 = 24 * 60 * 60;
/// Longest time to live of an idle cursor, in seconds.
pub const CURSOR_TTL_S_MAX: f64 = 86_400.0;
/// Most open cursors whose query is still running, or whose rows are buffered in memory.
pub const LIVE_CURSORS_MAX: usize = 128;
/// Most cursors that keep a decoder and prefetch a batch for the client's next request.
pub const AWAKE_CURSORS_MAX: usize = 32;
/// Bytes of prefetched batches, for all cursors together.
pub const PREPARED_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Size at which a batch of a cursor ends before it has all requested rows, in bytes.
pub const BATCH_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of rows, as held in memory, that a cursor buffers because their count was requested.
pub const RESULT_BYTES_MAX: usize = 64 * 1024 * 1024;

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
pub const ANSWERS_PER_QUERY_MAX: usize = 4;

/// Time a client may send nothing of a request body, or read nothing of a response, when its connection is needed for
/// another, in milliseconds.
pub const CONNECTION_YIELD_MS: u64 = 1_000;
/// Most connections beyond `connections_max` that are accepted to be refused with a response.
pub const LOBBY_MAX: usize = 32;
/// Longest time one of them may take to send its request, in milliseconds.
pub const LOBBY_MS_MAX: u64 = 2_000;
/// Memory for all request bodies being received, together, in bytes; at least sixteen times the largest body.
pub const RECEIVING_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Size up to which a body is not counted, in bytes.
pub const RECEIVING_BYTES_FREE: u64 = 16 * 1024;
/// Bytes of an unneeded request body that are still read after the response, so that the client sees the response.
pub const UNREAD_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Longest time spent on that, in milliseconds.
pub const UNREAD_MS_MAX: u64 = 2_000;

/// Largest load that arrives too slowly to be written directly and is spooled to a file beside the database, in bytes.
pub const LOAD_SPOOL_BYTES_MAX: u64 = 8 * 1024 * 1024 * 1024;
/// Memory of the process beyond `limits.memory_bytes_max` and a quarter of it, in bytes, before queries are cancelled:
/// code, connections, caches, and the allocator's overhead.
pub const PROCESS_BYTES_BESIDE: u64 = 256 * 1024 * 1024;
/// Largest value that a SQL function may return, in bytes; a quarter of the memory of queries where that is less.
pub const VALUE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Largest column of a batch that a SQL function or operator may return, in bytes; half of the memory of queries where
/// that is less.
pub const COLUMN_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Largest value for constant folding during planning, in bytes; larger ones are computed at execution.
pub const FOLDED_BYTES_MAX: u64 = 16 * 1024;
/// Most steps, of about a nanosecond, that one call of a SQL function may take for one row.
pub const CALL_STEPS_MAX: u64 = 250_000_000;
/// Largest pattern for SQL matching, in characters, with its counted repetitions expanded.
pub const PATTERN_CHARS_MAX: u64 = 10_000;
/// Largest fixed size of a type that SQL may cast to, in bytes.
pub const FIXED_BYTES_MAX: u64 = 16 * 1024;
/// Largest value of a type whose rows share their bytes (views, dictionaries) that SQL may cast to, in bytes.
pub const SHARED_VALUE_BYTES_MAX: u64 = 16 * 1024;

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
            head_ms_max: 30_000,
            drain_ms_max: 10_000,
            jobs_max: 10_000,
            job_bytes_max: 256 * 1024 * 1024,
            job_ttl_ms: 3_600_000,
            spill_bytes_max: 0,
        }
    }
}
