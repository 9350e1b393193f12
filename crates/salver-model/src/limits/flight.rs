//! What clients of Arrow Flight SQL may take. How many connections there may be, how large a message may be, and how
//! long a statement may run, are the limits of HTTP.

/// Most logins of Arrow Flight SQL that are remembered, each under the token of its handshake; a further one is refused
/// with `overloaded` unless another of the same caller, who has most, can end.
pub const FLIGHT_LOGINS_MAX: usize = 10_000;
/// Time for which such a token holds without being used, in seconds.
pub const FLIGHT_LOGIN_TTL_S: u64 = 60 * 60;
/// Most prepared statements of Arrow Flight SQL, of all callers; a further one is refused with `overloaded` unless one
/// that rests can end.
pub const FLIGHT_STATEMENTS_MAX: usize = 10_000;
/// Time for which a prepared statement is kept without being used, in seconds.
pub const FLIGHT_STATEMENT_TTL_S: u64 = 60 * 60;
/// Memory for the texts and parameters of these statements, in KiB, of which no caller gets all while others want some;
/// a statement beyond it is refused with `overloaded`.
pub const FLIGHT_STATEMENTS_KIB_MAX: usize = 64 * 1024;
/// Time for which the ticket of a statement holds, in seconds.
pub const FLIGHT_TICKET_TTL_S: u64 = 10 * 60;
/// Most tables that are held at one version for the tickets of Arrow Flight; a further one is refused with `overloaded`
/// unless one that rests can end.
pub const FLIGHT_TABLES_MAX: usize = 1_000;
/// Most characters of the message that a status has; gRPC sends it in a header, of which clients take 8 KiB.
pub const FLIGHT_STATUS_CHARS_MAX: usize = 1_500;
