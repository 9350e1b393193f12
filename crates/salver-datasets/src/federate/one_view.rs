//! Has all scans of a plan see one state of each database:
//!
//! ```sql
//! select (select sum(amount) from bank.debits) = (select sum(amount) from bank.credits)
//! ```
//!
//! Without that, each scan would see the state of the moment in which it begins.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::NestedLoopJoinExec;
use datafusion::physical_plan::recursive_query::RecursiveQueryExec;
use salver_model::ReadView;

use super::scan::PortScan;

/// Puts the tables of a plan's scans in one view, unless a single scan is read once. The plan stays as it is.
#[derive(Debug)]
pub(crate) struct OneView;

impl PhysicalOptimizerRule for OneView {
    fn name(&self) -> &'static str {
        "one_view"
    }

    fn schema_check(&self) -> bool {
        true
    }

    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        // Where plans run that ran out of memory, such a join reads its left side again.
        let loops_again = !config.optimizer.enable_join_dynamic_filter_pushdown;
        let (mut scans, mut reads_again) = (Vec::new(), false);
        plan.apply(|node| {
            if let Some(scan) = node.downcast_ref::<PortScan>() {
                scans.push(scan.clone());
            }
            reads_again |= node.is::<RecursiveQueryExec>() || loops_again && node.is::<NestedLoopJoinExec>();
            Ok(TreeNodeRecursion::Continue)
        })?;
        if scans.len() > 1 || reads_again && !scans.is_empty() {
            let view = ReadView::new(reads_again);
            scans.iter().for_each(|scan| scan.see(&view));
        }
        Ok(plan)
    }
}
