//! Sort keys of queries with set-returning functions. The engine sorts such a query by its own columns only; here the
//! other keys are columns of a subquery that are left out again:
//! `select * exclude (k) from (select i, unnest(l), t as k from r) order by k`.

use datafusion::sql::sqlparser::ast::{Expr, OrderByKind, Query, Select, SelectItem, SetExpr, Value};
use salver_model::Error;

use super::derived_tables::{ROWS, put};
use super::function_names::name_of;
use super::outside_subqueries::outside_queries;
use super::set_returning::list_of;
use super::using_columns::is_same;
use super::{expression, quoted, take};

/// Rewrites the `order by` of a query; what it refers to by name or position has been resolved.
pub(super) fn of_query(query: &mut Query) -> Result<(), Box<Error>> {
    let (SetExpr::Select(select), Some(order)) = (&mut *query.body, &mut query.order_by) else { return Ok(()) };
    let OrderByKind::Expressions(keys) = &mut order.kind else { return Ok(()) };
    // Rows that are told apart are sorted by their own columns, in PostgreSQL as well.
    if select.distinct.is_some() || !returns_sets(select)? {
        return Ok(());
    }
    let (mut carried, mut names) = (Vec::new(), Vec::new());
    for key in keys {
        match of_projection(&key.expr, &select.projection) {
            Some(Key::Itself) => {}
            Some(Key::Position(number)) => key.expr = Expr::value(Value::Number(number.to_string(), false)),
            None => {
                let alias = quoted(&format!("__salver_sort_{}", carried.len() + 1));
                let expr = std::mem::replace(&mut key.expr, Expr::Identifier(alias.clone()));
                names.push(alias.to_string());
                carried.push(SelectItem::ExprWithAlias { expr, alias });
            }
        }
    }
    if carried.is_empty() {
        return Ok(());
    }
    select.projection.extend(carried);
    let mut outer =
        expression(&format!("(select * exclude ({}) from (select 1) as {ROWS})", names.join(", ")), Vec::new())?;
    let Expr::Subquery(mut inner) = expression("(select 1)", Vec::new())? else { return Ok(()) };
    std::mem::swap(&mut inner.body, &mut query.body);
    put(&mut outer, &inner);
    if let Expr::Subquery(outer) = take(&mut outer) {
        query.body = outer.body;
    }
    Ok(())
}

/// A sort key that the projection has.
enum Key {
    /// A position or an alias.
    Itself,
    /// Position of the column with the same expression, from 1.
    Position(usize),
}

fn of_projection(key: &Expr, projection: &[SelectItem]) -> Option<Key> {
    if matches!(key, Expr::Value(_)) {
        return Some(Key::Itself);
    }
    let is_named = |item: &SelectItem| match (key, item) {
        (Expr::Identifier(name), SelectItem::ExprWithAlias { alias, .. }) => is_same(name, alias),
        _ => false,
    };
    if projection.iter().any(is_named) {
        return Some(Key::Itself);
    }
    for (index, item) in projection.iter().enumerate() {
        match item {
            SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } if expr == key => {
                return Some(Key::Position(index + 1));
            }
            SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. } => {}
            // The positions behind it are not known.
            _ => return None,
        }
    }
    None
}

/// Returns whether a projection has a set-returning function.
fn returns_sets(select: &mut Select) -> Result<bool, Box<Error>> {
    let mut found = false;
    for item in &mut select.projection {
        let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { continue };
        outside_queries(expr, &mut |part| {
            if let Expr::Function(function) = part
                && let Some(name) = name_of(function)
            {
                found |= name == "unnest" || list_of(&name).is_some();
            }
            Ok(())
        })?;
    }
    Ok(found)
}
