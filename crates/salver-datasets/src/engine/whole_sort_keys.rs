//! Keeps all keys where several partitions are sorted for their first rows.
//!
//! For `select i, 'b' as s from n union all select i, 'a' from n order by i, s limit 1` the engine sorts each partition
//! by `i` alone, as `s` is the same in all of its rows. But the partitions share what they have found, by these keys,
//! to pass over further rows (`TopK` of DataFusion 55): of two rows with the same `i` the one that was found first
//! remained.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

/// Optimizer rule that runs before the rule that hands on what was found.
#[derive(Debug)]
pub(super) struct WholeKeys;

impl PhysicalOptimizerRule for WholeKeys {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let whole = plan.transform_up(|node| {
            let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() else { return Ok(Transformed::no(node)) };
            let keys = merge.expr().iter().cloned().collect();
            match sorted_by(merge.input(), merge.expr().len(), Some(keys))? {
                Some(input) => with_child(&node, input).map(Transformed::yes),
                None => Ok(Transformed::no(node)),
            }
        })?;
        Ok(whole.data)
    }

    fn name(&self) -> &'static str {
        "whole_keys"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Sorts the partitions of a plan by all of `count` keys, or in full where the plan can't tell its keys; returns `None`
/// if they are.
fn sorted_by(
    plan: &Arc<dyn ExecutionPlan>,
    count: usize,
    keys: Option<Vec<PhysicalSortExpr>>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    if let Some(sort) = plan.downcast_ref::<SortExec>() {
        if sort.fetch().is_none() || !sort.preserve_partitioning() || sort.expr().len() >= count {
            return Ok(None);
        }
        let whole = keys.and_then(LexOrdering::new).map(|keys| {
            let sorted = SortExec::new(keys, Arc::clone(sort.input())).with_preserve_partitioning(true);
            sorted.with_fetch(sort.fetch())
        });
        return Ok(Some(Arc::new(whole.unwrap_or_else(|| sort.with_fetch(None)))));
    }
    let [input] = plan.children()[..] else { return Ok(None) };
    let partitions = |plan: &Arc<dyn ExecutionPlan>| plan.output_partitioning().partition_count();
    // Below anything else, the rows are sorted for another purpose.
    if plan.maintains_input_order() != [true] || partitions(plan) != partitions(input) {
        return Ok(None);
    }
    let keys = match plan.downcast_ref::<ProjectionExec>() {
        Some(projection) => keys.map(|keys| before(projection, keys)).transpose()?,
        None => keys.filter(|_| input.schema() == plan.schema()),
    };
    sorted_by(input, count, keys)?.map(|input| with_child(plan, input)).transpose()
}

/// Returns keys as they are before a projection.
fn before(projection: &ProjectionExec, keys: Vec<PhysicalSortExpr>) -> Result<Vec<PhysicalSortExpr>> {
    let computed = |part: Arc<dyn PhysicalExpr>| {
        let column = part.downcast_ref::<Column>().and_then(|column| projection.expr().get(column.index()));
        Ok(match column {
            Some(column) => Transformed::yes(Arc::clone(&column.expr)),
            None => Transformed::no(part),
        })
    };
    let key = |PhysicalSortExpr { expr, options }: PhysicalSortExpr| {
        Ok(PhysicalSortExpr { expr: expr.transform_up(computed)?.data, options })
    };
    keys.into_iter().map(key).collect()
}

fn with_child(plan: &Arc<dyn ExecutionPlan>, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    #[expect(deprecated)]
    Arc::clone(plan).with_new_children(vec![input])
}
