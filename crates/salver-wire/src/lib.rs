//! Wire protocols beside HTTP. Each is a door like those of HTTP: it parses what its clients send into operations of
//! the waist, for a caller whom the reception lets in, and writes what comes back.
//!
//! `postgres` speaks the protocol of PostgreSQL, version 3.0
//! (<https://www.postgresql.org/docs/16/protocol.html>); `flight` speaks Arrow Flight SQL over gRPC
//! (<https://arrow.apache.org/docs/format/FlightSql.html>).

#[cfg(feature = "flight")]
pub mod flight;
mod places;
pub mod postgres;
