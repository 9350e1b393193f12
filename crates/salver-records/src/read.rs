//! Reading: lists, rows by key, groups, features. A query is checked against the schema and the caller's rules,
//! compiled to statements that are all known before the first one runs, and its rows are written as JSON while they
//! arrive.

mod bounds;
mod columns;
mod cursor;
mod distinct;
mod document;
mod flat;
mod gather;
mod geojson;
mod group;
mod join;
mod key;
mod list;
mod now;
mod order;
mod plan;
mod point;
mod root;
mod rows;
mod statements;
mod stream;
mod tag;
mod together;

use salver_model::Result;
use salver_model::records::{Document, RecordQuery};

use crate::scope::Scope;

pub(crate) use cursor::null_key;
pub(crate) use geojson::geojson;
pub(crate) use key::{by_key, not_found};
pub(crate) use now::now;
pub(crate) use tag::Seen;

/// Returns a list.
pub(crate) async fn list(scope: &Scope<'_>, query: &RecordQuery) -> Result<Document> {
    if group::is_grouped(query) { group::list(scope, query).await } else { list::list(scope, query).await }
}
