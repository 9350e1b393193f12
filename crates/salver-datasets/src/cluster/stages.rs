//! Checks the stages into which the scheduler will cut a plan. Rows that go from one stage to the next lose what was
//! known of their order and partitions; an operator that relied on it would answer wrongly, and not fail. The cut is
//! the scheduler's own, made here with the same code.

use std::sync::Arc;

use ballista_core::JobId;
use ballista_core::execution_plans::{ShuffleWriter, UnresolvedShuffleExec};
use ballista_scheduler::planner::{DefaultDistributedPlanner, DistributedPlanner};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, internal_datafusion_err, internal_err};
use datafusion::execution::{SessionState, TaskContext};
use datafusion::physical_optimizer::sanity_checker::check_plan_sanity;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use datafusion_proto::physical_plan::{AsExecutionPlan, PhysicalExtensionCodec};
use datafusion_proto::protobuf::PhysicalPlanNode;

/// Checks every stage of a plan: that executors can read it, and that each operator gets its rows as it needs them.
///
/// # Errors
/// The reason why the plan must not be cut.
pub(super) fn check(
    plan: &Arc<dyn ExecutionPlan>,
    session: &SessionState,
    codec: &dyn PhysicalExtensionCodec,
) -> Result<()> {
    let options = session.config_options();
    let mut planner = DefaultDistributedPlanner::new();
    let stages = planner.plan_query_stages(&JobId::from("check"), Arc::clone(plan), options);
    let stages = stages.map_err(|error| internal_datafusion_err!("{error}"))?;
    let context = TaskContext::from(session);
    for stage in &stages {
        for input in stage.children() {
            let said = PhysicalPlanNode::try_from_physical_plan(Arc::clone(input), codec)?;
            let read = said.try_into_physical_plan(&context, codec)?;
            for (plan, is_read) in [(input, false), (&read, true)] {
                plan.apply(|node| {
                    match merged(node) {
                        // What is read knows as little of its order.
                        Some(shuffle) if !is_read => check_order(node, shuffle, &stages)?,
                        Some(_) => {}
                        None => check_plan_sanity(node, &options.optimizer)?,
                    }
                    Ok(TreeNodeRecursion::Continue)
                })?;
            }
        }
    }
    Ok(())
}

/// Returns the rows of another stage that an operator merges, if it does.
fn merged(node: &Arc<dyn ExecutionPlan>) -> Option<&UnresolvedShuffleExec> {
    node.downcast_ref::<SortPreservingMergeExec>()?.input().downcast_ref::<UnresolvedShuffleExec>()
}

/// Checks that the partitions that are merged were written in their order, in which they will be read.
fn check_order(
    merge: &Arc<dyn ExecutionPlan>,
    shuffle: &UnresolvedShuffleExec,
    stages: &[Arc<dyn ShuffleWriter>],
) -> Result<()> {
    let writer = stages.iter().find(|stage| stage.stage_id() == shuffle.stage_id);
    let written = writer.and_then(|writer| writer.children().first().map(|input| Arc::clone(input)));
    let order = merge.downcast_ref::<SortPreservingMergeExec>().map(SortPreservingMergeExec::expr);
    match (written, order) {
        (Some(written), Some(order)) if written.equivalence_properties().ordering_satisfy(order.clone())? => Ok(()),
        _ => internal_err!("a merge would get rows that are not in its order"),
    }
}
