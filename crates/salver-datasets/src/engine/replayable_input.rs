//! Plan input that can be executed a second time.
//!
//! A nested loop join whose left side does not fit into memory reads that side again to spill it (DataFusion 55). An
//! operator below may support a single execution only: a repartition panics, a join miscounts its readers. The second
//! execution therefore runs a plan whose state has been reset. Where an execution leaves dynamic filters in the scans
//! (the bound of a top-k, for example), rows would be lost: there the second execution fails for lack of memory, and
//! the query is retried in the session for plans that ran out of memory, which uses no dynamic filters.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::common::{Result, resources_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::reset_plan_states;

use super::pass_through::{Passage, Through};

/// Wraps the plan so that it can be executed more than once.
pub(super) fn runnable(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    Through::over(Arc::clone(plan), Again::default())
}

/// Whether the plan has been executed.
#[derive(Debug, Default)]
struct Again(AtomicBool);

/// A clone belongs to another plan, so it starts as not executed.
impl Clone for Again {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Passage for Again {
    const NAME: &'static str = "AgainExec";
    const LETS_CONDITIONS_DOWN: bool = true;

    fn rows(
        &self,
        input: &Arc<dyn ExecutionPlan>,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if !self.0.swap(true, Ordering::Relaxed) {
            return input.execute(partition, context);
        }
        let optimizer = &context.session_config().options().optimizer;
        if optimizer.enable_topk_dynamic_filter_pushdown
            || optimizer.enable_aggregate_dynamic_filter_pushdown
            || optimizer.enable_join_dynamic_filter_pushdown
        {
            return resources_err!("the left side of a join does not fit into memory");
        }
        reset_plan_states(Arc::clone(input))?.execute(partition, context)
    }
}
