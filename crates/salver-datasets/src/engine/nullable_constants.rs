//! Keeps the engine from treating a column of the nullable side of an outer join as a constant.
//!
//! For `a right join b on a.t = b.t where b.t = 1` the engine derives that `a.t` is 1 below the join, and also assumes
//! it above (`EquivalenceGroup::join` of DataFusion 55), where it may be null: an order by it was dropped.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{JoinType, Result};
use datafusion::config::ConfigOptions;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, PlanProperties};

use super::pass_through::{Passage, Through};

/// Optimizer rule that runs before the rule that drops redundant sorts.
#[derive(Debug)]
pub(super) struct Unfixed;

impl PhysicalOptimizerRule for Unfixed {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        let freed = plan.transform_up(|node| {
            let [left, right] = optional_sides(&node);
            if !(left || right) {
                return Ok(Transformed::no(node));
            }
            let mut is_changed = false;
            let children = node.children().into_iter().zip([left, right]).map(|(child, is_optional)| {
                if is_optional && !child.equivalence_properties().constants().is_empty() {
                    is_changed = true;
                    return Through::over(Arc::clone(child), Forgetful);
                }
                Arc::clone(child)
            });
            let children: Vec<Arc<dyn ExecutionPlan>> = children.collect();
            if !is_changed {
                return Ok(Transformed::no(node));
            }
            #[expect(deprecated)]
            node.with_new_children(children).map(Transformed::yes)
        })?;
        Ok(freed.data)
    }

    fn name(&self) -> &'static str {
        "unfixed"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Returns whether an operator is one of those that this rule adds.
#[cfg(feature = "ballista")]
pub(crate) fn is_unfixed(node: &dyn ExecutionPlan) -> bool {
    node.is::<Through<Forgetful>>()
}

/// Returns the operator that this rule adds, over another.
#[cfg(feature = "ballista")]
pub(crate) fn unfixed(input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    Through::over(input, Forgetful)
}

/// Returns which sides of a join are null if the other side has no match.
fn optional_sides(node: &Arc<dyn ExecutionPlan>) -> [bool; 2] {
    let kind = node
        .downcast_ref::<HashJoinExec>()
        .map(|join| *join.join_type())
        .or_else(|| node.downcast_ref::<SortMergeJoinExec>().map(SortMergeJoinExec::join_type))
        .or_else(|| node.downcast_ref::<NestedLoopJoinExec>().map(|join| *join.join_type()));
    match kind {
        Some(JoinType::Left) => [false, true],
        Some(JoinType::Right) => [true, false],
        Some(JoinType::Full) => [true, true],
        _ => [false, false],
    }
}

/// Operator that reports no constants.
#[derive(Clone, Debug)]
struct Forgetful;

impl Passage for Forgetful {
    const NAME: &'static str = "UnfixedExec";
    const LETS_CONDITIONS_DOWN: bool = true;

    fn properties(&self, input: &dyn ExecutionPlan) -> Arc<PlanProperties> {
        let known = input.properties().equivalence_properties();
        let orders = known.oeq_class().iter().cloned();
        let freed = EquivalenceProperties::new_with_orderings(Arc::clone(known.schema()), orders);
        Arc::new(PlanProperties::clone(input.properties()).with_eq_properties(freed))
    }
}
