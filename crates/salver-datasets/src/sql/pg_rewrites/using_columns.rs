//! Columns of `using` in right and full joins: the merged column is that of the side that exists. The engine takes the
//! left one, which is null if the left side is missing. In a `where` it resolves neither, whatever the join.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, GroupByExpr, Ident, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, OrderByKind, Query,
    ReplaceSelectElement, ReplaceSelectItem, Select, SelectItem, SetExpr, TableFactor, TableWithJoins, VisitMut,
    WildcardAdditionalOptions,
};
use salver_model::Error;

use super::outside_subqueries::outside_queries;
use super::{Flow, refused};

/// A merged column and its value.
#[derive(Clone)]
struct Merged {
    name: Ident,
    value: Expr,
    /// Whether the engine resolves it, except in a `where`.
    is_found: bool,
}

/// Rewrites joins in parentheses that have a name, and merge columns, to queries: the engine would give the columns of
/// both sides.
pub(super) fn named_joins(from: &mut TableWithJoins) -> Result<(), Box<Error>> {
    let factors = std::iter::once(&mut from.relation).chain(from.joins.iter_mut().map(|join| &mut join.relation));
    for factor in factors {
        let TableFactor::NestedJoin { table_with_joins, alias: alias @ Some(_) } = factor else { continue };
        let merges = table_with_joins.joins.iter().filter_map(|join| constraint_of(&join.join_operator));
        if !merges.into_iter().any(|own| matches!(own, JoinConstraint::Using(_) | JoinConstraint::Natural)) {
            continue;
        }
        let Expr::Subquery(mut subquery) = super::expression("(select * from t)", Vec::new())? else { continue };
        if let SetExpr::Select(select) = &mut *subquery.body {
            select.from = vec![(**table_with_joins).clone()];
        }
        *factor = TableFactor::Derived { lateral: false, subquery, alias: alias.take(), sample: None };
    }
    Ok(())
}

/// Writes out the merged columns of a `select`.
pub(super) fn of_select(select: &mut Select) -> Result<(), Box<Error>> {
    let mut merged = of_tables(&select.from)?;
    if merged.is_empty() {
        return Ok(());
    }
    select.selection.iter_mut().try_for_each(|condition| write_out(condition, &merged))?;
    merged.retain(|column| !column.is_found);
    for item in &mut select.projection {
        match item {
            SelectItem::Wildcard(options) => replace(options, &merged),
            SelectItem::UnnamedExpr(Expr::Identifier(name)) => {
                if let Some(found) = find(&merged, name) {
                    *item = SelectItem::ExprWithAlias { expr: found.value.clone(), alias: name.clone() };
                }
            }
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => write_out(expr, &merged)?,
            _ => {}
        }
    }
    if let GroupByExpr::Expressions(groups, _) = &mut select.group_by {
        groups.iter_mut().try_for_each(|group| write_out(group, &merged))?;
    }
    let conditions = [&mut select.prewhere, &mut select.having, &mut select.qualify];
    conditions.into_iter().flatten().try_for_each(|condition| write_out(condition, &merged))?;
    match VisitMut::visit(&mut select.distinct, &mut Names(&merged)) {
        ControlFlow::Continue(()) => {}
        ControlFlow::Break(error) => return Err(error),
    }
    match VisitMut::visit(&mut select.named_window, &mut Names(&merged)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// Writes out the merged columns in the order of a query, except for names of its projection.
pub(super) fn of_order(query: &mut Query) -> Result<(), Box<Error>> {
    let SetExpr::Select(select) = &*query.body else { return Ok(()) };
    let Some(OrderByKind::Expressions(keys)) = query.order_by.as_mut().map(|order| &mut order.kind) else {
        return Ok(());
    };
    let mut merged = of_tables(&select.from)?;
    merged.retain(|column| !column.is_found);
    for key in keys {
        match &key.expr {
            Expr::Identifier(name) if is_column(name, &select.projection) => {}
            _ => write_out(&mut key.expr, &merged)?,
        }
    }
    Ok(())
}

/// Returns whether a query has a column of this name.
fn is_column(name: &Ident, projection: &[SelectItem]) -> bool {
    projection.iter().any(|item| match item {
        SelectItem::Wildcard(_) => true,
        SelectItem::ExprWithAlias { alias, .. } => is_same(alias, name),
        SelectItem::UnnamedExpr(Expr::Identifier(own)) => is_same(own, name),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(path)) => path.last().is_some_and(|own| is_same(own, name)),
        _ => false,
    })
}

/// Returns whether two names are equal.
pub(super) fn is_same(one: &Ident, other: &Ident) -> bool {
    match (one.quote_style, other.quote_style) {
        (Some(_), Some(_)) => one.value == other.value,
        _ => one.value.eq_ignore_ascii_case(&other.value),
    }
}

fn find<'m>(merged: &'m [Merged], name: &Ident) -> Option<&'m Merged> {
    merged.iter().find(|column| is_same(&column.name, name))
}

fn write_out(expr: &mut Expr, merged: &[Merged]) -> Result<(), Box<Error>> {
    outside_queries(expr, &mut |part| {
        if let Expr::Identifier(name) = part
            && let Some(found) = find(merged, name)
        {
            *part = found.value.clone();
        }
        Ok(())
    })
}

struct Names<'m>(&'m [Merged]);

impl datafusion::sql::sqlparser::ast::VisitorMut for Names<'_> {
    type Break = Box<Error>;

    fn post_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        if let Expr::Identifier(name) = expr
            && let Some(found) = find(self.0, name)
        {
            *expr = found.value.clone();
        }
        Flow::Continue(())
    }
}

/// Replaces the columns of the left side in a `*`.
fn replace(options: &mut WildcardAdditionalOptions, merged: &[Merged]) {
    let items = merged.iter().map(|column| {
        let (expr, column_name) = (column.value.clone(), column.name.clone());
        Box::new(ReplaceSelectElement { expr, column_name, as_keyword: true })
    });
    match &mut options.opt_replace {
        Some(replaced) => replaced.items.extend(items),
        None => options.opt_replace = Some(ReplaceSelectItem { items: items.collect() }),
    }
}

/// Returns the columns that the joins of these tables merge.
fn of_tables(tables: &[TableWithJoins]) -> Result<Vec<Merged>, Box<Error>> {
    let mut merged = Vec::new();
    for table in tables {
        merged.extend(of_joins(table)?);
    }
    Ok(merged)
}

fn of_joins(table: &TableWithJoins) -> Result<Vec<Merged>, Box<Error>> {
    let mut merged = within(&table.relation)?;
    for (number, join) in table.joins.iter().enumerate() {
        let inner = within(&join.relation)?;
        let own = constraint_of(&join.join_operator);
        own.map_or(Ok(()), |constraint| not_again(constraint, &inner))?;
        // A column that this join merges too is this join's.
        let is_own = |column: &Merged| own.into_iter().flat_map(names).any(|name| is_same(name, &column.name));
        let (repeated, inner): (Vec<_>, Vec<_>) = inner.into_iter().partition(is_own);
        merged.extend(inner);
        let (constraint, keeps_left) = match &join.join_operator {
            JoinOperator::Right(constraint) | JoinOperator::RightOuter(constraint) => (constraint, false),
            JoinOperator::FullOuter(constraint) => (constraint, true),
            JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) => {
                not_again(constraint, &merged)?;
                merged_again(constraint, &mut merged);
                found(constraint, &join.relation, &repeated, &mut merged);
                // Of joins in parentheses, which have no name: both sides are equal.
                let unnamed = repeated.into_iter().filter(|column| find(&merged, &column.name).is_none());
                let unnamed = unnamed.map(|column| Merged { is_found: false, ..column }).collect::<Vec<_>>();
                merged.extend(unnamed);
                continue;
            }
            JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => {
                not_again(constraint, &merged)?;
                merged_again(constraint, &mut merged);
                // After other joins, the column is that of those.
                if number == 0 {
                    found(constraint, &table.relation, &repeated, &mut merged);
                }
                continue;
            }
            _ => continue,
        };
        not_again(constraint, &merged)?;
        match constraint {
            JoinConstraint::Using(_) => {
                for name in names(constraint) {
                    let right = column(&join.relation, name)?;
                    let value = if keeps_left {
                        // The table with this column is not known here.
                        let left = if number == 0 { Some(&table.relation) } else { None };
                        let left = left.map_or_else(|| Err(unknown(name)), |left| column(left, name))?;
                        super::expression("coalesce(__1, __2)", vec![left, right])?
                    } else {
                        right
                    };
                    merged.retain(|column| !is_same(&column.name, name));
                    merged.push(Merged { name: name.clone(), value, is_found: false });
                }
            }
            JoinConstraint::Natural => {
                return Err(refused(
                    "a natural join that is `right` or `full` is not supported",
                    "name the columns, as in `full join t using (id)`",
                ));
            }
            _ => {}
        }
    }
    Ok(merged)
}

/// Returns the condition of a join that may name columns.
pub(in crate::sql) fn constraint_of(operator: &JoinOperator) -> Option<&JoinConstraint> {
    match operator {
        JoinOperator::Join(constraint)
        | JoinOperator::Inner(constraint)
        | JoinOperator::Left(constraint)
        | JoinOperator::LeftOuter(constraint)
        | JoinOperator::Right(constraint)
        | JoinOperator::RightOuter(constraint)
        | JoinOperator::FullOuter(constraint) => Some(constraint),
        _ => None,
    }
}

/// Returns the columns of `using`.
fn names(constraint: &JoinConstraint) -> impl Iterator<Item = &Ident> {
    let columns = match constraint {
        JoinConstraint::Using(columns) => columns.as_slice(),
        _ => &[],
    };
    columns.iter().filter_map(only)
}

/// Adds the merged columns as columns of a side that is never missing. The engine resolves them, except for those that
/// the right side, a join in parentheses, has merged already: it finds several of that name.
fn found(constraint: &JoinConstraint, side: &TableFactor, repeated: &[Merged], merged: &mut Vec<Merged>) {
    for name in names(constraint) {
        if let (None, Ok(value)) = (find(merged, name), column(side, name)) {
            merged.push(Merged { name: name.clone(), value, is_found: find(repeated, name).is_none() });
        }
    }
}

/// Marks the columns that a second join merges again: the engine finds several of that name.
fn merged_again(constraint: &JoinConstraint, merged: &mut [Merged]) {
    for name in names(constraint) {
        if let Some(column) = merged.iter_mut().find(|column| is_same(&column.name, name)) {
            column.is_found = false;
        }
    }
}

/// Returns the merged columns of joins in parentheses.
fn within(factor: &TableFactor) -> Result<Vec<Merged>, Box<Error>> {
    match factor {
        TableFactor::NestedJoin { table_with_joins, alias: None } => of_joins(table_with_joins),
        _ => Ok(Vec::new()),
    }
}

/// Refuses to join by a column that is merged already, because the engine would take the left one.
fn not_again(constraint: &JoinConstraint, merged: &[Merged]) -> Result<(), Box<Error>> {
    let again = match constraint {
        JoinConstraint::Using(_) => {
            names(constraint).find(|name| find(merged, name).is_some_and(|column| !column.is_found))
        }
        JoinConstraint::Natural => merged.iter().find(|column| !column.is_found).map(|column| &column.name),
        _ => None,
    };
    match again {
        None => Ok(()),
        Some(name) => Err(unknown(name)),
    }
}

fn unknown(name: &Ident) -> Box<Error> {
    refused(
        format!("a join with a right or full join by `using ({name})` is not supported"),
        format!("write which column is meant, as in `on coalesce(a.{name}, b.{name}) = c.{name}`"),
    )
}

fn only(name: &ObjectName) -> Option<&Ident> {
    match name.0.as_slice() {
        [ObjectNamePart::Identifier(only)] => Some(only),
        _ => None,
    }
}

/// Returns the qualifier of a table's columns.
pub(super) fn name_of(factor: &TableFactor) -> Option<Ident> {
    match factor {
        TableFactor::Table { alias: Some(alias), .. }
        | TableFactor::Derived { alias: Some(alias), .. }
        | TableFactor::Function { alias: Some(alias), .. }
        | TableFactor::UNNEST { alias: Some(alias), .. }
        | TableFactor::NestedJoin { alias: Some(alias), .. } => Some(alias.name.clone()),
        TableFactor::Table { name, alias: None, .. } => name.0.last().and_then(ObjectNamePart::as_ident).cloned(),
        _ => None,
    }
}

/// Returns the column of a table.
fn column(factor: &TableFactor, name: &Ident) -> Result<Expr, Box<Error>> {
    match name_of(factor) {
        Some(table) => Ok(Expr::CompoundIdentifier(vec![table, name.clone()])),
        None => Err(refused(
            format!("`using ({name})` joins with something that has no name"),
            "name it, as in `(select ...) as t`",
        )),
    }
}
