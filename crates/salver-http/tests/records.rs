//! The records doors over HTTP, before a database that remembers what it was asked.

// Helpers of tests may panic as tests do.
#![allow(clippy::unwrap_used)]

mod records {
    mod bodies;
    mod bulk;
    mod errors;
    mod fixture;
    mod gates;
    mod idempotency;
    mod openapi;
    mod queries;
    mod schema;
    mod tags;
}
