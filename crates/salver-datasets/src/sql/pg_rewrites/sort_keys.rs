//! Sort keys of a query that refer to its projection: column names, and `order by all`.

use std::collections::HashSet;
use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, GroupByExpr, Ident, ObjectNamePart, OrderByExpr, OrderByKind, Query, SelectItem, SetExpr, Value,
    ValueWithSpan, visit_expressions,
};
use salver_model::Error;

use super::function_names::name_of;
use super::outside_subqueries::outside_queries;
use super::refused;
use super::row_wise::{is_aggregated, is_grouped};
use super::using_columns::{self, is_same};

/// Functions that have another value each time.
const VOLATILE: [&str; 4] = ["gen_random_uuid", "rand", "random", "uuid"];

/// Replaces names by positions, for columns that have no name here but one in PostgreSQL: `x::text` is named `x`,
/// `count(*)` is named `count`. These take precedence over columns of the input, so that
/// `select x::text ... order by x` sorts by text.
pub(super) fn by_names(query: &mut Query) {
    let mut body = &*query.body;
    while let SetExpr::SetOperation { left, .. } = body {
        body = left;
    }
    let (SetExpr::Select(select), Some(order)) = (body, &mut query.order_by) else { return };
    let OrderByKind::Expressions(keys) = &mut order.kind else { return };
    // A key orders once. Each is replaced by an expression of any size.
    let mut seen = HashSet::new();
    keys.retain(|key| !matches!(key.expr, Expr::Identifier(_) | Expr::Value(_)) || seen.insert(key.expr.clone()));
    for key in keys {
        if let Expr::Identifier(asked) = &key.expr
            && let Some(number) = place(asked, &select.projection)
        {
            key.expr = match select.projection.get(number - 1) {
                // In a grouped query, the engine looks for a position among the groups.
                Some(SelectItem::UnnamedExpr(expr)) if is_grouped(select) => expr.clone(),
                _ => position(number),
            };
        }
    }
}

/// Replaces positions by what is selected there, in a query with groups: the engine looks for the column among the
/// groups, and `select upper(s) ... group by s order by 1` has none of it. What has another value each time stays.
pub(super) fn by_positions(query: &mut Query) {
    let (SetExpr::Select(select), Some(order)) = (&*query.body, &mut query.order_by) else { return };
    let OrderByKind::Expressions(keys) = &mut order.kind else { return };
    if select.distinct.is_some() || !is_aggregated(select) {
        return;
    }
    let is_written_out =
        |item: &&SelectItem| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. });
    let written_out = select.projection.iter().take_while(is_written_out).count();
    let groups: HashSet<&Expr> = match &select.group_by {
        GroupByExpr::Expressions(groups, _) => groups.iter().collect(),
        GroupByExpr::All(_) => HashSet::new(),
    };
    keys.retain_mut(|key| {
        let Expr::Value(ValueWithSpan { value: Value::Number(number, _), .. }) = &key.expr else { return true };
        let Some(place) = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1)) else { return true };
        let item = select.projection.get(place).filter(|_| place < written_out);
        let Some(SelectItem::UnnamedExpr(expr)) = item else { return true };
        match expr {
            // One value orders nothing.
            Expr::Value(_) => return false,
            Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {}
            expr if groups.contains(expr) || is_volatile(expr) => {}
            expr => key.expr = expr.clone(),
        }
        true
    });
    if keys.is_empty() {
        query.order_by = None;
    }
}

/// Returns whether an expression calls a function that has another value each time.
fn is_volatile(expr: &Expr) -> bool {
    let calls = visit_expressions(expr, |part| match part {
        Expr::Function(call) if VOLATILE.iter().any(|name| name_of(call).as_deref() == Some(name)) => {
            ControlFlow::Break(())
        }
        _ => ControlFlow::Continue(()),
    });
    calls.is_break()
}

/// Qualifies columns in sort expressions that have the same name as a column of the projection. An expression refers to
/// the input, and only a bare name refers to the projection; the engine resolves both in the projection.
pub(super) fn by_expressions(query: &mut Query) -> Result<(), Box<Error>> {
    let (SetExpr::Select(select), Some(order)) = (&*query.body, &mut query.order_by) else { return Ok(()) };
    let OrderByKind::Expressions(keys) = &mut order.kind else { return Ok(()) };
    let mut hidden = Vec::new();
    for item in &select.projection {
        if let SelectItem::ExprWithAlias { expr, alias } = item
            && !matches!(expr, Expr::Identifier(own) if is_same(own, alias))
            && reads(expr, alias)?
        {
            hidden.push(alias.clone());
        }
    }
    if hidden.is_empty() {
        return Ok(());
    }
    // In a grouped query, sort keys are groups.
    let table = match select.from.as_slice() {
        [only] if only.joins.is_empty() && is_grouped(select) => using_columns::name_of(&only.relation),
        _ => None,
    };
    for key in keys {
        if matches!(key.expr, Expr::Identifier(_)) {
            continue;
        }
        outside_queries(&mut key.expr, &mut |part| {
            let Expr::Identifier(name) = part else { return Ok(()) };
            if !hidden.iter().any(|own| is_same(own, name)) {
                return Ok(());
            }
            let Some(table) = &table else {
                let message = format!(
                    "`{name}` in an expression of `order by` is a column that is read, and one that is given has its \
                     name"
                );
                return Err(refused(message, format!("call the one that is given something else than `{name}`")));
            };
            *part = Expr::CompoundIdentifier(vec![table.clone(), name.clone()]);
            Ok(())
        })?;
    }
    Ok(())
}

/// Returns whether an expression reads a column of this name.
fn reads(expr: &Expr, name: &Ident) -> Result<bool, Box<Error>> {
    let mut found = false;
    outside_queries(&mut expr.clone(), &mut |part| {
        found |= matches!(part, Expr::Identifier(own) if is_same(own, name));
        Ok(())
    })?;
    Ok(found)
}

/// Returns the position of the only column of this name, if the engine names it differently.
fn place(asked: &Ident, projection: &[SelectItem]) -> Option<usize> {
    let mut found = None;
    for (index, item) in projection.iter().enumerate() {
        let is_one = match item {
            SelectItem::UnnamedExpr(expr) => name(expr).is_some_and(|name| is_same(name, asked)),
            SelectItem::ExprWithAlias { alias, .. } => is_same(alias, asked),
            // Its columns are not known here.
            _ => return None,
        };
        if is_one && found.replace((index, item)).is_some() {
            return None;
        }
    }
    match found? {
        (index, SelectItem::UnnamedExpr(Expr::Cast { .. } | Expr::Collate { .. } | Expr::Function(_))) => {
            Some(index + 1)
        }
        _ => None,
    }
}

/// Returns PostgreSQL's name for a column without an alias (`FigureColname` in its `parse_target.c`).
fn name(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(path) => path.last(),
        Expr::Nested(expr) | Expr::Cast { expr, .. } | Expr::Collate { expr, .. } => name(expr),
        Expr::Function(call) => call.name.0.last().and_then(ObjectNamePart::as_ident),
        _ => None,
    }
}

fn position(number: usize) -> Expr {
    Expr::value(Value::Number(number.to_string(), false))
}

/// Rewrites `order by all` to the positions of all columns.
pub(super) fn by_all(query: &mut Query) -> Result<(), Box<Error>> {
    let Some(order) = &mut query.order_by else { return Ok(()) };
    let OrderByKind::All(options) = &order.kind else { return Ok(()) };
    let columns = match &*query.body {
        SetExpr::Select(select) => {
            let all_are_expressions = select
                .projection
                .iter()
                .all(|item| matches!(item, SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. }));
            all_are_expressions.then_some(select.projection.len())
        }
        _ => None,
    };
    let Some(columns) = columns else {
        return Err(refused("`order by all` needs columns that are written out", "write `order by 1, 2, ...`"));
    };
    let options = *options;
    let key = |number: usize| OrderByExpr { expr: position(number), options, with_fill: None };
    order.kind = OrderByKind::Expressions((1..=columns).map(key).collect());
    Ok(())
}
