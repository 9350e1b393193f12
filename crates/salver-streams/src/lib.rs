//! Streams: accept events, acknowledge them once they are durable in a log on local disk, and deliver them to Kafka.
//!
//! `stream` implements the port and the append path. `event` finds events in text, validates them and tracks their
//! shape; `log` stores them; `kafka` delivers them; `table` exposes them as rows. `cut` serves clients that send
//! events.

// Without the client, what only delivery asks of the log has no caller.
#![cfg_attr(not(feature = "kafka"), allow(dead_code))]

mod aside;
mod clock;
mod cut;
mod event;
mod id;
#[cfg(feature = "kafka")]
mod kafka;
mod log;
mod private;
mod stream;
mod table;
#[cfg(not(feature = "kafka"))]
mod without_kafka;

#[cfg(not(feature = "kafka"))]
use without_kafka as kafka;

pub use cut::{Cut, Cutter};
pub use stream::LogStream;
