//! Streams: accept events, acknowledge them once they are durable in a log on local disk, and deliver them to Kafka.
//!
//! `stream` implements the port and the append path. `event` finds events in text, validates them and tracks their
//! shape; `log` stores them; `kafka` delivers them; `table` exposes them as rows. `cut` serves clients that send
//! events.

mod clock;
mod cut;
mod event;
mod id;
mod kafka;
mod log;
mod private;
mod stream;
mod table;

pub use cut::{Cut, Cutter};
pub use stream::LogStream;
