//! The plan node that reads an entry through its port. `EXPLAIN` shows what is pushed down to it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::filter_pushdown::{
    ChildPushdownResult, FilterPushdownPhase, FilterPushdownPropagation, PushedDown,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PhysicalExpr, PlanProperties,
};
use futures::{StreamExt, TryStreamExt};
use salver_model::ports::Table;
use salver_model::{Batches, EntryKind, Filter, Item, Query, ReadView};

use super::{Shown, join};
use crate::restricted::RestrictedTable;

/// One scan of an entry.
#[derive(Clone, Debug)]
pub(super) struct PortScan {
    table: Arc<dyn Table>,
    /// The table in the view of its statement, once the plan is complete. Copies of the scan share it.
    in_view: Arc<OnceLock<Arc<dyn Table>>>,
    schema: SchemaRef,
    query: Query,
    /// Dynamic filters, which a join fills in from its build side while it runs.
    joined: Vec<Arc<dyn PhysicalExpr>>,
    properties: Arc<PlanProperties>,
}

impl PortScan {
    pub(super) fn new(table: Arc<dyn Table>, schema: SchemaRef, query: Query) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self { table, in_view: Arc::default(), schema, query, joined: Vec::new(), properties: Arc::new(properties) }
    }

    /// Has the scan read its table in a view.
    pub(super) fn see(&self, view: &Arc<ReadView>) {
        if let Some(table) = self.table.in_view(view) {
            // A plan gets a view once.
            let _ = self.in_view.set(table);
        }
    }
}

impl DisplayAs for PortScan {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let about = self.table.describe();
        let columns: Vec<&str> = self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        // Of files, clients learn no paths.
        let source = if about.kind == EntryKind::Dataset { "files" } else { about.source.as_str() };
        write!(f, "PortScan: {} ({source}), columns=[{}]", about.name, columns.join(", "))?;
        if let Some(filter) = &self.query.filter {
            write!(f, ", filter={}", Shown(filter))?;
        }
        if let Some(limit) = self.query.limit {
            write!(f, ", limit={limit}")?;
        }
        for filter in &self.joined {
            write!(f, ", join filter={filter}")?;
        }
        Ok(())
    }
}

impl ExecutionPlan for PortScan {
    fn name(&self) -> &'static str {
        "PortScan"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for filter in &self.joined {
            if f(filter)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
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

    /// Keeps the dynamic filters of joins. The engine still checks every row, so the filters need not be exact.
    fn handle_child_pushdown_result(
        &self,
        phase: FilterPushdownPhase,
        result: ChildPushdownResult,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn ExecutionPlan>>> {
        let filters: Vec<Arc<dyn PhysicalExpr>> = result.parent_filters.into_iter().map(|own| own.filter).collect();
        let answer = FilterPushdownPropagation::with_parent_pushdown_result(vec![PushedDown::No; filters.len()]);
        let joined: Vec<_> = filters.into_iter().filter(join::is_filled_later).collect();
        // With a limit, a join's filter would be applied before the rows are counted.
        if phase == FilterPushdownPhase::Pre || joined.is_empty() || self.query.limit.is_some() {
            return Ok(answer);
        }
        Ok(answer.with_updated_node(Arc::new(Self { joined, ..self.clone() })))
    }

    fn execute(&self, _partition: usize, _context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let table = Arc::clone(self.in_view.get().unwrap_or(&self.table));
        let (mut query, schema) = (self.query.clone(), Arc::clone(&self.schema));
        let joined = self.joined.clone();
        // A projection without columns still needs the number of rows.
        let only_count = schema.fields().is_empty();
        if only_count {
            let first = table.describe().schema.fields().first().map(|field| field.name().clone());
            query.items = first.into_iter().map(Item::column).collect();
        }
        let table = if only_count { RestrictedTable::unordered(&table) } else { table };
        let rows = async move {
            // The query is sent when the build side of the join is complete.
            let found = joined.iter().filter_map(join::filter);
            let found: Vec<Filter> = found.filter_map(|filter| RestrictedTable::pushable(&table, filter)).collect();
            if !found.is_empty() {
                query.filter = Some(Filter::And(query.filter.take().into_iter().chain(found).collect()));
            }
            let rows = table.read(&query).await.map_err(external)?;
            let batches = match rows.batches {
                Batches::Ready(batches) => futures::stream::iter(batches.into_iter().map(Ok)).boxed(),
                Batches::Stream(stream) => stream,
            };
            Ok::<_, DataFusionError>(batches.map(move |batch| match batch {
                Ok(batch) if only_count => Ok(batch.project(&[])?.with_schema(Arc::new(Schema::empty()))?),
                Ok(batch) => Ok(batch.with_schema(Arc::clone(&schema))?),
                Err(error) => Err(external(error)),
            }))
        };
        let stream = futures::stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream)))
    }
}

fn external(error: salver_model::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
