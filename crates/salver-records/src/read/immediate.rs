//! Reads that an in-process database answers at once, on the calling thread.

use salver_model::Result;
use salver_model::records::{Document, RecordKey, RecordQuery, RecordRead};

use super::point::{NoSuchKey, Point, PointSink};
use super::{group, key, list};
use crate::dialect::Dialect;
use crate::scope::Scope;

/// Reads one row by its key, or a list; returns `None` when the regular path must be taken, which also reports all
/// errors except that there is no such record.
pub(crate) fn now(scope: &Scope<'_>, read: &RecordRead) -> Option<Result<Document>> {
    if !is_at_once(scope.dialect) || scope.schema.stamp() == 0 {
        return None;
    }
    match read {
        RecordRead::Row { table, key } => row(scope, table, key),
        RecordRead::List(query) => rows(scope, query),
        RecordRead::Keys { .. } | RecordRead::Features(..) => None,
    }
}

/// Returns whether reads of such a database may be answered by [`now`]: where it is in this process.
pub(crate) fn is_at_once(dialect: Dialect) -> bool {
    dialect == Dialect::Sqlite
}

fn row(scope: &Scope<'_>, table: &str, key: &RecordKey) -> Option<Result<Document>> {
    let absent = || key::not_found(key);
    let (point, read) = match Point::find(scope, table, key) {
        Err(NoSuchKey) => return Some(Err(absent())),
        Ok(found) => found?,
    };
    let sink = asked(scope.backend.read_at_once(&read, &mut || PointSink::new(&point)))?;
    Some(match sink.finish() {
        Some(row) => key::whole(Some(row), key),
        None => Err(absent()),
    })
}

fn rows(scope: &Scope<'_>, query: &RecordQuery) -> Option<Result<Document>> {
    if !query.joins.is_empty() || query.page.is_some() || group::is_grouped(query) {
        return None;
    }
    let plan = list::plan(scope, query).ok()?;
    let [read] = plan.reads.as_slice() else { return None };
    let sink = asked(scope.backend.read_at_once(read, &mut || plan.sink.anew()))?;
    Some(Ok(Document::whole(sink.finish())))
}

/// Returns the result of a read; `None` also when it failed: the regular path waits for locks, and looks for names in a
/// newer schema.
fn asked<S>(read: Option<Result<S>>) -> Option<S> {
    read?.ok()
}
