//! Reading: lists, rows by key, groups, features. A query is checked against the schema and the caller's rules,
//! compiled to statements that are all known before the first one runs, and its rows are written as JSON while they
//! arrive.

mod batched_key;
mod columns;
mod cursor;
mod distinct;
mod document;
mod etag;
mod geojson;
mod group;
mod immediate;
mod join;
mod key;
mod key_batch;
mod list;
mod order;
mod plain_rows;
mod plan;
mod point;
mod range;
mod root_rows;
mod rows;
mod statements;
mod stream;

use salver_model::Result;
use salver_model::records::{Document, RecordQuery};

use crate::scope::Scope;

pub(crate) use cursor::null_key;
pub(crate) use etag::EtagColumns;
pub(crate) use geojson::geojson;
pub(crate) use immediate::{is_at_once, now};
pub(crate) use key::{by_key, not_found, row};

/// Returns a list.
pub(crate) async fn list(scope: &Scope<'_>, query: &RecordQuery) -> Result<Document> {
    if group::is_grouped(query) { group::list(scope, query).await } else { list::list(scope, query).await }
}
