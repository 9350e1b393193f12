//! Streams: events in, acknowledged when they are safe, in a log on local disk, and on to Kafka.
//!
//! `stream` is the port and the way of an append. `event` finds events in text, checks them and follows their shape;
//! `log` keeps them; `kafka` hands them on; `table` shows them as rows. `cut` is for whoever sends them.

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
