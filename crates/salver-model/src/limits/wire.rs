//! What a connection of PostgreSQL's protocol may take. How many there may be, how large a message may be, and how long
//! a statement may run, are the limits of HTTP.

/// Largest packet that a connection begins with, in bytes, the limit of PostgreSQL; after a larger one the connection
/// is closed.
pub const STARTUP_PACKET_BYTES_MAX: usize = 10_000;
/// Longest time until a connection has said who it is, in milliseconds; then it is closed.
pub const STARTUP_MS_MAX: u64 = 30_000;
/// Bytes that are read ahead while a statement runs; a client that sends more waits for the statement.
pub const READ_AHEAD_BYTES_MAX: usize = 64 * 1024;
/// Most prepared statements of one connection; a further one is refused with `54000` until one is closed.
pub const PREPARED_STATEMENTS_MAX: usize = 1_000;
/// Most portals and cursors of one connection at a time; a further one is refused with `54000` until one is closed.
pub const PORTALS_MAX: usize = 100;
/// Memory for the texts and parameters of the prepared statements and portals of one connection, in bytes; a statement
/// or portal beyond it is refused with `54000`.
pub const SESSION_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most statements in one simple query; one with more is refused with `54000`.
pub const SIMPLE_QUERY_STATEMENTS_MAX: usize = 1_000;
