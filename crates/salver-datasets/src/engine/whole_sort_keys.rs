//! Keeps all keys where several partitions are sorted for their first rows.
//!
//! For `select i, 'b' as s from n union all select i, 'a' from n order by i, s limit 1` the engine sorts each
//! partition by `i` alone, as `s` is the same in all of its rows. But the partitions share what they have found, by
//! these keys, to pass over further rows (`TopK` of DataFusion 55): of two rows with the same `i` the one that was
//! found first remained.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;

/// Optimizer rule that runs right after the rule that adds the sorts, before others move what is between a sort and the
/// merge of its partitions.
#[derive(Debug)]
pub(super) struct WholeKeys;

impl PhysicalOptimizerRule for WholeKeys {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let whole = plan.transform_up(|node| {
            let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() else { return Ok(Transformed::no(node)) };
            let sort = merge.input().downcast_ref::<SortExec>();
            // How many rows are wanted may be found out later.
            let is_short = |sort: &&SortExec| sort.preserve_partitioning() && sort.expr().len() < merge.expr().len();
            let Some(sort) = sort.filter(is_short) else { return Ok(Transformed::no(node)) };
            let sorted = SortExec::new(merge.expr().clone(), Arc::clone(sort.input()))
                .with_preserve_partitioning(true)
                .with_fetch(sort.fetch());
            let merged = SortPreservingMergeExec::new(merge.expr().clone(), Arc::new(sorted)).with_fetch(merge.fetch());
            Ok(Transformed::yes(Arc::new(merged) as Arc<dyn ExecutionPlan>))
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
