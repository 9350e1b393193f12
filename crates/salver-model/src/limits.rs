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
/// Rows of this many bytes or more are not made while the process has more in memory than it may.
pub const LARGE_ROW_BYTES: usize = 1024 * 1024;
/// How long a client may take nothing of an answer before the answer is broken off, in milliseconds.
pub const STALL_MS_MAX: u64 = 60_000;
/// Most requests open at once on one HTTP/2 connection.
pub const STREAMS_PER_CONNECTION_MAX: u32 = 100;
/// Largest finished body kept in the cache of final bytes, in bytes.
pub const CACHED_BODY_BYTES_MAX: usize = 1024 * 1024;
/// Longest pattern of `like`, and longest text that rows are searched for, in bytes.
pub const PATTERN_BYTES_MAX: usize = 4 * 1024;
/// Longest name that a likely one is looked for in its place, in bytes.
pub const SUGGESTED_NAME_BYTES_MAX: usize = 256;
/// Most parameters in one query string or form.
pub const PARAMETERS_MAX: usize = 10_000;
/// Bytes of values that one GraphQL document or AQL query may use; those of a variable count each time it is used.
pub const ARGUMENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Most words and signs of an AQL query.
pub const AQL_TOKENS_MAX: usize = 65_536;
/// Most parts that the name of a nested column may have.
pub const COLUMN_PARTS_MAX: usize = 64;

/// Most operations one atomic request to the records door may have, and most records of one batch.
pub const CHANGES_MAX: usize = 10_000;
/// Most relations one list or read of records may join, each way between two tables counted.
pub const JOINED_RELATIONS_MAX: usize = 64;
/// Most bytes of joined rows, as JSON, that wait in memory for the rows they belong to.
pub const JOINED_BYTES_MAX: usize = 256 * 1024 * 1024;
/// What several requests together may take for rows that are gathered before any is sent, in bytes. Each is counted as
/// twice its bytes, for the copies that growing makes.
pub const GATHERED_BYTES_ALL_MAX: usize = 192 * 1024 * 1024;
/// Most bytes of rows that are read by their keys in one request.
pub const READ_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Refused rows a load tells of one by one; more are only counted.
pub const LOAD_PROBLEMS_MAX: usize = 10_000;
/// Most databases of callers, of one entry, that are open at once; the one that was used least lately makes room.
pub const DATABASES_OF_CALLERS_MAX: usize = 256;
/// Largest answer of the records door that a function may change, in bytes.
pub const CUSTOMIZED_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most statements prepared for one connection to a database; the least used make room.
pub const PREPARED_MAX: usize = 256;
/// Most connections to one database that hold its rows for exports; more exports are refused until one ends.
pub const SNAPSHOTS_PER_DATABASE_MAX: usize = 64;
/// Most threads that read for such connections where the database is a file, whichever file: each keeps some megabytes
/// for what it may need again.
pub const SNAPSHOT_THREADS_MAX: usize = 8;
/// Most of these that read the parts of one export at the same time, where the database lets connections share a state.
pub const SNAPSHOT_CONNECTIONS_MAX: usize = 4;
/// Most tables on the way of one `join`, or to a column in a `filter` or an `order`.
pub const WAY_TABLES_MAX: usize = 16;
/// Most tables that all ways of one request to the records door lead over together.
pub const WAYS_TABLES_MAX: usize = 1_000;
/// Longest name that a new table or column may have, and a column in the first line of a load of CSV, in bytes: what is
/// made of a request has it again and again.
pub const NEW_NAME_BYTES_MAX: usize = 256;
/// Most columns of a new table.
pub const NEW_COLUMNS_MAX: usize = 4_096;
/// Deepest nesting of a body of XML.
pub const XML_DEPTH_MAX: usize = 64;
/// Most elements of a body of XML.
pub const XML_ELEMENTS_MAX: usize = 250_000;
/// Deepest nesting of JSON in a record.
pub const JSON_DEPTH_MAX: usize = 128;

/// When a file of a stream's log is full, in bytes, unless the stream says otherwise.
pub const SEGMENT_BYTES: u64 = 128 * 1024 * 1024;
/// Most bytes of a stream's quarantine on disk; the oldest events in it make room. Less when the stream itself has
/// less.
pub const QUARANTINE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Most events of one body that go to the quarantine before the rest of it is refused.
pub const QUARANTINED_MAX: u64 = 100_000;
/// Largest event of a stream, in bytes.
pub const EVENT_BYTES_MAX: usize = 1024 * 1024;
/// Deepest nesting of an event.
pub const EVENT_DEPTH_MAX: usize = 64;
/// Most columns a stream's table may get by itself, nested ones counted; members beyond stay in the event only.
pub const EVENT_COLUMNS_MAX: usize = 1_000;
/// Longest key or id of an event, in bytes.
pub const EVENT_KEY_BYTES_MAX: usize = 4 * 1024;
/// Bytes of one stream's events that wait in memory to be written; more are refused.
pub const STREAM_WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of one stream's latest events that are kept in memory for whoever reads along.
pub const STREAM_RECENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Most ids of events one stream remembers; the oldest make room.
pub const STREAM_IDS_MAX: usize = 1_000_000;
/// Longest wait of an append for the broker's word, in milliseconds.
pub const BROKER_MS_MAX: u64 = 10_000;
/// Bytes of a request body that are taken into a stream at a time.
pub const APPEND_PIECE_BYTES: usize = 1024 * 1024;
/// Most outcomes of single events one answer tells.
pub const APPEND_RESULTS_MAX: usize = 100_000;
/// Most conditions of a reader that follows a stream.
pub const TAIL_TERMS_MAX: usize = 1_000;
/// Most patterns of `like` among them.
pub const TAIL_PATTERNS_MAX: usize = 16;

/// Most cursors and exports open at once; each costs little while nobody reads it.
pub const LEASES_MAX: usize = 50_000;
/// Most files of datasets kept open for exports; those beyond are opened when they are read.
pub const HELD_FILES_MAX: usize = 512;
/// Bytes of decoders of datasets' files that wait for whoever reads them; others begin their pages anew each time.
pub const WAITING_DECODER_BYTES_MAX: usize = 48 * 1024 * 1024;
/// Ids of cursors and exports whose time ran out that are remembered, to tell them from those that never were.
pub const EXPIRED_LEASES_MAX: usize = 100_000;
/// How long a cursor or an export keeps its decoder for a client that does not come, in milliseconds.
pub const PARK_MS: u64 = 1_000;

/// Largest answer, or piece of one, that user code may give, in bytes.
pub const FUNCTION_ANSWER_BYTES_MAX: usize = 1024 * 1024 * 1024;
/// Most calls of a vectorized function that go to a worker together.
pub const FUNCTION_GATHERED_ROWS_MAX: usize = 256;
/// When no more calls go together, in bytes of their arguments.
pub const FUNCTION_GATHERED_BYTES_MAX: usize = 1024 * 1024;
/// Largest text of what a file of functions offers, in bytes.
pub const FUNCTION_OFFER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How long a worker may take from the order to fork it until it says hello, in milliseconds.
pub const FUNCTION_FORK_MS_MAX: u64 = 10_000;
/// How long a worker beyond those kept ready stays without a call, in milliseconds.
pub const FUNCTION_IDLE_MS_MAX: u64 = 60_000;
/// How long a call whose caller left may go on before its process is ended, in milliseconds: about what another process
/// costs.
pub const FUNCTION_LINGER_MS_MAX: u64 = 20;
/// Longest wait before a file that could not be loaded, or whose processes end, is tried again, in milliseconds.
pub const FUNCTION_RETRY_MS_MAX: u64 = 30_000;
/// Longest line of user code's output in the log, in bytes; more is cut into several.
pub const FUNCTION_LINE_BYTES_MAX: usize = 8 * 1024;
/// Most lines of user code's output that one file gets into the log in a second; more are only counted.
pub const FUNCTION_LINES_PER_SECOND_MAX: u32 = 1_000;

/// Longest wait that a request may ask for until a job is done, in seconds.
pub const JOB_WAIT_S_MAX: u64 = 60;
/// How often a callback is tried.
pub const CALLBACK_TRIES_MAX: u32 = 6;
/// The wait before the second try of a callback, in milliseconds; each further one is twice as long.
pub const CALLBACK_RETRY_MS: u64 = 1_000;
/// Longest wait for the answer to a callback, in milliseconds.
pub const CALLBACK_MS_MAX: u64 = 10_000;
/// Most callbacks under way at once; more wait.
pub const CALLBACKS_MAX: usize = 16;
/// Longest address of a callback, in bytes.
pub const CALLBACK_BYTES_MAX: usize = 2 * 1024;

/// Most streams one export may be read in.
pub const EXPORT_STREAMS_MAX: u64 = 64;
/// About how many bytes of rows one read of an export's stream answers; the rest waits for the next read.
pub const EXPORT_READ_BYTES_MAX: usize = 8 * 1024 * 1024;
/// How long an export waits for its reader when nobody says, in seconds.
pub const EXPORT_TTL_S: u64 = 300;
/// How long it may be told to wait, in seconds.
pub const EXPORT_TTL_S_MAX: u64 = 24 * 60 * 60;
/// Longest time a cursor is kept for a client that does not come, in seconds.
pub const CURSOR_TTL_S_MAX: f64 = 86_400.0;
/// Most cursors open at once whose query goes on running, or whose rows wait in memory.
pub const LIVE_CURSORS_MAX: usize = 128;
/// Most cursors that keep a decoder, and prepare a batch, for a client who may come back at once.
pub const AWAKE_CURSORS_MAX: usize = 32;
/// Bytes of batches prepared for cursors before they are asked for, all cursors together.
pub const PREPARED_BYTES_MAX: usize = 32 * 1024 * 1024;
/// When a batch of a cursor ends before it has all rows asked for, in bytes.
pub const BATCH_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Bytes of rows, as they lie in memory, that a cursor keeps because their number is asked for before they are read.
pub const RESULT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// How many times what is free one holder may have of places that callers share: alone three quarters of all, and each
/// further holder three quarters of what those before left.
pub const SHARE_OF_FREE: usize = 3;
/// How long something that keeps a place may lie idle when another holder waits for it, in milliseconds: longer than a
/// client that reads at some hundred kilobytes a second takes for the piece it has.
pub const YIELD_MS: u64 = 3_000;
/// How long when its own holder does, in milliseconds.
pub const YIELD_OWN_MS: u64 = 30_000;
/// How long when the process has more in memory than it may, in milliseconds.
pub const YIELD_FOR_MEMORY_MS: u64 = 1_000;
/// Most answers under way for each of `queries_max`: those whose client takes nothing keep no place, but their rows.
pub const ANSWERS_PER_QUERY_MAX: usize = 4;

/// How long a client may send nothing of a body, or take nothing of an answer, when its connection is needed for
/// another, in milliseconds.
pub const CONNECTION_YIELD_MS: u64 = 1_000;
/// Most connections beyond `connections_max` that are told so.
pub const LOBBY_MAX: usize = 32;
/// How long one of them may take for its request, in milliseconds.
pub const LOBBY_MS_MAX: u64 = 2_000;
/// Memory for request bodies that are being received, all together, in bytes; room for sixteen of the largest if that
/// is more.
pub const RECEIVING_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bodies of this many bytes or less are not counted.
pub const RECEIVING_BYTES_FREE: u64 = 16 * 1024;
/// What is still read of a body whose request is answered without it, in bytes, so that the client sees the answer.
pub const UNREAD_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// For how long it is read, in milliseconds.
pub const UNREAD_MS_MAX: u64 = 2_000;

/// Largest load of rows that comes too slowly to be written while it comes, and waits in a file beside the database, in
/// bytes.
pub const LOAD_SPOOL_BYTES_MAX: u64 = 8 * 1024 * 1024 * 1024;
/// Memory the process may have beside `limits.memory_bytes_max` and a quarter of it, in bytes, before queries are ended
/// for it: code, connections, caches, and what the allocator keeps.
pub const PROCESS_BYTES_BESIDE: u64 = 256 * 1024 * 1024;
/// Largest value a function of SQL may give, in bytes; a quarter of the memory of queries where that is less.
pub const VALUE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Most bytes of one column of a batch that a function or an operator of SQL may give; half of the memory of queries
/// where that is less.
pub const COLUMN_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Largest value that is computed while a statement is planned, in bytes; larger ones are when it runs.
pub const FOLDED_BYTES_MAX: u64 = 16 * 1024;
/// Most steps, of a nanosecond or so, that one call of a function of SQL may take for one row.
pub const CALL_STEPS_MAX: u64 = 250_000_000;
/// Largest pattern that SQL may match with, in characters, its counted repetitions written out.
pub const PATTERN_CHARS_MAX: u64 = 10_000;
/// Largest fixed size of a type that SQL may cast to, in bytes.
pub const FIXED_BYTES_MAX: u64 = 16 * 1024;
/// Largest value of a type whose rows share their bytes (views, dictionaries) that SQL may cast to, in bytes.
pub const SHARED_VALUE_BYTES_MAX: u64 = 16 * 1024;

/// Bounds an operator may set; `[limits]` in the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest work on one query, in milliseconds. The time a slow client takes to receive the answer does not count.
    pub query_ms_max: u64,
    /// Most rows one answer may have; 0 is no bound.
    pub rows_max: u64,
    /// Largest body of a request, in bytes.
    pub body_bytes_max: u64,
    /// Most queries that run at once; more wait for a short time and then get 503.
    pub queries_max: usize,
    /// Longest wait for a free place among `queries_max`, in milliseconds.
    pub queue_ms_max: u64,
    /// Memory for resident datasets and running queries together, in bytes; 0 takes half of the machine's memory.
    pub memory_bytes_max: u64,
    /// Memory for finished bodies, in bytes.
    pub cache_bytes_max: u64,
    /// Most connections open at once, as far as the system has descriptors for them. When all are taken, one that waits
    /// for its client is closed for the next; when none does, the next gets 503.
    pub connections_max: usize,
    /// How long a client may take to send the head of a request, and then its body, in milliseconds; also how long a
    /// connection may stay idle between requests.
    pub head_ms_max: u64,
    /// How long open requests may take to end after SIGTERM, in milliseconds.
    pub drain_ms_max: u64,
    /// Most jobs that wait, run, or are kept with what they answered.
    pub jobs_max: usize,
    /// Memory for what jobs are asked with and what they answered, in bytes.
    pub job_bytes_max: u64,
    /// How long a job is kept when it is done, in milliseconds.
    pub job_ttl_ms: u64,
    /// Disk for what running queries spill, all together, in bytes; 0 takes half of what is free at the start.
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
