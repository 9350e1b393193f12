//! Attacks on the real program: what one hostile client can send, take and hold. After each the server must answer as
//! before, with the memory it had and no work left over that nobody waits for.

// Helpers of tests may panic as tests do.
#![allow(clippy::unwrap_used)]

// What other tests use of it is not used here.
#[allow(dead_code)]
#[path = "it/server.rs"]
mod server;

mod attack {
    pub(crate) mod siege;

    mod callbacks;
    mod chains;
    mod credentials;
    mod departures;
    mod floods;
    mod frames;
    mod growth;
    mod identity;
    mod inflate;
    mod nesting;
    mod pages;
    mod places;
    mod readings;
    mod routes;
    mod secrets;
    mod slow;
    mod tokens;
    mod wide;
    mod wire;
    mod work;
    mod writes;
}
