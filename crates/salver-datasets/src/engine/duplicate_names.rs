//! Keeps predicates from being pushed into operators with two columns of the same name, and dynamic filters of joins
//! from being pushed down if the keys are lists or structs.
//!
//! The rules for filter pushdown (`FilterPushdown` of DataFusion 55) resolve columns by name: `where p.id < 5` over
//! `p right join o` became a predicate on `o.id` where both have an `id`. And the filter that a join derives from the
//! keys of one side for the other is unknown for a list that contains a null, although such lists equal each other.

use std::sync::Arc;

use ahash::AHashSet;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::joins::HashJoinExec;

use super::pass_through::{Passage, Through};

/// Returns whether a rule is one of those.
pub(super) fn mixes_up(rule: &dyn PhysicalOptimizerRule) -> bool {
    rule.name().starts_with("FilterPushdown")
}

/// Runs `rule` on a plan so that it pushes nothing into operators with columns of the same name.
pub(super) fn apart(
    plan: Arc<dyn ExecutionPlan>,
    rule: impl FnOnce(Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let fenced = plan.transform_up(|node| {
        if has_namesakes(&node) {
            return Ok(Transformed::yes(Through::over(node, Fence)));
        }
        if !joins_nested(&node)? {
            return Ok(Transformed::no(node));
        }
        let fenced = node.children().into_iter().map(|side| Through::over(Arc::clone(side), Fence)).collect();
        let recomputed = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        Ok(Transformed::yes(node.replace_children(fenced, recomputed)?))
    })?;
    if !fenced.transformed {
        return rule(fenced.data);
    }
    let freed = rule(fenced.data)?.transform_up(|node| {
        Ok(match node.downcast_ref::<Through<Fence>>() {
            Some(fence) => Transformed::yes(Arc::clone(fence.input())),
            None => Transformed::no(node),
        })
    })?;
    Ok(freed.data)
}

fn has_namesakes(node: &Arc<dyn ExecutionPlan>) -> bool {
    let schema = node.schema();
    let mut names = AHashSet::with_capacity(schema.fields().len());
    !schema.fields().iter().all(|field| names.insert(field.name()))
}

/// Returns whether a node joins by lists or structs.
fn joins_nested(node: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    let Some(join) = node.downcast_ref::<HashJoinExec>() else { return Ok(false) };
    let right = join.right().schema();
    for (_, key) in join.on() {
        if key.data_type(&right)?.is_nested() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Operator that lets no filter pass.
#[derive(Clone, Debug)]
struct Fence;

impl Passage for Fence {
    const NAME: &'static str = "Fence";
    const LETS_CONDITIONS_DOWN: bool = false;
}
