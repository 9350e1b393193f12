//! Subqueries that are values and not conditions: in projections, groups, orders, and arguments of functions. The
//! engine supports `exists` in conditions only; here it becomes a count of rows (`in` is rewritten in the engine's
//! plan, where its columns are known).

use datafusion::sql::sqlparser::ast::{Expr, GroupByExpr, Ident, OrderBy, OrderByKind, Select, SelectItem, SetExpr};
use salver_model::Error;

use super::derived_tables::value;
use super::outside_subqueries::outside_queries;
use super::row_comparison::row;
use super::row_wise::is_plain;
use super::subqueries;
use super::{expression, quoted};

/// Rewrites the subqueries of a `select`.
pub(super) fn of_select(select: &mut Select) -> Result<(), Box<Error>> {
    for item in &mut select.projection {
        match item {
            SelectItem::ExprWithAlias { expr, .. } => {
                counted(expr)?;
            }
            SelectItem::UnnamedExpr(expr) => {
                let name = name(expr);
                if counted(expr)? {
                    *item = SelectItem::ExprWithAlias { expr: super::take(expr), alias: name };
                }
            }
            _ => {}
        }
    }
    if let GroupByExpr::Expressions(groups, _) = &mut select.group_by {
        for group in groups {
            counted(group)?;
        }
    }
    if let Some(having) = &mut select.having {
        // This is a condition itself.
        outside_queries(having, &mut |expr| {
            if matches!(expr, Expr::Function(_)) { counted(expr).map(drop) } else { Ok(()) }
        })?;
    }
    Ok(())
}

/// Rewrites the subqueries of an `order by`.
pub(super) fn of_order(order: Option<&mut OrderBy>) -> Result<(), Box<Error>> {
    if let Some(OrderByKind::Expressions(keys)) = order.map(|order| &mut order.kind) {
        for key in keys {
            counted(&mut key.expr)?;
        }
    }
    Ok(())
}

/// Returns the name of an unnamed column: PostgreSQL's, or its SQL.
fn name(expr: &Expr) -> Ident {
    match expr {
        Expr::Exists { negated: false, .. } => quoted("exists"),
        Expr::Exists { .. } | Expr::AnyOp { .. } | Expr::AllOp { .. } => quoted("?column?"),
        expr => quoted(&expr.to_string()),
    }
}

/// Rewrites the subqueries to counts of rows; returns whether there were any.
fn counted(expr: &mut Expr) -> Result<bool, Box<Error>> {
    let mut found = false;
    outside_queries(expr, &mut |expr| {
        if matches!(expr, Expr::InSubquery { expr, .. } if row(expr).is_some()) {
            subqueries::row_as_value(expr)?;
            found = true;
        } else if becomes_another(expr) {
            subqueries::rewrite(expr)?;
            found |= counted(expr)?;
        } else {
            found |= count(expr)?;
        }
        Ok(())
    })?;
    Ok(found)
}

/// Returns whether an expression is rewritten to one with `exists`, `in` or counts of rows.
fn becomes_another(expr: &Expr) -> bool {
    match expr {
        Expr::AnyOp { right, .. } | Expr::AllOp { right, .. } => matches!(**right, Expr::Subquery(_)),
        _ => false,
    }
}

fn count(expr: &mut Expr) -> Result<bool, Box<Error>> {
    let Expr::Exists { subquery, negated } = expr else { return Ok(false) };
    let words = if *negated { "count(*) = 0" } else { "count(*) > 0" };
    let mut query = subquery.clone();
    let unlimited = query.limit_clause.is_none() && query.with.is_none();
    if let SetExpr::Select(select) = &mut *query.body
        && unlimited
        && is_plain(select)
    {
        select.projection = vec![SelectItem::UnnamedExpr(expression(words, Vec::new())?)];
        query.order_by = None;
        *expr = Expr::Subquery(query);
    } else {
        *expr = value(words, &query)?;
    }
    Ok(true)
}
