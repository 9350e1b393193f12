//! Lists: their statements and their document.

use salver_model::records::{Document, Operation, RecordQuery, TableInfo};
use salver_model::{Code, Error, Result};

use super::cursor::{self, After};
use super::document::{ListSink, Next};
use super::order;
use super::plan::{ReadPlan, run};
use super::range::ListRange;
use super::root_rows::Root;
use super::rows::Envelope;
use super::statements::{count, joined, select};
use crate::condition::ConditionContext;
use crate::scope::Scope;

/// Largest limit for which a list is sent as a whole.
const WHOLE_ROWS: u64 = 1_000;

/// Returns a list without groups.
pub(crate) async fn list(scope: &Scope<'_>, query: &RecordQuery) -> Result<Document> {
    let plan = plan(scope, query)?;
    run(scope, plan).await
}

/// Returns the context of a request that reads. The door decides whether it is strict: a request may override its
/// entry.
pub(crate) fn ground<'s>(scope: &'s Scope<'s>, operation: Operation, query: &RecordQuery) -> ConditionContext<'s> {
    ConditionContext { scope, operation, strict: query.strict }
}

/// Returns the rows of a list.
pub(crate) fn root<'s>(ground: ConditionContext<'s>, table: &'s TableInfo, query: &'s RecordQuery) -> Result<Root<'s>> {
    let mut root = Root::new(ground, table);
    root.filters.extend(&query.filter);
    root.search = query.search.as_deref().filter(|text| !text.is_empty());
    root.bounds = ListRange::of(ground.scope.spec(), ground.scope.rows(), query)?;
    root.order = order::asked(&ground, table, &query.order)?;
    Ok(root)
}

/// Plans a list.
pub(crate) fn plan(scope: &Scope<'_>, query: &RecordQuery) -> Result<ReadPlan> {
    let ground = ground(scope, Operation::List, query);
    let table = scope.table(Operation::List, &query.table)?;
    prove(query)?;
    let mut root = root(ground, table, query)?;
    if query.distinct {
        return super::distinct::plan(root, query);
    }
    order::complete(&ground, table, &mut root.order);
    if let Some(token) = &query.after {
        cursor::pageable(&ground, table)?;
        root.paged = true;
        root.after = After::read(token, table, &root.order)?;
    }
    let (mut parts, rows) = joined(&root, query, &[], |shape, _| (shape, Envelope::Record))?;
    let next = query.after.is_some().then(|| Next::new(&root, parts.fetched.len()));
    if query.page.is_some() {
        parts.reads.push(count(&root)?);
    }
    let read = select(&root, &parts, next.is_some())?;
    parts.reads.push(read);
    let small = root.bounds.limit.is_some_and(|limit| limit <= WHOLE_ROWS);
    Ok(ReadPlan { reads: parts.reads, sink: ListSink::records(rows, query.page.is_some(), next), small })
}

/// Rejects options that can't be combined.
fn prove(query: &RecordQuery) -> Result<()> {
    let refuse = |message: &str| Err(Error::new(Code::InvalidRequest, message));
    if query.after.is_some() && query.page.is_some() {
        return refuse("`after` and `page` are two ways to page; use one");
    }
    if query.distinct && (query.after.is_some() || !query.joins.is_empty()) {
        return refuse("`distinct` can't be used with `after` or `join`");
    }
    if query.having.is_some() {
        return refuse("`having` is about groups; use `filter`, or ask for a `group` or an aggregate");
    }
    Ok(())
}
