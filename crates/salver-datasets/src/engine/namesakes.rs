//! Keeps conditions from going down into operators of which two columns have one name, and what a join found out about
//! its keys from going down where these are lists or structs.
//!
//! The rules that push conditions down plans (`FilterPushdown` of DataFusion 55) find columns by their names on the
//! way: `where p.id < 5` over `p right join o` became a condition on `o.id` where both have an `id`. And the condition
//! that a join makes of the keys of its one side for the other is unknown of a list with a null, which equals itself.

use std::sync::Arc;

use ahash::AHashSet;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::joins::HashJoinExec;

use super::through::{Passage, Through};

/// Whether a rule is one of those.
pub(super) fn mixes_up(rule: &dyn PhysicalOptimizerRule) -> bool {
    rule.name().starts_with("FilterPushdown")
}

/// Runs `rule` on a plan, so that it pushes nothing into operators with namesakes.
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

/// Whether a node joins by lists or structs.
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

/// Lets no condition down.
#[derive(Clone, Debug)]
struct Fence;

impl Passage for Fence {
    const NAME: &'static str = "Fence";
    const LETS_CONDITIONS_DOWN: bool = false;
}
