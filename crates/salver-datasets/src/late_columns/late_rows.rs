//! The operator that reads late columns.

use std::fmt;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch, RecordBatchOptions};
use arrow::compute::concat_batches;
use arrow::datatypes::{Int64Type, SchemaRef, UInt32Type};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionMapping;
use datafusion::physical_expr::{LexOrdering, Partitioning};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, PhysicalExpr, PlanProperties};
use futures::TryStreamExt;
use salver_model::Error;

use crate::engine::QueryWork;
use crate::engine::pass_through::{Passage, Through};
use crate::held_rows::{PickedColumns, Position};
use crate::parquet_table::ParquetTable;

/// Columns that are added to rows in an order.
#[derive(Clone, Debug)]
pub(super) struct LateRows {
    late: Arc<PickedColumns>,
    layout: Arc<Layout>,
    /// The order is demanded of the input, so that no rule thinks its sort were for nothing.
    order: Option<LexOrdering>,
}

/// The columns of the rows.
#[derive(Debug)]
struct Layout {
    schema: SchemaRef,
    /// For each column its index in the input; `None` if it is the next one of the late columns.
    kept: Vec<Option<usize>>,
    /// The indexes in the input of the number of a row's file, and of the row's own number in it.
    place: (usize, usize),
}

impl LateRows {
    /// Adds `columns` of `table` to the rows of `input`, for a plan that is being made.
    pub(super) fn over(
        input: Arc<dyn ExecutionPlan>,
        table: &ParquetTable,
        schema: SchemaRef,
        kept: Vec<Option<usize>>,
        columns: Vec<usize>,
        place: (usize, usize),
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let late = PickedColumns::new(table.open().map_err(external)?, columns).map_err(external)?;
        let order = order_of(&input);
        Ok(Through::over(input, Self { late: Arc::new(late), layout: Arc::new(Layout { schema, kept, place }), order }))
    }
}

/// Returns the order that rows are sorted in, with all of its keys. That of the operator's rows lacks those that a
/// condition below makes constant; the optimizer takes the condition into the scan, where nothing tells of it, and the
/// sort would then be one by other keys than are asked for.
fn order_of(sorted: &Arc<dyn ExecutionPlan>) -> Option<LexOrdering> {
    match sorted.downcast_ref::<SortExec>() {
        Some(sort) => Some(sort.expr().clone()),
        None => sorted.output_ordering().cloned(),
    }
}

impl Passage for LateRows {
    const NAME: &'static str = "LateColumnsExec";
    const LETS_CONDITIONS_DOWN: bool = false;
    const TAKES_PARTITIONS: bool = false;

    fn order(&self) -> Option<&LexOrdering> {
        self.order.as_ref()
    }

    fn statistics(&self, input: &Arc<Statistics>) -> Arc<Statistics> {
        let rows = Statistics { num_rows: input.num_rows, ..Statistics::new_unknown(&self.layout.schema) };
        Arc::new(rows)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.late.schema().fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, ": [{}]", names.join(", "))
    }

    fn properties(&self, input: &dyn ExecutionPlan) -> Arc<PlanProperties> {
        let (from, to) = (input.schema(), &self.layout.schema);
        let passed = self.layout.kept.iter().enumerate().filter_map(|(own, kept)| Some((own, (*kept)?)));
        let passed = passed.map(|(own, kept)| {
            let column = |index: usize, schema: &SchemaRef| -> Arc<dyn PhysicalExpr> {
                Arc::new(Column::new(schema.field(index).name(), index))
            };
            (column(kept, &from), vec![(column(own, to), own)].into())
        });
        let mapping: ProjectionMapping = passed.collect();
        Arc::new(PlanProperties::new(
            input.properties().equivalence_properties().project(&mapping, Arc::clone(to)),
            Partitioning::UnknownPartitioning(1),
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
        let work = QueryWork::of_task(&context);
        let rows = input.execute(partition, context)?;
        let (late, layout) = (Arc::clone(&self.late), Arc::clone(&self.layout));
        let batch = futures::stream::once(async move {
            let schema = rows.schema();
            let rows = concat_batches(&schema, &rows.try_collect::<Vec<_>>().await?)?;
            if rows.num_rows() == 0 {
                return Ok(RecordBatch::new_empty(Arc::clone(&layout.schema)));
            }
            let positions = positions(&rows, layout.place)?;
            let read = SpawnedTask::spawn_blocking(move || late.read(&positions, &|| work.is_cancelled()));
            let read = read.await.map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))?;
            layout.completed(&rows, &read.map_err(external)?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.layout.schema), batch)))
    }
}

impl Layout {
    fn completed(&self, rows: &RecordBatch, late: &RecordBatch) -> Result<RecordBatch> {
        let mut late = late.columns().iter();
        let columns = self.kept.iter().map(|kept| match kept {
            Some(index) => rows.columns().get(*index),
            None => late.next(),
        });
        let Some(columns) = columns.map(|column| column.cloned()).collect() else {
            return internal_err!("a late column was not read");
        };
        let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }
}

fn positions(rows: &RecordBatch, (file, row): (usize, usize)) -> Result<Vec<Position>> {
    let files = rows.column(file).as_primitive_opt::<UInt32Type>();
    let numbers = rows.column(row).as_primitive_opt::<Int64Type>();
    let (Some(files), Some(numbers)) = (files, numbers) else { return internal_err!("rows without positions") };
    let position = |(file, row): (&u32, &i64)| Some((usize::try_from(*file).ok()?, u64::try_from(*row).ok()?));
    match files.values().iter().zip(numbers.values()).map(position).collect() {
        Some(positions) => Ok(positions),
        None => internal_err!("rows with impossible positions"),
    }
}

fn external(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
