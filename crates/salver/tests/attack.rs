//! Attacks on the real program: what one hostile client can send, take and hold. After each the server must answer as
//! before, with the memory it had and no work left over that nobody waits for.

// What only tests of a feature use is not used without it.
#![cfg_attr(not(feature = "functions"), allow(dead_code, unused_imports))]
// Helpers of tests may panic as tests do.
#![allow(clippy::unwrap_used)]

// What other tests use of it is not used here.
#[allow(dead_code)]
#[path = "it/server.rs"]
mod server;

mod attack {
    pub(crate) mod siege;

    #[cfg(feature = "functions")]
    mod callbacks;
    mod chains;
    mod credentials;
    #[cfg(feature = "functions")]
    mod departures;
    mod floods;
    mod frames;
    mod growth;
    #[cfg(feature = "functions")]
    mod identity;
    #[cfg(feature = "functions")]
    mod inflate;
    #[cfg(feature = "functions")]
    mod nesting;
    #[cfg(feature = "functions")]
    mod pages;
    mod places;
    mod readings;
    #[cfg(feature = "functions")]
    mod routes;
    mod secrets;
    mod slow;
    mod tokens;
    mod wide;
    mod wire;
    mod work;
    mod writes;
}
