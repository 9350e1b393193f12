//! Input that may be read a second time.
//!
//! A nested loop join whose left side does not fit into memory reads that side again, to put it on disk (DataFusion
//! 55). An operator below may have been made for one run: a repartition panics, a join counts its readers wrongly. So
//! the second run is of a plan that has not begun. Where a run leaves what it found in the scans (the least of the
//! first rows of an order, say), rows would be lost: there the second run is refused for want of memory, and the query
//! is run anew in the form that needs least, which leaves nothing behind.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::common::{Result, resources_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::execution_plan::reset_plan_states;

use super::through::{Passage, Through};

/// The plan, so that it may be run more than once.
pub(super) fn runnable(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    Through::over(Arc::clone(plan), Again::default())
}

/// Whether it has begun.
#[derive(Debug, Default)]
struct Again(AtomicBool);

/// A copy stands above another plan.
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
