//! The order of rows. Nulls are smallest on every system, and the order always ends with a unique key, which makes it
//! deterministic.

use ahash::AHashSet;
use salver_model::limits::{KEYLESS_ORDER_COLUMNS_MAX, WAY_TABLES_MAX};
use salver_model::records::{ColumnInfo, Order, TableInfo};
use salver_model::{Code, Error, Result, suggest};

use crate::condition::{Around, ConditionContext, Mark, Operand, scalar};
use crate::dialect::Dialect;
use crate::dialect::Sql;
use crate::relation::{Link, links};

/// The expression of a sort key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum By<'q> {
    /// A column of the table.
    Own(usize),
    /// A column of a related row.
    Related(&'q [String]),
}

/// One key of an order.
#[derive(Clone, Debug)]
pub(crate) struct Sort<'s> {
    pub(crate) by: By<'s>,
    /// The sorted column.
    pub(crate) column: &'s ColumnInfo,
    pub(crate) descending: bool,
}

impl Sort<'_> {
    pub(crate) fn nullable(&self) -> bool {
        self.column.nullable || matches!(self.by, By::Related(_))
    }
}

/// Returns the sort keys of a request. Invalid ones are ignored unless the request is strict.
pub(crate) fn asked<'s>(
    ground: &ConditionContext<'s>,
    table: &'s TableInfo,
    order: &'s [Order],
) -> Result<Vec<Sort<'s>>> {
    let mut sorts = Vec::with_capacity(order.len() + 1);
    for key in order {
        match resolve(ground, table, &key.path) {
            Some((by, column)) => sorts.push(Sort { by, column, descending: key.descending }),
            None if ground.refuses_names() => return Err(unknown(ground, table, &key.path)),
            None => {}
        }
    }
    Ok(sorts)
}

fn resolve<'s>(
    ground: &ConditionContext<'s>,
    table: &'s TableInfo,
    path: &'s [String],
) -> Option<(By<'s>, &'s ColumnInfo)> {
    let scope = ground.scope;
    let (last, way) = path.split_last()?;
    // Each table on the path is a nested subquery.
    (way.len() <= WAY_TABLES_MAX).then_some(())?;
    let mut here = table;
    for next in way {
        let there = scope.table(ground.operation, next).ok()?;
        let to_one = |link: &Link| matches!(link, Link::ToOne { .. });
        links(scope, ground.operation, here, there).iter().any(to_one).then_some(())?;
        here = there;
    }
    let index = scope.column(ground.operation, here, last)?;
    let by = if way.is_empty() { By::Own(index) } else { By::Related(path) };
    Some((by, &here.columns[index]))
}

fn unknown(ground: &ConditionContext<'_>, table: &TableInfo, path: &[String]) -> Error {
    let given = path.join(".");
    let columns = table.columns.iter().map(|column| column.name.as_str());
    let seen: Vec<&str> =
        columns.filter(|name| ground.scope.access.column(ground.operation, &table.name, name)).collect();
    Error::new(Code::InvalidSort, format!("`{}` can't be sorted by `{given}`", table.name))
        .with_hint_if(suggest::hint(&given, seen.iter().copied()))
}

/// Completes the order with the primary key, or, where there is none that is sure to be unique, with every visible
/// column, up to [`KEYLESS_ORDER_COLUMNS_MAX`]: databases take time quadratic in their number.
pub(crate) fn complete<'s>(ground: &ConditionContext<'s>, table: &'s TableInfo, sorts: &mut Vec<Sort<'s>>) {
    // In the direction of the preceding key, so that one index scan provides both.
    let descending = sorts.last().is_some_and(|sort| sort.descending);
    // Values of a masked key are not unique.
    let is_shown = !ground.scope.access.is_any_masked(ground.operation, table, &table.key);
    if is_shown {
        push_all(table, table.key.clone(), descending, sorts);
    }
    if table.key.is_empty() || table.key_assumed || !is_shown {
        let every = 0..table.columns.len();
        let seen = every
            .filter(|index| ground.scope.access.column(ground.operation, &table.name, &table.columns[*index].name))
            .take(KEYLESS_ORDER_COLUMNS_MAX);
        push_all(table, seen.collect(), descending, sorts);
    }
}

fn push_all<'s>(table: &'s TableInfo, columns: Vec<usize>, descending: bool, sorts: &mut Vec<Sort<'s>>) {
    let own = |sort: &Sort<'_>| match sort.by {
        By::Own(index) => Some(index),
        By::Related(_) => None,
    };
    let mut known: AHashSet<usize> = sorts.iter().filter_map(own).collect();
    for index in columns {
        if known.insert(index) {
            sorts.push(Sort { by: By::Own(index), column: &table.columns[index], descending });
        }
    }
}

/// Appends the sort expression in the form that compares, with the text `around` the column.
pub(crate) fn expression(
    ground: &ConditionContext<'_>,
    table: &TableInfo,
    alias: &str,
    (sort, around): (&Sort<'_>, Around),
    sql: &mut Sql,
) -> Result<()> {
    match sort.by {
        By::Own(index) => {
            let operand = Operand::column(sql.dialect, &table.columns[index], alias);
            sql.push(around.0).push(operand.sorted(around)).push(around.1);
        }
        By::Related(path) => {
            scalar(ground, (table, alias), (path, around), 0, sql)?;
        }
    }
    Ok(())
}

/// Returns the text around a sorted column: where the rows are paged, or the value comes from a subquery, the form in
/// which it is compared.
fn around(dialect: Dialect, sort: &Sort<'_>, paged: bool) -> Around {
    if paged || matches!(sort.by, By::Related(_)) { Mark::of(dialect, sort.column).sorted } else { ("", "") }
}

/// Appends ` ORDER BY ...`, or nothing without keys; `paged` when tokens are made of the sort keys.
pub(crate) fn order_by(
    ground: &ConditionContext<'_>,
    table: &TableInfo,
    alias: &str,
    (sorts, paged): (&[Sort<'_>], bool),
    sql: &mut Sql,
) -> Result<()> {
    let mut first = true;
    for sort in sorts {
        sql.push(if first { " ORDER BY " } else { ", " });
        first = false;
        expression(ground, table, alias, (sort, around(sql.dialect, sort, paged)), sql)?;
        direction(sort.descending, sort.nullable(), sql);
    }
    Ok(())
}

/// Appends the direction, and the position of nulls where the system's default differs.
pub(crate) fn direction(descending: bool, nullable: bool, sql: &mut Sql) {
    sql.push(if descending { " DESC" } else { "" });
    if sql.dialect == Dialect::Postgres && nullable {
        sql.push(if descending { " NULLS LAST" } else { " NULLS FIRST" });
    }
}
