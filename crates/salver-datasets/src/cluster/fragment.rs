//! The plan of a statement for executors, as bytes.
//!
//! A cluster runs the partitions of an operator in different processes. So a plan may only have operators whose
//! partitions share nothing while they run, and leaves that can be cut by their partitions.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DataFusionError, JoinType, Result, internal_datafusion_err, not_impl_err};
use datafusion::config::ConfigOptions;
use datafusion::datasource::physical_plan::FileScanConfigBuilder;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::{SessionState, TaskContext};
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::joins::{
    HashJoinExec, NestedLoopJoinExec, PartitionMode, PiecewiseMergeJoinExec, SymmetricHashJoinExec,
};
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use datafusion_proto::physical_plan::{AsExecutionPlan, PhysicalExtensionCodec};
use datafusion_proto::protobuf::PhysicalPlanNode;

use super::stages;
use crate::parquet_filters::SureSource;

/// Returns a plan as bytes, and the plan that these are.
///
/// # Errors
/// The reason why executors can't run it.
pub(super) fn encode(
    plan: Arc<dyn ExecutionPlan>,
    session: &SessionState,
    codec: &dyn PhysicalExtensionCodec,
) -> Result<(Vec<u8>, Arc<dyn ExecutionPlan>)> {
    let plan = plan.transform_up(|node| plain_scan(node, session.config_options()))?.data;
    plan.apply(|node| {
        check(node)?;
        Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
    })?;
    let node = PhysicalPlanNode::try_from_physical_plan(Arc::clone(&plan), codec)?;
    // What a scheduler could not read, it would refuse too late.
    let read = node.try_into_physical_plan(&TaskContext::from(session), codec)?;
    stages::check(&read, session, codec)?;
    let mut bytes = Vec::new();
    node.try_encode(&mut bytes)?;
    Ok((bytes, plan))
}

/// Replaces our source of Parquet by the engine's own, with the same conditions.
fn plain_scan(node: Arc<dyn ExecutionPlan>, options: &ConfigOptions) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let Some(scan) = node.downcast_ref::<DataSourceExec>() else { return Ok(Transformed::no(node)) };
    let Some((config, source)) = scan.downcast_to_file_source::<SureSource>() else { return Ok(Transformed::no(node)) };
    let config = FileScanConfigBuilder::from(config.clone()).with_source(source.plain(options)?).build();
    Ok(Transformed::yes(DataSourceExec::from_data_source(config)))
}

fn check(node: &Arc<dyn ExecutionPlan>) -> Result<(), DataFusionError> {
    if node.children().is_empty() {
        let can_be_cut = node.is::<DataSourceExec>() || node.is::<EmptyExec>() || node.is::<PlaceholderRowExec>();
        return if can_be_cut { Ok(()) } else { refused(node) };
    }
    if let Some(join) = node.downcast_ref::<NestedLoopJoinExec>() {
        return check_nested_loops(join);
    }
    if let Some(join) = node.downcast_ref::<HashJoinExec>() {
        // The scheduler would cut it into partitions, of which what follows would not know.
        let is_cut = *join.partition_mode() == PartitionMode::Partitioned || join.null_aware;
        return if is_cut { Ok(()) } else { refused(node) };
    }
    let repartition = node.downcast_ref::<RepartitionExec>();
    if node.is::<PiecewiseMergeJoinExec>()
        || node.is::<SymmetricHashJoinExec>()
        || repartition.is_some_and(RepartitionExec::preserve_order)
        || node.name().contains("Recursive")
        || node.name().contains("ScalarSubquery")
    {
        return refused(node);
    }
    Ok(())
}

/// All partitions of the right side note together which rows of the left one have a match.
fn check_nested_loops(join: &NestedLoopJoinExec) -> Result<(), DataFusionError> {
    let is_one = join.right().output_partitioning().partition_count() == 1;
    let notes_nothing = matches!(
        join.join_type(),
        JoinType::Inner | JoinType::Right | JoinType::RightSemi | JoinType::RightAnti | JoinType::RightMark
    );
    if is_one || notes_nothing {
        return Ok(());
    }
    not_impl_err!("executors have no join without equal keys that keeps rows of its left side")
}

fn refused(node: &Arc<dyn ExecutionPlan>) -> Result<(), DataFusionError> {
    Err(internal_datafusion_err!("`{}` runs in one process", node.name()))
}
