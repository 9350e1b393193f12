//! The GraphQL door against tables in memory, which count how often they are read, without HTTP around it.

#![allow(clippy::unwrap_used)]

mod aggregates;
mod bounds;
mod documents;
mod garbage;
mod introspection;
mod relations;
mod requests;
mod roapi;
mod world;
