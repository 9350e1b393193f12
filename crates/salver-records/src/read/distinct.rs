//! Lists of distinct rows.

use std::sync::Arc;

use salver_model::records::{ColumnKind, RecordQuery};
use salver_model::{Code, Error, Result};

use super::document::ListSink;
use super::join::{RowTemplates, Template};
use super::order::{By, Sort, order_by};
use super::plan::ReadPlan;
use super::root_rows::{ALIAS, Root};
use super::rows::{Envelope, RowsWriter};
use super::statements;
use crate::condition::{ConditionContext, Operand};
use crate::dialect::Sql;
use crate::json::JsonForm;
use crate::read::columns::Chooser;

/// Plans a list of distinct rows. It can only be sorted by shown columns, and is sorted by all of them.
pub(super) fn plan<'s>(mut root: Root<'s>, query: &'s RecordQuery) -> Result<ReadPlan> {
    let ConditionContext { scope, operation, strict } = root.ground;
    let table = root.table;
    let chooser = Chooser::of(query);
    if root.ground.refuses_names() {
        chooser.prove(scope, operation, &[table])?;
    }
    let shown = chooser.shown(scope, operation, table, true);
    if shown.is_empty() {
        return Err(Error::new(Code::InvalidRequest, "`distinct` needs at least one column")
            .with_hint("name columns in `include`"));
    }
    let sortable = |sort: &Sort<'_>| matches!(sort.by, By::Own(index) if shown.contains(&index));
    if strict && !root.order.iter().all(sortable) {
        return Err(Error::new(Code::InvalidSort, "distinct rows can only be sorted by columns that are shown"));
    }
    root.order.retain(sortable);
    for index in &shown {
        if !root.order.iter().any(|sort| sort.by == By::Own(*index)) {
            root.order.push(Sort { by: By::Own(*index), column: &table.columns[*index], descending: false });
        }
    }
    let mut reads = Vec::with_capacity(2);
    if query.page.is_some() {
        let mut sql = scope.sql();
        sql.push("SELECT COUNT(*) FROM (");
        rows(&root, &shown, &mut sql)?;
        sql.push(") AS q");
        reads.push(statements::read(sql, vec![ColumnKind::BigInt]));
    }
    let mut sql = scope.sql();
    let mut first = true;
    sql.push("SELECT ");
    for index in &shown {
        sql.separate(&mut first, ", ");
        scope.dialect.select(&table.columns[*index], ALIAS, &mut sql);
    }
    sql.push(" FROM (");
    rows(&root, &shown, &mut sql)?;
    sql.push(") AS ").push(ALIAS);
    order_by(&root.ground, table, ALIAS, (&root.order, false), &mut sql)?;
    root.bounds.write(&mut sql);
    reads.push(statements::read(sql, shown.iter().map(|index| table.columns[*index].kind).collect()));
    let members = shown.iter().enumerate().map(|(cell, index)| {
        let column = &table.columns[*index];
        (column.name.as_str(), JsonForm::of(scope.spec(), table, column), cell)
    });
    let shape = Arc::new(RowTemplates { root: Template::flat(members), branches: Vec::new() });
    let sink = ListSink::records(RowsWriter::new(shape, Envelope::Record, scope.rows()), query.page.is_some(), None);
    Ok(ReadPlan { reads, sink, small: false })
}

/// Appends the select of distinct rows.
fn rows(root: &Root<'_>, shown: &[usize], sql: &mut Sql) -> Result<()> {
    sql.push("SELECT DISTINCT ");
    for (at, index) in shown.iter().enumerate() {
        sql.push(if at > 0 { ", " } else { "" });
        let column = &root.table.columns[*index];
        let operand = Operand::column(sql.dialect, column, ALIAS);
        if operand.is_by_text() {
            // The type may have no equality in the database.
            sql.push(operand.text()).push(" AS ").name(&column.real_name);
        } else {
            sql.column(ALIAS, root.table, *index);
        }
    }
    root.rows(sql)
}
