//! Subqueries as derived tables, for an aggregate over their rows or a condition on each.

use datafusion::sql::sqlparser::ast::{Expr, Query, SelectItem, SetExpr, TableFactor};
use salver_model::Error;

use super::expression;
use super::row_wise::is_plain;

/// Alias of a derived table. The same name for all of them keeps equal expressions equal, such as columns and groups;
/// each is the only one in its scope.
pub(super) const ROWS: &str = "__salver_rows";

/// Computes one value from a query: `words` over its only column `v`.
pub(super) fn value(words: &str, query: &Query) -> Result<Expr, Box<Error>> {
    // Outer columns can be referenced in a `where`, but not in a derived table.
    if let Some(item) = only_item(query) {
        let mut query = query.clone();
        if let SetExpr::Select(select) = &mut *query.body {
            let words = words.replace("(v)", "(__1)");
            select.projection = vec![SelectItem::UnnamedExpr(expression(&words, vec![item])?)];
        }
        return Ok(Expr::Subquery(Box::new(query)));
    }
    let columns = if words.contains('*') && !words.contains('v') { "" } else { "(v)" };
    let mut made = expression(&format!("(select {words} from (select 1) as {ROWS}{columns})"), Vec::new())?;
    if let Expr::Subquery(outer) = &mut made
        && let SetExpr::Select(select) = &mut *outer.body
        && let Some(TableFactor::Derived { subquery, .. }) = select.from.first_mut().map(|from| &mut from.relation)
    {
        **subquery = query.clone();
    }
    Ok(made)
}

/// Returns the projection of a query that is one value for each row that it reads.
fn only_item(query: &Query) -> Option<Expr> {
    let SetExpr::Select(select) = &*query.body else { return None };
    let is_whole =
        query.fetch.is_none() && query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none();
    match select.projection.as_slice() {
        [SelectItem::UnnamedExpr(item) | SelectItem::ExprWithAlias { expr: item, .. }]
            if is_whole && is_plain(select) && !matches!(item, Expr::Value(_)) =>
        {
            Some(item.clone())
        }
        _ => None,
    }
}

/// Replaces the `select 1` in the first table of an `exists` or a subquery by a query.
pub(super) fn put(made: &mut Expr, query: &Query) {
    match made {
        Expr::Nested(inner) | Expr::UnaryOp { expr: inner, .. } => put(inner, query),
        Expr::Exists { subquery: outer, .. } | Expr::Subquery(outer) => {
            if let SetExpr::Select(select) = &mut *outer.body
                && let Some(TableFactor::Derived { subquery, .. }) =
                    select.from.first_mut().map(|from| &mut from.relation)
            {
                **subquery = query.clone();
            }
        }
        _ => {}
    }
}
