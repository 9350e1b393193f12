//! The GraphQL door: a document in, rows or a document out. Knows the language and the waist, but no HTTP.
//!
//! Suggested reading order: `graph` (what the names of the schema stand for) and `sdl` (the schema as text); then the
//! way of a request: `request`, `bounds`, `lax` (ROAPI's shorthand), `compile` into a `plan` of `level`s, `run` and
//! `join` (one read for each level), `mutation` (changes, all of a document or none), and `answer` with `piece` and
//! `write`, or `bare` for ROAPI's rows. `budget` is what all of that may take.

mod answer;
mod bare;
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
mod lax;
mod level;
mod mutation;
mod naming;
mod offload;
mod piece;
mod plan;
mod request;
mod run;
mod scalar;
mod sdl;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use answer::unread;
pub(crate) use door::{Answer, Graphql, answer, is_mutation};
pub(crate) use graphiql::asset;
pub(crate) use request::{Request, parse_get, parse_post};
