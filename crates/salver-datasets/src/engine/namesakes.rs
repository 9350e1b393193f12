//! Keeps conditions from going down into operators of which two columns have one name.
//!
//! The rules that push conditions down plans (`FilterPushdown` of DataFusion 55) find columns by their names on the
//! way: `where p.id < 5` over `p right join o` became a condition on `o.id` where both have an `id`.

use std::fmt;
use std::sync::Arc;

use ahash::AHashSet;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::ReplaceChildrenOptions;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PhysicalExpr, PlanProperties};

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
        Ok(if has_namesakes(&node) { Transformed::yes(Arc::new(Fence(node)) as _) } else { Transformed::no(node) })
    })?;
    if !fenced.transformed {
        return rule(fenced.data);
    }
    let freed = rule(fenced.data)?.transform_up(|node| {
        Ok(match node.downcast_ref::<Fence>() {
            Some(Fence(input)) => Transformed::yes(Arc::clone(input)),
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

/// Passes no condition on to what is below it, which is what an operator does that says nothing about conditions.
#[derive(Debug)]
struct Fence(Arc<dyn ExecutionPlan>);

impl DisplayAs for Fence {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fence")
    }
}

impl ExecutionPlan for Fence {
    fn name(&self) -> &'static str {
        "Fence"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.0.properties()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.0]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(children.pop().map_or(self as _, |input| Arc::new(Self(input)) as _))
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(children.pop().map_or(self as _, |input| Arc::new(Self(input)) as _))
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        internal_err!("a fence stands in no plan that runs")
    }
}
