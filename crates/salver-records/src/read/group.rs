//! Groups and aggregates: one row per group, with the same semantics and the same numbers on every system.

mod output_column;

use std::sync::Arc;

use salver_model::records::{ColumnKind, Condition, Document, Operation, Order, RecordQuery, TableInfo};
use salver_model::{Code, Error, Result, suggest};

use self::output_column::Item;
use super::document::ListSink;
use super::join::{RowTemplates, Template};
use super::list::{ground, root};
use super::order::direction;
use super::plan::{ReadPlan, run};
use super::root_rows::Root;
use super::rows::{Envelope, RowsWriter};
use super::statements;
use crate::condition::{ConditionContext, Operand, test, tree};
use crate::dialect::Sql;
use crate::scope::Scope;

/// Returns whether the query has groups or aggregates.
pub(crate) fn is_grouped(query: &RecordQuery) -> bool {
    !query.group.is_empty() || !query.aggregates.is_empty()
}

/// Returns a list of groups.
pub(crate) async fn list(scope: &Scope<'_>, query: &RecordQuery) -> Result<Document> {
    let plan = plan(scope, query)?;
    run(scope, plan).await
}

/// Plans a list of groups.
pub(crate) fn plan(scope: &Scope<'_>, query: &RecordQuery) -> Result<ReadPlan> {
    let ground = ground(scope, Operation::List, query);
    let table = scope.table(Operation::List, &query.table)?;
    if query.after.is_some() || query.distinct || !query.joins.is_empty() || query.include.is_some() {
        return Err(Error::new(
            Code::InvalidRequest,
            "`group` and aggregates can't be used with `join`, `include`, `distinct` or `after`",
        ));
    }
    let items = items(&ground, table, query)?;
    let mut unordered = query.clone();
    unordered.order.clear();
    let root = root(ground, table, &unordered)?;
    let mut reads = Vec::with_capacity(2);
    if query.page.is_some() {
        let mut sql = scope.sql();
        // A group without rows still counts, so the counted subquery selects an aggregate.
        sql.push("SELECT COUNT(*) FROM (SELECT COUNT(*) AS n");
        groups(&root, &items, query, &mut sql)?;
        sql.push(") AS q");
        reads.push(statements::read(sql, vec![ColumnKind::BigInt]));
    }
    let mut sql = scope.sql();
    let mut first = true;
    sql.push("SELECT ");
    for item in &items {
        sql.separate(&mut first, ", ").push(&item.selected);
    }
    groups(&root, &items, query, &mut sql)?;
    order(&ground, table, &items, &query.order, &mut sql)?;
    root.bounds.write(&mut sql);
    reads.push(statements::read(sql, items.iter().map(|item| item.kind).collect()));
    let members = items.iter().enumerate().map(|(cell, item)| (item.column.name.as_str(), item.form, cell));
    let shape = Arc::new(RowTemplates { root: Template::flat(members), branches: Vec::new() });
    let sink = ListSink::records(RowsWriter::new(shape, Envelope::Record, scope.rows()), query.page.is_some(), None);
    Ok(ReadPlan { reads, sink, small: false })
}

/// Returns the columns of each group.
fn items(ground: &ConditionContext<'_>, table: &TableInfo, query: &RecordQuery) -> Result<Vec<Item>> {
    let mut items: Vec<Item> = Vec::with_capacity(query.group.len() + query.aggregates.len());
    for name in &query.group {
        items.push(Item::group(ground.scope, table, ground.column(table, name)?));
    }
    for aggregate in &query.aggregates {
        let column = aggregate.column.as_ref().map(|name| ground.column(table, name)).transpose()?;
        items.push(Item::aggregate(ground.scope.dialect, &aggregate.name, aggregate.function, column)?);
    }
    for (at, item) in items.iter().enumerate() {
        if items[..at].iter().any(|other| other.column.name == item.column.name) {
            return Err(Error::new(Code::InvalidRequest, format!("two columns are called `{}`", item.column.name))
                .with_hint("give the aggregate another name"));
        }
    }
    Ok(items)
}

/// Appends ` FROM ... WHERE ... GROUP BY ... HAVING ...`.
fn groups(root: &Root<'_>, items: &[Item], query: &RecordQuery, sql: &mut Sql) -> Result<()> {
    root.rows(sql)?;
    let mut first = true;
    for item in items.iter().filter(|item| item.is_group) {
        sql.push(if first { " GROUP BY " } else { ", " }).push(&item.bare);
        first = false;
    }
    if let Some(having) = &query.having {
        sql.push(" HAVING ");
        let push = &mut |condition: &Condition, _: usize, sql: &mut Sql| {
            let Condition::Test { path, operator, negated, value } = condition else { return Ok(false) };
            let item = find(items, path).ok_or_else(|| unknown(items, path, Code::InvalidFilter))?;
            let operand = Operand::expression(sql.dialect, &item.column, item.bare.clone());
            test(&root.ground, operand, (*operator, *negated, value), sql).map(|()| true)
        };
        if !tree(having, 0, push, sql)? {
            sql.push("1=1");
        }
    }
    Ok(())
}

fn find<'i>(items: &'i [Item], path: &[String]) -> Option<&'i Item> {
    let [name] = path else { return None };
    items.iter().find(|item| item.column.name == *name)
}

fn unknown(items: &[Item], path: &[String], code: Code) -> Error {
    let names: Vec<&str> = items.iter().map(|item| item.column.name.as_str()).collect();
    let given = path.join(".");
    Error::new(code, format!("no group or aggregate is called `{given}`"))
        .with_hint_if(suggest::hint(&given, names.iter().copied()))
}

/// Appends the order: as requested, then by the grouped columns, which are unique together.
fn order(
    ground: &ConditionContext<'_>,
    table: &TableInfo,
    items: &[Item],
    asked: &[Order],
    sql: &mut Sql,
) -> Result<()> {
    let mut sorts: Vec<(&Item, bool)> = Vec::new();
    for key in asked {
        match find(items, &key.path) {
            Some(item) => sorts.push((item, key.descending)),
            None if ground.strict => {
                let mut error = unknown(items, &key.path, Code::InvalidSort);
                error.message = format!("groups of `{}` can't be sorted by `{}`", table.name, key.path.join("."));
                return Err(error);
            }
            None => {}
        }
    }
    for item in items.iter().filter(|item| item.is_group) {
        if !sorts.iter().any(|(own, _)| own.column.name == item.column.name) {
            sorts.push((item, false));
        }
    }
    for (at, (item, descending)) in sorts.iter().enumerate() {
        let operand = Operand::expression(sql.dialect, &item.column, item.bare.clone());
        sql.push(if at == 0 { " ORDER BY " } else { ", " }).push(operand.text());
        direction(*descending, item.column.nullable, sql);
    }
    Ok(())
}
