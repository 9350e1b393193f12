//! Black-box tests: the real program, real files, real sockets. One binary, so that linking is paid once.

// What only tests of a feature use is not used without it.
#![cfg_attr(not(all(feature = "functions", feature = "otel", feature = "postgres")), allow(dead_code, unused_imports))]
// Helpers of tests may panic as tests do.
#![allow(clippy::unwrap_used)]

// What other tests use of it is not used here.
#[allow(dead_code)]
#[path = "records/client.rs"]
mod client;
#[allow(dead_code)]
#[path = "it/process.rs"]
mod process;

mod it {
    pub(crate) mod demo;
    pub(crate) mod installed;
    pub(crate) mod node;
    pub(crate) mod served;
    pub(crate) mod server;

    mod access;
    #[cfg(feature = "acme")]
    mod acme;
    mod becomes;
    mod benchmarks;
    mod cache;
    mod caller_limits;
    mod client_certificates;
    mod console;
    mod cursor;
    mod delta;
    mod documents;
    mod drain;
    mod export;
    mod first_hour;
    #[cfg(feature = "flight")]
    mod flight;
    mod formats;
    #[cfg(feature = "functions")]
    mod functions;
    mod golden;
    #[cfg(feature = "google-sheets")]
    mod google_sheets;
    mod graphql;
    mod identity;
    mod limits;
    mod log;
    mod malformed;
    mod metrics;
    mod metrics_listen;
    mod namesakes;
    #[cfg(feature = "object-stores")]
    mod object_stores;
    mod odd_names;
    mod oidc;
    #[cfg(feature = "functions")]
    mod openapi;
    mod paging;
    mod published;
    mod queries;
    mod query_edits;
    #[cfg(all(feature = "functions", feature = "wire"))]
    mod recipes;
    mod refresh;
    mod reload;
    mod sessions;
    mod sql;
    mod takeover;
    mod tls;
    #[cfg(all(feature = "functions", feature = "otel"))]
    mod traces;
    mod transport;
    #[cfg(feature = "wire")]
    mod wire;
    mod workbook;
}
