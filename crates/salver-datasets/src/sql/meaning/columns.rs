//! Subqueries where a value is computed, and not a condition asked: in columns, groups, orders, and in what goes into
//! functions. The engine has `exists` in conditions only; here it becomes a number of rows (`in` does so in the
//! engine's plan, where its columns are known).

use datafusion::sql::sqlparser::ast::{Expr, GroupByExpr, Ident, OrderBy, OrderByKind, Select, SelectItem, SetExpr};
use salver_model::Error;

use super::compared::row;
use super::derived::value;
use super::outside::outside_queries;
use super::plain::is_plain;
use super::subqueries;
use super::{expression, quoted};

/// Those of a `select`.
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
        // It is a condition itself.
        outside_queries(having, &mut |expr| {
            if matches!(expr, Expr::Function(_)) { counted(expr).map(drop) } else { Ok(()) }
        })?;
    }
    Ok(())
}

/// Those of an `order by`.
pub(super) fn of_order(order: Option<&mut OrderBy>) -> Result<(), Box<Error>> {
    if let Some(OrderByKind::Expressions(keys)) = order.map(|order| &mut order.kind) {
        for key in keys {
            counted(&mut key.expr)?;
        }
    }
    Ok(())
}

/// What a column is called that has no name: as PostgreSQL calls it, or as it is written.
fn name(expr: &Expr) -> Ident {
    match expr {
        Expr::Exists { negated: false, .. } => quoted("exists"),
        Expr::Exists { .. } | Expr::AnyOp { .. } | Expr::AllOp { .. } => quoted("?column?"),
        expr => quoted(&expr.to_string()),
    }
}

/// Writes them as numbers of rows; whether there were any.
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

/// Whether an expression is written with `exists`, `in` or numbers of rows when it is rewritten.
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
