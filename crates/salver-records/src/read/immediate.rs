//! Reads that an in-process database answers at once, on the calling thread.

use salver_model::Result;
use salver_model::records::{Document, RecordQuery};

use super::point::{NoSuchKey, Point, PointSink};
use super::{group, key, list};
use crate::dialect::Dialect;
use crate::schema_cache::is_gone;
use crate::scope::Scope;

/// Reads by `key`, or a list without one; returns `None` when the regular path must be taken, which also reports all
/// errors except that there is no such record.
pub(crate) fn now(scope: &Scope<'_>, query: &RecordQuery, key: Option<&str>) -> Option<Result<Document>> {
    if scope.dialect != Dialect::Sqlite || scope.schema.stamp() == 0 {
        return None;
    }
    match key {
        Some(key) => read(scope, query, key),
        None => rows(scope, query),
    }
}

fn read(scope: &Scope<'_>, query: &RecordQuery, key: &str) -> Option<Result<Document>> {
    if !key::is_plain(query) {
        return None;
    }
    let position = scope.schema.position(&query.table)?;
    let point = Point::of(scope, position)?;
    let absent = || key::not_found(&vec![key.to_owned()]);
    let read = match point.read(scope, &scope.schema.tables()[position], key) {
        Err(NoSuchKey) => return Some(Err(absent())),
        Ok(read) => read?,
    };
    let sink = asked(scope.backend.read_at_once(&read, &mut || PointSink::new(&point)))?;
    Some(sink.and_then(|sink| match sink.finish() {
        Some(row) => key::whole(Some(row), &Vec::new()),
        None => Err(absent()),
    }))
}

fn rows(scope: &Scope<'_>, query: &RecordQuery) -> Option<Result<Document>> {
    if !query.joins.is_empty() || query.page.is_some() || group::is_grouped(query) {
        return None;
    }
    let plan = list::plan(scope, query).ok()?;
    let [read] = plan.reads.as_slice() else { return None };
    let sink = asked(scope.backend.read_at_once(read, &mut || plan.sink.anew()))?;
    Some(sink.map(|sink| Document::whole(sink.finish())))
}

/// Returns the result of a read; `None` also when a name is gone, which the regular path looks for in a newer schema.
fn asked<S>(read: Option<Result<S>>) -> Option<Result<S>> {
    read.filter(|read| !read.as_ref().is_err_and(|error| is_gone(error.code)))
}
