//! Keeps the engine from taking a column of the optional side of an outer join for a constant.
//!
//! Of `a right join b on a.t = b.t where b.t = 1` the engine knows that `a.t` is 1 below the join, and goes on to take it
//! for that above (`EquivalenceGroup::join` of DataFusion 55), where it is null as well: an order by it was dropped.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{JoinType, Result, Statistics};
use datafusion::config::ConfigOptions;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::ReplaceChildrenOptions;
use datafusion::physical_plan::filter_pushdown::{FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::joins::{HashJoinExec, NestedLoopJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PhysicalExpr, PlanProperties,
};

/// Stands before the rule that drops orders that hold already.
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
                    return Arc::new(UnfixedExec::over(Arc::clone(child))) as _;
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

/// Which sides of a join give nulls where the other has no match.
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

/// Passes on what its input gives, and says nothing of constants.
#[derive(Debug)]
struct UnfixedExec {
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl UnfixedExec {
    fn over(input: Arc<dyn ExecutionPlan>) -> Self {
        let known = input.equivalence_properties();
        let orders = known.oeq_class().iter().cloned();
        let freed = EquivalenceProperties::new_with_orderings(Arc::clone(known.schema()), orders);
        let properties = Arc::new(PlanProperties::clone(input.properties()).with_eq_properties(freed));
        Self { input, properties }
    }
}

impl DisplayAs for UnfixedExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnfixedExec")
    }
}

impl ExecutionPlan for UnfixedExec {
    fn name(&self) -> &'static str {
        "UnfixedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
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
        Ok(children.pop().map_or(self as _, |input| Arc::new(Self::over(input)) as _))
    }

    fn with_new_children(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(children.pop().map_or(self as _, |input| Arc::new(Self::over(input)) as _))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.input.execute(partition, context)
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        FilterDescription::from_children(filters, &self.children())
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        Ok(inputs.first().map_or_else(|| Arc::new(Statistics::new_unknown(&self.schema())), Arc::clone))
    }
}
