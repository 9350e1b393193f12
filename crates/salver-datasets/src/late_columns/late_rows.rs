//! The operator that reads late columns.

use std::fmt;
use std::sync::Arc;

use arrow::array::{AsArray, RecordBatch, RecordBatchOptions};
use arrow::compute::concat_batches;
use arrow::datatypes::{Int64Type, SchemaRef, UInt32Type};
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionMapping;
use datafusion::physical_expr::{Distribution, OrderingRequirements, Partitioning};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, InputDistributionRequirements, PhysicalExpr,
    PlanProperties,
};
use futures::TryStreamExt;
use salver_model::Error;

use crate::held_rows::{PickedColumns, Position};
use crate::parquet_table::ParquetTable;

/// Rows in an order, to which columns are added.
#[derive(Debug)]
pub(super) struct LateRows {
    input: Arc<dyn ExecutionPlan>,
    late: Arc<PickedColumns>,
    about: Arc<Layout>,
    order: Option<OrderingRequirements>,
    properties: Arc<PlanProperties>,
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
        Self::with(input, Arc::new(late), Arc::new(Layout { schema, kept, place }))
    }

    fn with(
        input: Arc<dyn ExecutionPlan>,
        late: Arc<PickedColumns>,
        about: Arc<Layout>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // The order is demanded of the input, so that no rule thinks its sort were for nothing.
        let order = input.output_ordering().cloned().map(OrderingRequirements::from);
        let (from, to) = (input.schema(), &about.schema);
        let passed = about.kept.iter().enumerate().filter_map(|(own, kept)| Some((own, (*kept)?)));
        let passed = passed.map(|(own, kept)| {
            let column = |index: usize, schema: &SchemaRef| -> Arc<dyn PhysicalExpr> {
                Arc::new(Column::new(schema.field(index).name(), index))
            };
            (column(kept, &from), vec![(column(own, to), own)].into())
        });
        let mapping: ProjectionMapping = passed.collect();
        let properties = Arc::new(PlanProperties::new(
            input.equivalence_properties().project(&mapping, Arc::clone(to)),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        ));
        Ok(Arc::new(Self { input, late, about, order, properties }))
    }

    fn replaced(&self, mut children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match children.pop() {
            Some(input) => Self::with(input, Arc::clone(&self.late), Arc::clone(&self.about)),
            None => internal_err!("late columns without rows"),
        }
    }
}

impl DisplayAs for LateRows {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.late.schema().fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "LateColumnsExec: [{}]", names.join(", "))
    }
}

impl ExecutionPlan for LateRows {
    fn name(&self) -> &'static str {
        "LateColumnsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        vec![self.order.clone()]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![Distribution::SinglePartition])
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
        self.replaced(children)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replaced(children)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.input.execute(partition, context)?;
        let (late, about) = (Arc::clone(&self.late), Arc::clone(&self.about));
        let batch = futures::stream::once(async move {
            let schema = rows.schema();
            let rows = concat_batches(&schema, &rows.try_collect::<Vec<_>>().await?)?;
            if rows.num_rows() == 0 {
                return Ok(RecordBatch::new_empty(Arc::clone(&about.schema)));
            }
            let positions = positions(&rows, about.place)?;
            let read = SpawnedTask::spawn_blocking(move || late.read(&positions));
            let read = read.await.map_err(|error| DataFusionError::ExecutionJoin(Box::new(error)))?;
            about.completed(&rows, &read.map_err(external)?)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.about.schema), batch)))
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
