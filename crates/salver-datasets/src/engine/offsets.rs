//! Keeps the order of rows that an offset without a limit leaves out of.
//!
//! For `select sum(x) from (select x from t order by y offset 2)` the engine sees that nobody asks for the order, and
//! drops the sort; for an `order by` around such a query it sorts below the offset (`enforce_sorting` of DataFusion
//! 55). Either leaves out other rows. With a limit, the sort knows how many rows it gives, and stays.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use super::pass_through::{Passage, Through};

/// Optimizer rule that runs before the rule that drops sorts.
#[derive(Debug)]
pub(super) struct Offsets;

impl PhysicalOptimizerRule for Offsets {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let pinned = plan.transform_up(|node| {
            let is_offset =
                node.downcast_ref::<GlobalLimitExec>().is_some_and(|limit| limit.skip() > 0 && limit.fetch().is_none());
            let Some(input) = node.children().first().map(|input| Arc::clone(input)).filter(|_| is_offset) else {
                return Ok(Transformed::no(node));
            };
            let input = pinned(input)?;
            #[expect(deprecated)]
            let offset = node.with_new_children(vec![input])?;
            Ok(Transformed::yes(Through::over(offset, Pinned(None))))
        })?;
        Ok(pinned.data)
    }

    fn name(&self) -> &'static str {
        "offsets"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Demands the order of the sort from which an offset takes its rows.
fn pinned(node: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if node.is::<SortExec>() || node.is::<SortPreservingMergeExec>() {
        let order = node.output_ordering().cloned();
        return Ok(Through::over(node, Pinned(order)));
    }
    let is_passed = node.is::<ProjectionExec>() || node.is::<CoalescePartitionsExec>();
    let Some(input) = node.children().first().map(|input| Arc::clone(input)).filter(|_| is_passed) else {
        return Ok(node);
    };
    let input = pinned(input)?;
    #[expect(deprecated)]
    node.with_new_children(vec![input])
}

/// Operator that demands an order and makes none for others.
#[derive(Clone, Debug)]
struct Pinned(Option<LexOrdering>);

impl Passage for Pinned {
    const NAME: &'static str = "PinnedOrderExec";
    const LETS_CONDITIONS_DOWN: bool = false;
    const LETS_ORDERS_DOWN: bool = false;
    const TAKES_PARTITIONS: bool = false;

    fn order(&self) -> Option<&LexOrdering> {
        self.0.as_ref()
    }
}
