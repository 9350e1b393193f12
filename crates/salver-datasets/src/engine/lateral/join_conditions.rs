//! Conditions of joins that name columns of the outer query. The engine looks for such conditions in `where` only.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder};

/// Moves them above an inner join, where they mean the same. Those of a left or right join are left; of a full join
/// they are refused.
pub(super) fn moved(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Join(join) = plan else { return Ok(Transformed::no(plan)) };
    if !join.filter.as_ref().is_some_and(Expr::contains_outer) {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    }
    match join.join_type {
        JoinType::Inner => {}
        JoinType::Left | JoinType::Right => return Ok(Transformed::no(LogicalPlan::Join(join))),
        _ => return plan_err!("the condition of a `full` join names a column of an outer query"),
    }
    let terms = join.filter.map(split_conjunction_owned).unwrap_or_default();
    let (outer, own): (Vec<Expr>, Vec<Expr>) = terms.into_iter().partition(Expr::contains_outer);
    let inner = LogicalPlan::Join(Join { filter: conjunction(own), ..join });
    let Some(outer) = conjunction(outer) else { return Ok(Transformed::no(inner)) };
    let filtered = LogicalPlanBuilder::new_from_arc(Arc::new(inner)).filter(outer)?.build()?;
    Ok(Transformed::yes(filtered))
}
