//! Arrays of the rows of a query: `array(select x from t order by y)`.

use datafusion::sql::sqlparser::ast::{Expr, OrderByKind, Query, SelectItem, SetExpr};
use salver_model::Error;

use super::derived_tables::{ROWS, put, value};
use super::row_wise::is_plain;
use super::{expression, refused};

/// Rewrites `array(select x from t order by y)` to an aggregate.
pub(super) fn array(query: Box<Query>) -> Result<Expr, Box<Error>> {
    let mut query = query;
    // The aggregate gets the order where possible; the order of a derived table is not kept.
    if let Some(order) = &query.order_by
        && let OrderByKind::Expressions(keys) = &order.kind
        && query.limit_clause.is_none()
        && query.with.is_none()
        && let SetExpr::Select(select) = &*query.body
        && is_plain(select)
        && let [SelectItem::UnnamedExpr(item)] = select.projection.as_slice()
    {
        let own = |key: &Expr| if matches!(key, Expr::Value(_)) { item.to_string() } else { key.to_string() };
        let keys: Vec<String> = keys.iter().map(|key| format!("{}{}", own(&key.expr), key.options)).collect();
        let made = expression(&filled(&format!("array_agg(__1 order by {})", keys.join(", "))), vec![item.clone()])?;
        query.order_by = None;
        if let SetExpr::Select(select) = &mut *query.body {
            select.projection = vec![SelectItem::UnnamedExpr(made)];
        }
        return Ok(Expr::Subquery(query));
    }
    if query.order_by.is_none() {
        return value(&filled("array_agg(v)"), &query);
    }
    let keys = beside(&mut query)?;
    let (names, order): (Vec<_>, Vec<_>) = keys.into_iter().unzip();
    let columns: String = names.iter().flatten().map(|name| format!(", {name}")).collect();
    let words = filled(&format!("array_agg(v order by {})", order.join(", ")));
    let mut made = expression(&format!("(select {words} from (select 1) as {ROWS}(v{columns}))"), Vec::new())?;
    put(&mut made, &query);
    Ok(made)
}

/// Adds the sort keys of a query to its only column `v`. Returns for each the name of its column, if it has one, and
/// its form in an `order by`.
fn beside(query: &mut Query) -> Result<Vec<(Option<String>, String)>, Box<Error>> {
    let wrong = || refused("an array of these rows can't be in this order", "order by the value itself, or its alias");
    let keys = match query.order_by.as_ref().map(|order| &order.kind) {
        Some(OrderByKind::Expressions(keys)) => keys.clone(),
        _ => return Err(wrong()),
    };
    let (mut made, mut columns) = (Vec::new(), Vec::new());
    for (number, key) in keys.iter().enumerate() {
        let is_value = match &*query.body {
            SetExpr::Select(select) => match select.projection.as_slice() {
                [SelectItem::UnnamedExpr(item)] => key.expr == *item,
                [SelectItem::ExprWithAlias { expr, alias }] => {
                    key.expr == *expr || key.expr == Expr::Identifier(alias.clone())
                }
                _ => return Err(wrong()),
            },
            _ => false,
        };
        if is_value || matches!(key.expr, Expr::Value(_)) {
            made.push((None, format!("v{}", key.options)));
            continue;
        }
        let name = format!("{ROWS}_{}", number + 1);
        made.push((Some(name.clone()), format!("{name}{}", key.options)));
        columns.push(SelectItem::UnnamedExpr(key.expr.clone()));
    }
    if !columns.is_empty() {
        // Distinct rows would change with another column.
        let SetExpr::Select(select) = &mut *query.body else { return Err(wrong()) };
        if select.distinct.is_some() {
            return Err(wrong());
        }
        select.projection.extend(columns);
    }
    if query.limit_clause.is_none() && query.fetch.is_none() {
        query.order_by = None;
    }
    Ok(made)
}

/// Returns an array that is empty instead of null for no rows.
fn filled(array: &str) -> String {
    format!("coalesce({array}, make_array())")
}
