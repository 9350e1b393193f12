//! Limit on the tables that a statement reads when its views are written out.

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::LogicalPlan;

use super::counts::relations;
use crate::fault;

/// Checks a plan, which has the plans of the views in it.
///
/// # Errors
/// `InvalidSql` when it reads too many tables.
pub(in super::super) fn check_with_views(plan: &LogicalPlan) -> salver_model::Result<()> {
    let mut count = 0_usize;
    let counted = plan.apply_with_subqueries(|node| {
        count += usize::from(matches!(node, LogicalPlan::TableScan(_) | LogicalPlan::SubqueryAlias(_)));
        Ok(match relations(count) {
            Ok(()) => TreeNodeRecursion::Continue,
            Err(_) => TreeNodeRecursion::Stop,
        })
    });
    counted.map_err(fault::planning)?;
    relations(count)
}
