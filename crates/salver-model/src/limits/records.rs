//! What the records door and its databases take.

/// Most operations of one atomic request to the records door, and most records of one batch; a request with more is
/// refused.
pub const CHANGES_MAX: usize = 10_000;
/// Most relations one list or read of records may join, counting each path between two tables; a request with more is
/// refused with `rest_query`.
pub const JOINED_RELATIONS_MAX: usize = 64;
/// Most bytes of joined rows, as JSON, that are buffered for the rows they belong to; a request for more is refused
/// with `answer_too_large`.
pub const JOINED_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Memory that all requests together may use for rows that are collected before any is sent, in bytes. Each counts
/// twice, for the copies made when a buffer grows. Further requests are refused with `overloaded`.
pub const GATHERED_BYTES_ALL_MAX: usize = 192 * 1024 * 1024;
/// Most bytes of rows that are read by their keys in one request, unless it is a single row; a request for more is
/// refused with `answer_too_large`.
pub const READ_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Most refused rows that a load reports individually; more are only counted.
pub const LOAD_PROBLEMS_MAX: usize = 10_000;
/// Largest load that arrives too slowly to be written directly and is spooled to a file beside the database, in bytes;
/// a larger one is refused with `body_too_large`.
pub const LOAD_SPOOL_BYTES_MAX: u64 = 8 * 1024 * 1024 * 1024;
/// Most open databases of callers, for one entry; the least recently used one is closed first.
pub const DATABASES_OF_CALLERS_MAX: usize = 256;
/// Largest response of the records door that a function may change, in bytes; a larger one is refused with
/// `answer_too_large`.
pub const CUSTOMIZED_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most prepared statements per connection to a database; the least recently used are evicted.
pub const PREPARED_MAX: usize = 256;
/// Most connections to one database that hold snapshots for exports; further exports are refused until one ends.
pub const SNAPSHOTS_PER_DATABASE_MAX: usize = 64;
/// Most threads that read for such connections of file databases, for all files together; more reads wait. Each caches
/// some megabytes.
pub const SNAPSHOT_THREADS_MAX: usize = 8;
/// Most of these that read the parts of one export concurrently, where the database lets connections share a snapshot;
/// more reads wait.
pub const SNAPSHOT_CONNECTIONS_MAX: usize = 4;
/// Most tables on the path of one `join`, or to a column in a `filter` or an `order`; a request with a longer one is
/// refused.
pub const WAY_TABLES_MAX: usize = 16;
/// Most tables on all paths of one request to the records door together; a request with more is refused with
/// `rest_query`.
pub const WAYS_TABLES_MAX: usize = 1_000;
/// Longest name that a new table or column may have, and a column in the first line of a load of CSV, in bytes, since
/// it is repeated many times in what a request is translated to; a longer one is refused.
pub const NEW_NAME_BYTES_MAX: usize = 256;
/// Most columns of a new table, and fields of a row of CSV; a table or a row with more is refused.
pub const NEW_COLUMNS_MAX: usize = 4_096;
/// Deepest nesting of a body of XML; a deeper one is refused.
pub const XML_DEPTH_MAX: usize = 64;
/// Most elements of a body of XML; a body with more is refused.
pub const XML_ELEMENTS_MAX: usize = 250_000;
/// Deepest nesting of JSON in a record; a deeper one is refused.
pub const JSON_DEPTH_MAX: usize = 128;
/// Longest message of a database in the header `X-Exception-Message`, in bytes; a longer one is cut off.
pub const EXCEPTION_MESSAGE_BYTES_MAX: usize = 1_024;
/// Number of attempts at a snapshot of a table that is being changed as a whole; then the request fails.
pub const SNAPSHOT_TRIES_MAX: usize = 3;
/// Longest wait for a free connection to a database, in milliseconds; then the request is refused with 503.
pub const DATABASE_WAIT_MS_MAX: u64 = 5_000;
/// Longest wait of a response or a load for its share of the connections to a database, in seconds; then it is refused.
pub const DATABASE_SHARE_S_MAX: u64 = 60;
/// Longest time to connect to a database, with everything before the first statement, in milliseconds; then the attempt
/// fails.
pub const DATABASE_CONNECT_MS_MAX: u64 = 5_000;
/// Longest wait of a statement for a lock of another transaction in MySQL, in seconds, unless half of the statement's
/// own time is shorter; then the statement fails.
pub const DATABASE_LOCK_S_MAX: u64 = 10;
/// Time that a database has beyond the timeout of a statement to end it itself, in milliseconds; then the statement
/// fails here.
pub const DATABASE_GRACE_MS: u64 = 1_000;
/// Longest wait for another process that holds a SQLite database, in milliseconds; then the request fails.
pub const DATABASE_BUSY_MS_MAX: u64 = 2_000;
/// Longest number in a condition on a database's table, in characters; a longer one is not a number, which no row has.
/// PostgreSQL has decimals of up to 131,072 digits before the point.
pub const NUMBER_CHARS_MAX: usize = 100_000;
/// Largest exponent of such a number; a number with a larger one has more digits than any system supports, and no row
/// has it.
pub const NUMBER_EXPONENT_MAX: u32 = 400;
/// Largest exponent of a decimal in a record; a decimal with a larger one is refused, and would take memory.
pub const DECIMAL_EXPONENT_MAX: i32 = 100;
/// Deepest nesting of collections in a geometry; a read of a deeper one fails.
pub const GEOMETRY_DEPTH_MAX: usize = 16;
