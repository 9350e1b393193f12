//! The plan node that reads a snapshot. `EXPLAIN` shows what is pushed down to it.

use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::datatypes::SchemaRef;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, Statistics};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PhysicalExpr, PlanProperties,
};
use futures::StreamExt;

use super::reader::SnapshotRead;
use crate::federate::Shown;
use crate::parquet_table::{FILE, ROW};

/// One scan of a snapshot.
#[derive(Debug)]
pub(super) struct HeldScan {
    reader: SnapshotRead,
    /// The reader's columns and the positions of rows, as projected.
    schema: SchemaRef,
    partitions: usize,
    properties: Arc<PlanProperties>,
}

impl HeldScan {
    pub(super) fn new(reader: SnapshotRead, schema: SchemaRef, partitions: usize) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self { reader, schema, partitions, properties: Arc::new(properties) }
    }
}

impl DisplayAs for HeldScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (held, about) = (&self.reader.held, self.reader.held.describe());
        let columns: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        let (parts, columns) = (held.parts(), columns.join(", "));
        write!(f, "HeldScan: {} ({}), parts={parts}, columns=[{columns}]", about.name, about.source)?;
        if let Some(filter) = &self.reader.filter {
            write!(f, ", filter={}", Shown(filter))?;
        }
        match self.reader.limit {
            Some(limit) => write!(f, ", limit={limit}"),
            None => Ok(()),
        }
    }
}

impl ExecutionPlan for HeldScan {
    fn name(&self) -> &'static str {
        "HeldScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    /// Reports the number of rows, so that counting all of them reads none.
    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.schema);
        let rows = self.reader.held.describe().rows.and_then(|rows| usize::try_from(rows).ok());
        if let (Some(rows), None) = (rows, args.partition()) {
            let whole = self.reader.filter.is_none() && self.reader.limit.is_none();
            statistics.num_rows = if whole { Precision::Exact(rows) } else { Precision::Inexact(rows) };
        }
        Ok(Arc::new(statistics))
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        // Round robin, because the last partitions are not compacted yet and take longer.
        let parts = (partition..self.reader.held.parts()).step_by(self.partitions);
        let schema = Arc::clone(&self.schema);
        let mut row = 0;
        let rows = self.reader.clone().read(None, parts).map(move |read| {
            let (part, batch) = read.map_err(external)?;
            let first = row;
            row += batch.num_rows() as i64;
            placed(&batch, &schema, part, first)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), rows)))
    }
}

/// Projects a batch to the columns of `schema`: the batch's own, in order, and the position if it is wanted.
fn placed(batch: &RecordBatch, schema: &SchemaRef, part: usize, first: i64) -> Result<RecordBatch> {
    let rows = batch.num_rows();
    let mut own = batch.columns().iter();
    let columns = schema.fields().iter().map(|field| match field.name().as_str() {
        FILE => Ok(Arc::new(UInt32Array::from_value(u32::try_from(part).unwrap_or(u32::MAX), rows)) as ArrayRef),
        ROW => Ok(Arc::new(Int64Array::from_iter_values(first..first + rows as i64)) as ArrayRef),
        name => own.next().cloned().ok_or_else(|| DataFusionError::Internal(format!("no column `{name}` was read"))),
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}

pub(super) fn external(error: salver_model::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
