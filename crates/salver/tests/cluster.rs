//! A real cluster: a scheduler and two executors as processes of the program, beside a server that sends them
//! statements and one that answers them itself.

// Helpers of tests may panic as tests do.
#![allow(clippy::unwrap_used)]

// What other tests use of it is not used here.
#[allow(dead_code)]
#[path = "it/server.rs"]
mod server;

mod cluster {
    pub(crate) mod processes;
    pub(crate) mod tables;

    mod answers;
    mod bounds;
    mod ends;
    mod places;
}
