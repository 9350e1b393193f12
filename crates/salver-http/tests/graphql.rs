//! The GraphQL door against tables in memory, which count how often they are read. The door is private to the crate
//! and is compiled in here, so that its answers can be seen without HTTP around them.

#![allow(clippy::unwrap_used)]

#[path = "../src"]
#[allow(dead_code, unused_imports, unreachable_pub)]
mod source {
    pub(crate) mod graphql;
}
use source::graphql;
#[path = "../src/veil.rs"]
#[allow(dead_code, unreachable_pub)]
mod veil;
#[path = "../src/weight.rs"]
#[allow(unreachable_pub)]
mod weight;

#[path = "graphql/aggregates.rs"]
mod aggregates;
#[path = "graphql/bounds.rs"]
mod bounds;
#[path = "graphql/documents.rs"]
mod documents;
#[path = "graphql/garbage.rs"]
mod garbage;
#[path = "graphql/introspection.rs"]
mod introspection;
#[path = "graphql/relations.rs"]
mod relations;
#[path = "graphql/requests.rs"]
mod requests;
#[path = "graphql/roapi.rs"]
mod roapi;
#[path = "graphql/world.rs"]
mod world;
