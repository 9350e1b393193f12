//! A list: its statements, and the document they become.

use std::sync::Arc;

use salver_model::records::{ColumnKind, Document, Operation, RecordQuery, TableInfo};
use salver_model::{Code, Error, Result};

use super::bounds::Bounds;
use super::columns::Chooser;
use super::cursor::{self, After};
use super::document::{ListSink, Next};
use super::flat::Flat;
use super::join::{self, Branch};
use super::key;
use super::order;
use super::root::{ALIAS, Root};
use super::rows::{Envelope, Rows};
use super::stream;
use crate::condition::{Ground, Mark};
use crate::dialect::Sql;
use crate::scope::Scope;
use crate::statement::Read;

/// A list that has fewer rows than this at most is answered whole.
const WHOLE_ROWS_MAX: u64 = 1_000;
/// Longest list that is answered whole, in bytes.
const WHOLE_BYTES_MAX: usize = 1024 * 1024;

/// Statements, and what takes their rows.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) reads: Vec<Read>,
    pub(crate) sink: ListSink,
    /// Whether the answer is small enough to be held.
    pub(crate) small: bool,
}

/// Answers a list without groups.
pub(crate) async fn list(scope: &Scope<'_>, query: &RecordQuery) -> Result<Document> {
    let plan = plan(scope, query)?;
    run(scope, plan).await
}

/// Runs a plan.
pub(crate) async fn run(scope: &Scope<'_>, plan: Plan) -> Result<Document> {
    if plan.small {
        let sink = plan.sink.anew().within(WHOLE_BYTES_MAX);
        match scope.backend.read(plan.reads.clone(), sink, None).await {
            Ok(sink) => return Ok(Document::whole(sink.finish())),
            // Few rows, but wide ones: they go out as they come.
            Err(error) if error.code == Code::AnswerTooLarge => {}
            Err(error) => return Err(error),
        }
    }
    stream::streamed(Arc::clone(scope.backend), &scope.access.caller.holder(), plan.reads, plan.sink).await
}

/// The ground of a request that reads. Whether an entry is strict is the door's to know: a request may say otherwise.
pub(crate) fn ground<'s>(scope: &'s Scope<'s>, operation: Operation, query: &RecordQuery) -> Ground<'s> {
    Ground { scope, operation, strict: query.strict }
}

/// The rows a list is about.
pub(crate) fn root<'s>(ground: Ground<'s>, table: &'s TableInfo, query: &'s RecordQuery) -> Result<Root<'s>> {
    let mut root = Root::new(ground, table);
    root.filters.extend(&query.filter);
    root.search = query.search.as_deref().filter(|text| !text.is_empty());
    root.bounds = Bounds::of(ground.scope.spec(), query)?;
    root.order = order::asked(&ground, table, &query.order)?;
    Ok(root)
}

/// The statements of a list.
pub(crate) fn plan(scope: &Scope<'_>, query: &RecordQuery) -> Result<Plan> {
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
    let small = root.bounds.limit.is_some_and(|limit| limit <= WHOLE_ROWS_MAX);
    Ok(Plan { reads: parts.reads, sink: ListSink::records(rows, query.page.is_some(), next), small })
}

/// What can't be asked together.
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

/// The statements of what is joined, and what the first table's own must fetch.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) reads: Vec<Read>,
    /// Columns of the first table, shown ones first.
    pub(crate) fetched: Vec<usize>,
    /// What was prepared of the first table's own statement.
    flat: Option<Arc<Flat>>,
}

/// Plans what is joined to `root`, with the `forced` columns shown; `envelop` may take members out of the shape.
pub(crate) fn joined<'s>(
    root: &Root<'s>,
    query: &'s RecordQuery,
    forced: &[usize],
    envelop: impl FnOnce(join::Shape, &[usize]) -> (join::Shape, Envelope),
) -> Result<(Parts, Rows)> {
    let Ground { scope, operation, strict } = root.ground;
    if forced.is_empty()
        && key::is_whole(query)
        && let Some(flat) = Flat::of(scope, operation, root.table)
    {
        let rows = Rows::new(Arc::clone(&flat.shape), Envelope::Record, scope.spec().rows_max);
        return Ok((Parts { reads: Vec::new(), fetched: flat.fetched.clone(), flat: Some(flat) }, rows));
    }
    let mut chooser = Chooser::of(query);
    let nodes = if query.joins.is_empty() { Vec::new() } else { join::tree(&root.ground, root.table, query)? };
    if strict {
        chooser.prove(scope, operation, &join::tables(root.table, &nodes))?;
    }
    chooser.force(root.table, forced);
    join::force_keys(&root.ground, root.table, &nodes, &mut chooser);
    let shown = chooser.shown(scope, operation, root.table, true);
    let mut branches: Vec<Branch<'s>> = join::branches(&root.ground, (root.table, &shown), &nodes, query, &chooser)?;
    let mut fetched = shown.clone();
    let shape = join::shape(scope, root.table, &shown, &mut fetched, &mut branches);
    let reads = branches.iter().rev().map(|branch| branch.read(&branches, root)).collect::<Result<_>>()?;
    let (shape, envelope) = envelop(shape, &fetched);
    Ok((Parts { reads, fetched, flat: None }, Rows::new(Arc::new(shape), envelope, scope.spec().rows_max)))
}

/// The statement that counts the rows of all pages.
pub(crate) fn count(root: &Root<'_>) -> Result<Read> {
    let mut sql = root.ground.scope.sql();
    sql.push("SELECT COUNT(*)");
    root.rows_of_all_pages(&mut sql)?;
    Ok(read(sql, vec![ColumnKind::BigInt]))
}

/// The statement that fetches the rows themselves; with `paged` also the values of their order, and one row more than
/// the page has.
pub(crate) fn select(root: &Root<'_>, parts: &Parts, paged: bool) -> Result<Read> {
    let (table, dialect) = (root.table, root.ground.scope.dialect);
    let mut sql = root.ground.scope.sql();
    if let Some(flat) = parts.flat.as_ref().filter(|_| !paged) {
        sql.push(&flat.select);
        root.rows(&mut sql)?;
        root.order_and_bounds(&mut sql)?;
        return Ok(Read { sql: sql.text.into(), binds: sql.binds, kinds: Arc::clone(&flat.kinds), point: false });
    }
    let mut kinds = Vec::with_capacity(parts.fetched.len());
    let mut first = true;
    sql.push("SELECT ");
    for index in &parts.fetched {
        sql.separate(&mut first, ", ");
        dialect.select(&table.columns[*index], ALIAS, &mut sql);
        kinds.push(table.columns[*index].kind);
    }
    for sort in root.order.iter().filter(|_| paged) {
        sql.separate(&mut first, ", ");
        let mark = Mark::of(dialect, sort.column);
        sql.push(mark.fetched.0);
        order::expression(&root.ground, table, ALIAS, (sort, mark.sorted), &mut sql)?;
        sql.push(mark.fetched.1);
        kinds.push(mark.kind);
    }
    if first {
        // No column is shown, but a row is still a row.
        sql.push("1");
        kinds.push(ColumnKind::Integer);
    }
    root.rows(&mut sql)?;
    let mut bounds = root.bounds;
    bounds.limit = bounds.limit.map(|limit| limit.saturating_add(u64::from(paged)));
    order::order_by(&root.ground, table, ALIAS, (&root.order, paged), &mut sql)?;
    bounds.write(&mut sql);
    Ok(read(sql, kinds))
}

/// A finished statement.
pub(crate) fn read(sql: Sql, kinds: Vec<ColumnKind>) -> Read {
    Read { sql: sql.text.into(), binds: sql.binds, kinds: kinds.into(), point: false }
}
