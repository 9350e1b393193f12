//! Tests of the GraphQL door without HTTP, on tables in memory that count their reads.

#![allow(clippy::unwrap_used)]

mod aggregates;
mod bounds;
mod documents;
mod fixture;
mod garbage;
mod introspection;
mod queries;
mod relations;
mod requests;
mod roapi;
