//! Scalar subqueries, as joins.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, FetchType, LogicalPlan, LogicalPlanBuilder, Subquery, ident};

use super::Before;

/// Prefix of the columns that hold values of subqueries.
const VALUE: &str = "__salver_value_";

/// Rewrites a projection or a filter to join the scalar subqueries that the engine does not support.
pub(super) fn looked_up(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let input = match &plan {
        LogicalPlan::Projection(projection) => &projection.input,
        LogicalPlan::Filter(filter) => &filter.input,
        _ => return Ok(Transformed::no(plan)),
    };
    let mut rows = input.as_ref().clone();
    let mut values = 0;
    let names = NamePreserver::new(&plan);
    let mut exprs = Vec::new();
    for expr in plan.expressions() {
        let name = names.save(&expr);
        let made = expr.transform_up(|part| {
            let Expr::ScalarSubquery(query) = &part else { return Ok(Transformed::no(part)) };
            let Some(with) = joined(&rows, query, values)? else { return Ok(Transformed::no(part)) };
            rows = with;
            values += 1;
            Ok(Transformed::yes(ident(format!("{VALUE}{}", values - 1))))
        })?;
        exprs.push(name.restore(made.data));
    }
    if values == 0 {
        return Ok(Transformed::no(plan));
    }
    let made = match &plan {
        LogicalPlan::Filter(filter) => {
            let own: Vec<Expr> = filter.input.schema().iter().map(Expr::from).collect();
            let condition = exprs.into_iter().reduce(Expr::and);
            let rows = LogicalPlanBuilder::from(rows);
            let rows = if let Some(condition) = condition { rows.filter(condition)? } else { rows };
            rows.project(own)?.build()?
        }
        _ => LogicalPlanBuilder::from(rows).project(exprs)?.build()?,
    };
    Ok(Transformed::yes(made))
}

/// Adds the value of a subquery to each row; returns `None` if it can't be decorrelated in this way.
fn joined(rows: &LogicalPlan, query: &Subquery, number: usize) -> Result<Option<LogicalPlan>> {
    if query.outer_ref_columns.is_empty() || !gives_one(&query.subquery)? {
        return Ok(None);
    }
    let Some(before) = Before::new(rows, &query.subquery, true)? else { return Ok(None) };
    let Some(made) = before.through(&query.subquery)? else { return Ok(None) };
    let Some(value) = made.schema().iter().nth(before.columns.len()).map(Expr::from) else { return Ok(None) };
    let mut columns = before.restored();
    columns.push(value.alias(format!("{VALUE}{number}")));
    Ok(Some(LogicalPlanBuilder::from(made).project(columns)?.build()?))
}

/// Returns whether a query returns at most one row.
fn gives_one(query: &LogicalPlan) -> Result<bool> {
    Ok(match query {
        LogicalPlan::Projection(projection) => gives_one(&projection.input)?,
        LogicalPlan::Sort(sort) => gives_one(&sort.input)?,
        LogicalPlan::SubqueryAlias(alias) => gives_one(&alias.input)?,
        LogicalPlan::Filter(filter) => gives_one(&filter.input)?,
        LogicalPlan::Limit(limit) => {
            matches!(limit.get_fetch_type()?, FetchType::Literal(Some(0 | 1))) || gives_one(&limit.input)?
        }
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        _ => false,
    })
}
