//! The GraphQL door: it takes a document and returns rows or a document. It knows the language and the waist, but no
//! HTTP.
//!
//! Suggested reading order: `graph` (the meaning of the names in the schema) and `sdl` (the schema as text), which
//! `schema_cache` keeps between requests; then the stages of a request: `request`, `bounds`, `roapi_shorthand` (ROAPI's
//! shorthand), `compile` into a `plan` of `level`s, `run` and `join` (one read per level), `named` (a named query on
//! its whole way), `mutation` (changes, in one transaction per document), and `answer` with `piece` and `write`, or
//! `roapi_rows` for ROAPI's rows. `budget` limits the resources for all of that.

mod answer;
mod bounds;
mod budget;
mod collect;
mod compile;
mod condition;
mod door;
mod failure;
mod graph;
mod graphiql;
mod groups;
mod input;
mod join;
mod level;
mod mutation;
mod named;
mod naming;
mod piece;
mod plan;
mod request;
mod roapi_rows;
mod roapi_shorthand;
mod run;
mod scalar;
mod schema_cache;
mod sdl;
#[cfg(test)]
mod tests;
mod variables;
mod write;

pub(crate) use answer::unread;
pub(crate) use door::{Answer, answer, is_mutation};
pub(crate) use graphiql::asset;
pub(crate) use request::{Request, parse_get, parse_post};
pub(crate) use schema_cache::Graphql;
