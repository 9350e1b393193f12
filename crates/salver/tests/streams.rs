//! Streams: the real program, killed and started again, beside a real Kafka broker. One binary, so that linking is paid
//! once and the broker starts once.

// Helpers of tests may panic as tests do.
#![allow(clippy::unwrap_used)]

#[path = "records/client.rs"]
mod client;
// What other tests use of it is not used here.
#[allow(dead_code)]
#[path = "it/process.rs"]
mod process;

mod streams {
    use super::{client, process};

    pub(crate) mod doors;

    mod append;
    mod confluent;
    mod consumers;
    mod exact;
    mod framing;
    mod full;
    mod groups;
    mod ingest;
    mod killed;
    mod malformed;
    mod older;
    mod resumed;
    mod shapes;
    mod shown;
    mod table;
    mod tail;
}
