//! Keeps conditions from going down into operators of which two columns have one name.
//!
//! The rules that push conditions down plans (`FilterPushdown` of DataFusion 55) find columns by their names on the
//! way: `where p.id < 5` over `p right join o` became a condition on `o.id` where both have an `id`.

use std::sync::Arc;

use ahash::AHashSet;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;

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
        Ok(if has_namesakes(&node) { Transformed::yes(Through::over(node, Fence)) } else { Transformed::no(node) })
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

/// Lets no condition down.
#[derive(Clone, Debug)]
struct Fence;

impl Passage for Fence {
    const NAME: &'static str = "Fence";
    const LETS_CONDITIONS_DOWN: bool = false;
}
