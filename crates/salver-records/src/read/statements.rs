//! The statements that read rows of a table: those of its joins, its own, and the count.

use std::sync::Arc;

use salver_model::Result;
use salver_model::records::{ColumnKind, RecordQuery};

use super::columns::Chooser;
use super::join::{self, Branch};
use super::order;
use super::plain_rows::Flat;
use super::root_rows::{ALIAS, Root};
use super::rows::{Envelope, RowsWriter};
use crate::condition::{ConditionContext, Mark};
use crate::dialect::Sql;
use crate::statement::Read;

/// The statements of the joins, and the columns that the first table's own must fetch.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) reads: Vec<Read>,
    /// Columns of the first table, shown ones first.
    pub(crate) fetched: Vec<usize>,
    /// The prepared parts of the first table's own statement.
    flat: Option<Arc<Flat>>,
}

/// Plans the joins of `root`, with the `forced` columns shown; `envelop` may remove members from the shape.
pub(crate) fn joined<'s>(
    root: &Root<'s>,
    query: &'s RecordQuery,
    forced: &[usize],
    envelop: impl FnOnce(join::RowTemplates, &[usize]) -> (join::RowTemplates, Envelope),
) -> Result<(Parts, RowsWriter)> {
    let ConditionContext { scope, operation, .. } = root.ground;
    if forced.is_empty()
        && query.is_whole()
        && let Some(flat) = Flat::of(scope, operation, root.table)
    {
        let rows = RowsWriter::new(Arc::clone(&flat.shape), Envelope::Record, scope.rows());
        return Ok((Parts { reads: Vec::new(), fetched: flat.fetched.clone(), flat: Some(flat) }, rows));
    }
    let mut chooser = Chooser::of(query);
    let nodes = if query.joins.is_empty() { Vec::new() } else { join::tree(&root.ground, root.table, query)? };
    if root.ground.refuses_names() {
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
    Ok((Parts { reads, fetched, flat: None }, RowsWriter::new(Arc::new(shape), envelope, scope.rows())))
}

/// Returns the statement that counts the rows of all pages.
pub(crate) fn count(root: &Root<'_>) -> Result<Read> {
    let mut sql = root.ground.scope.sql();
    sql.push("SELECT COUNT(*)");
    root.rows_of_all_pages(&mut sql)?;
    Ok(read(sql, vec![ColumnKind::BigInt]))
}

/// Returns the statement that fetches the rows themselves; with `paged` also the values of their order, and one extra
/// row.
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
        // No column is shown, but each row still counts.
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

/// Returns a finished statement.
pub(crate) fn read(sql: Sql, kinds: Vec<ColumnKind>) -> Read {
    Read { sql: sql.text.into(), binds: sql.binds, kinds: kinds.into(), point: false }
}
