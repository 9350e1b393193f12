//! Operators that forward the rows of another, in the same order and partitions, with other columns at most.

use std::fmt;
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::config::ConfigOptions;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Distribution, LexOrdering, OrderingRequirements};
use datafusion::physical_plan::execution_plan::ReplaceChildrenOptions;
use datafusion::physical_plan::filter_pushdown::{FilterDescription, FilterPushdownPhase};
use datafusion::physical_plan::statistics::{ChildStats, StatisticsArgs};
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, InputDistributionRequirements, PhysicalExpr, PlanProperties,
};

/// Behavior of such an operator.
pub(crate) trait Passage: fmt::Debug + Clone + Send + Sync + 'static {
    /// Name of the operator in plans.
    const NAME: &'static str;
    /// Whether filters on the rows may be pushed to the input.
    const LETS_CONDITIONS_DOWN: bool;
    /// Whether an order that is asked of the rows may be made of the input's instead.
    const LETS_ORDERS_DOWN: bool = true;
    /// Whether the input may have several partitions.
    const TAKES_PARTITIONS: bool = true;

    /// Returns the order that all of the input must have, in one partition; `None` if any will do.
    fn order(&self) -> Option<&LexOrdering> {
        None
    }

    /// Returns what the rows are by the statistics of the input; by default the same.
    fn statistics(&self, input: &Arc<Statistics>) -> Arc<Statistics> {
        Arc::clone(input)
    }

    /// Writes the operator's own part of a plan's text.
    fn describe(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }

    /// Returns the properties of the rows; by default those of the input.
    fn properties(&self, input: &dyn ExecutionPlan) -> Arc<PlanProperties> {
        Arc::clone(input.properties())
    }

    /// Returns the rows of a partition.
    fn rows(
        &self,
        input: &Arc<dyn ExecutionPlan>,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        input.execute(partition, context)
    }
}

/// The operator.
#[derive(Debug)]
pub(crate) struct Through<P> {
    input: Arc<dyn ExecutionPlan>,
    passage: P,
    properties: Arc<PlanProperties>,
}

impl<P: Passage> Through<P> {
    pub(crate) fn over(input: Arc<dyn ExecutionPlan>, passage: P) -> Arc<dyn ExecutionPlan> {
        let properties = passage.properties(input.as_ref());
        Arc::new(Self { input, passage, properties })
    }

    fn replaced(self: Arc<Self>, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Arc<dyn ExecutionPlan> {
        match children.pop() {
            Some(input) => Self::over(input, self.passage.clone()),
            None => self,
        }
    }

    /// Returns the input.
    pub(super) fn input(&self) -> &Arc<dyn ExecutionPlan> {
        &self.input
    }
}

impl<P: Passage> DisplayAs for Through<P> {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(P::NAME)?;
        self.passage.describe(f)
    }
}

impl<P: Passage> ExecutionPlan for Through<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![P::LETS_ORDERS_DOWN]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![self.passage.order().cloned().map(OrderingRequirements::from)]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        // Rows in an order that nothing may change must not be spread over partitions either.
        InputDistributionRequirements::new(vec![if P::TAKES_PARTITIONS {
            Distribution::UnspecifiedDistribution
        } else {
            Distribution::SinglePartition
        }])
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
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self.replaced(children))
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self.replaced(children))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        self.passage.rows(&self.input, partition, context)
    }

    fn gather_filters_for_pushdown(
        &self,
        _: FilterPushdownPhase,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterDescription> {
        let children = self.children();
        Ok(if P::LETS_CONDITIONS_DOWN {
            FilterDescription::from_children(filters, &children)?
        } else {
            FilterDescription::all_unsupported(&filters, &children)
        })
    }

    fn child_stats_requests(&self, partition: Option<usize>) -> Vec<ChildStats> {
        vec![ChildStats::At(partition)]
    }

    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], _: &StatisticsArgs) -> Result<Arc<Statistics>> {
        Ok(match inputs.first() {
            Some(input) => self.passage.statistics(input),
            None => Arc::new(Statistics::new_unknown(&self.schema())),
        })
    }
}
