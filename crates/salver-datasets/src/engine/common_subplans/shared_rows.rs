//! The rows of an operator that stands in several places of a plan: the first place that is read computes them, and the
//! others read the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use futures::future::{BoxFuture, Shared};
use futures::{FutureExt, StreamExt, TryStreamExt, stream};

use crate::engine::function_bounds::held_bytes;
use crate::engine::pass_through::{Passage, Through};

/// The rows, by partition. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct SharedRows(Arc<State>);

#[derive(Debug, Default)]
struct State {
    /// The operator that is executed. An operator that spreads rows over partitions must be the same one for all of
    /// them.
    executed: OnceLock<Arc<dyn ExecutionPlan>>,
    partitions: Mutex<HashMap<usize, Collecting>>,
}

/// The rows of a partition that is being computed: by whoever polls it.
type Collecting = Shared<BoxFuture<'static, Result<Arc<Collected>, Arc<DataFusionError>>>>;

/// The rows of a partition, kept as long as the plan.
#[derive(Debug)]
struct Collected {
    batches: Vec<RecordBatch>,
    _memory: MemoryReservation,
}

impl SharedRows {
    /// Returns an operator with these rows, one of the places where `input` stands.
    pub(super) fn over(&self, input: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        Through::over(input, self.clone())
    }

    fn partition(
        &self,
        executed: &Arc<dyn ExecutionPlan>,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<Collecting> {
        let mut partitions = self.0.partitions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = partitions.get(&partition) {
            return Ok(known.clone());
        }
        let memory = MemoryConsumer::new("SharedRowsExec").register(context.memory_pool());
        let rows = executed.execute(partition, context)?;
        let collecting = collect(rows, memory).map(|rows| rows.map(Arc::new).map_err(Arc::new)).boxed().shared();
        partitions.insert(partition, collecting.clone());
        Ok(collecting)
    }
}

impl Passage for SharedRows {
    const NAME: &'static str = "SharedRowsExec";
    const LETS_CONDITIONS_DOWN: bool = false;
    const LETS_ORDERS_DOWN: bool = false;

    /// The order of one place's rows says nothing of those of another.
    fn properties(&self, input: &dyn ExecutionPlan) -> Arc<PlanProperties> {
        Arc::new(PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            input.output_partitioning().clone(),
            EmissionType::Final,
            Boundedness::Bounded,
        ))
    }

    fn rows(
        &self,
        input: &Arc<dyn ExecutionPlan>,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let executed = self.0.executed.get_or_init(|| Arc::clone(input));
        if executed.output_partitioning().partition_count() != input.output_partitioning().partition_count() {
            return input.execute(partition, context);
        }
        let collecting = self.partition(executed, partition, context)?;
        let batches = stream::once(collecting).flat_map(|collected| {
            let rows: Vec<Result<RecordBatch>> = match collected {
                Ok(collected) => collected.batches.iter().cloned().map(Ok).collect(),
                Err(error) => vec![Err(DataFusionError::Shared(error))],
            };
            stream::iter(rows)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(input.schema(), batches)))
    }
}

async fn collect(mut rows: SendableRecordBatchStream, memory: MemoryReservation) -> Result<Collected> {
    let mut batches = Vec::new();
    while let Some(batch) = rows.try_next().await? {
        let bytes = batch.columns().iter().map(|column| held_bytes(column)).sum::<u64>();
        memory.try_grow(usize::try_from(bytes).unwrap_or(usize::MAX))?;
        batches.push(batch);
    }
    Ok(Collected { batches, _memory: memory })
}
