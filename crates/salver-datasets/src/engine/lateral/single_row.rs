//! `in` and `exists` of a subquery with exactly one row. An aggregate over all rows returns one even for no input,
//! while the engine joins with the rows that match its condition.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{Expr, Filter, LogicalPlan, LogicalPlanBuilder, Subquery, lit, not};

use super::is_aggregated;

/// Rewrites a filter to use the value of such a subquery.
pub(super) fn values(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Filter(filter) = plan else { return Ok(Transformed::no(plan)) };
    let predicate = filter.predicate.clone().transform_up(value)?;
    if !predicate.transformed {
        return Ok(Transformed::no(LogicalPlan::Filter(filter)));
    }
    Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate.data, filter.input)?)))
}

fn value(expr: Expr) -> Result<Transformed<Expr>> {
    match expr {
        Expr::InSubquery(InSubquery { expr, subquery, negated })
            if is_single(&subquery) && having(&subquery.subquery).is_none() =>
        {
            let value = Expr::ScalarSubquery(subquery);
            Ok(Transformed::yes(if negated { (*expr).not_eq(value) } else { (*expr).eq(value) }))
        }
        Expr::Exists(Exists { subquery, negated }) if is_single(&subquery) => {
            let exists = match having(&subquery.subquery) {
                None => lit(true),
                Some(filter) => {
                    let rows = LogicalPlanBuilder::from(Arc::clone(&filter.input));
                    let plan = rows.project(vec![filter.predicate.clone().alias("having")])?.build()?;
                    let outer_ref_columns = plan.all_out_ref_exprs();
                    let query = Subquery { subquery: Arc::new(plan), outer_ref_columns, spans: subquery.spans };
                    Expr::ScalarSubquery(query).is_true()
                }
            };
            Ok(Transformed::yes(if negated { not(exists) } else { exists }))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Returns whether a correlated subquery is an aggregate over all rows, with at most one `having`.
fn is_single(query: &Subquery) -> bool {
    let once = having(&query.subquery).is_none_or(|filter| having(&filter.input).is_none());
    !query.outer_ref_columns.is_empty() && is_aggregated(&query.subquery) && once
}

/// Returns the filter of the single row.
fn having(plan: &LogicalPlan) -> Option<&Filter> {
    match plan {
        LogicalPlan::Filter(filter) => Some(filter),
        LogicalPlan::Projection(projection) => having(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => having(&alias.input),
        _ => None,
    }
}
