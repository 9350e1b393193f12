//! How long the commands that talk to a server wait, and how much they show.

/// Longest time in which a command connects to a server, in seconds; then it tries again, or fails.
pub const COMMAND_CONNECT_S_MAX: u64 = 10;
/// Longest wait of a command for the head of a response, in seconds, unless the patience of its user is shorter; then
/// it tries again, or fails.
pub const COMMAND_ANSWER_S_MAX: u64 = 120;
/// Longest time of a command for the rest of a response, in the same way.
pub const COMMAND_BODY_S_MAX: u64 = 600;
/// Shortest time of a single attempt of a command, in seconds, however short the patience of its user is.
pub const COMMAND_TRY_S_MIN: u64 = 10;
/// Most entries that `salver serve` lists at the start; of the others it writes how many there are.
pub const ANNOUNCED_ENTRIES_MAX: usize = 40;
/// Longest wait of that list for entries to load, in seconds; it is written as they are then. Serving does not wait.
pub const ANNOUNCED_S_MAX: u64 = 10;
/// Timeout of the statement of `salver query`, in milliseconds, one day: no other query waits behind it, and the user
/// can interrupt it.
pub const COMMAND_QUERY_MS_MAX: u64 = 24 * 60 * 60 * 1000;
/// Most rows that a command draws as a table on a terminal; it counts the others. Where the output is no terminal, all
/// are drawn.
pub const DRAWN_ROWS_MAX: u64 = 1_000;
/// Longest statement at the prompt of `salver sql`, in bytes; a longer one is refused, and the prompt begins anew.
pub const PROMPT_STATEMENT_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most statements that the prompt remembers.
pub const HISTORY_STATEMENTS_MAX: usize = 1_000;
/// Longest statement that the prompt remembers, in bytes.
pub const HISTORY_STATEMENT_BYTES_MAX: usize = 64 * 1024;
/// Most bytes of the file of these statements; of a longer one the end is read, and the rest forgotten.
pub const HISTORY_BYTES_MAX: u64 = 1024 * 1024;
/// Longest wait of `salver query` for files of functions to load, in seconds; then the statement runs without those
/// that are not loaded.
pub const COMMAND_FUNCTIONS_S_MAX: u64 = 60;
