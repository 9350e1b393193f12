//! Scans cached columns: slices of memory, chunk by chunk, without those chunks that can't have a row.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics};
use datafusion::datasource::source::DataSource;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::SchedulingType;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayFormatType, Partitioning};
use futures::stream;

use super::chunk_pruning::ChunkPruning;
use super::scanned_columns::ScannedColumns;

/// A scan of cached columns.
#[derive(Clone, Debug)]
pub(crate) struct CachedSource {
    pub(crate) columns: ScannedColumns,
    /// Of the rows without conditions.
    pub(crate) statistics: Statistics,
    /// Number of partitions: chunks are dealt out to them in turns.
    pub(crate) partitions: usize,
    /// Most rows of a batch.
    pub(crate) batch_rows: usize,
    /// Most rows of a partition.
    pub(crate) fetch: Option<usize>,
    /// Conditions that rows must meet to be of use. They only tell which chunks are skipped.
    pub(crate) conditions: Vec<Arc<dyn PhysicalExpr>>,
    pub(crate) metrics: ExecutionPlanMetricsSet,
}

impl DataSource for CachedSource {
    fn open(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let batch_rows = self.batch_rows.min(context.session_config().batch_size()).max(1);
        let batches = Batches {
            source: self.clone(),
            pruning: ChunkPruning::new(&self.conditions),
            batch_rows,
            chunk: partition,
            row: 0,
            left: self.fetch.unwrap_or(usize::MAX),
            output_rows: MetricBuilder::new(&self.metrics).output_rows(partition),
            skipped: MetricBuilder::new(&self.metrics).counter("chunks_skipped", partition),
        };
        let schema = Arc::clone(&self.columns.schema);
        Ok(Box::pin(cooperative(RecordBatchStreamAdapter::new(schema, stream::iter(batches)))))
    }

    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.columns.schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "cached columns=[{}], partitions={}", names.join(", "), self.partitions)?;
        if !self.conditions.is_empty() {
            let conditions: Vec<String> = self.conditions.iter().map(ToString::to_string).collect();
            write!(f, ", skips chunks by={}", conditions.join(" AND "))?;
        }
        self.fetch.map_or(Ok(()), |fetch| write!(f, ", fetch={fetch}"))
    }

    fn output_partitioning(&self) -> Partitioning {
        Partitioning::UnknownPartitioning(self.partitions)
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        EquivalenceProperties::new(Arc::clone(&self.columns.schema))
    }

    fn scheduling_type(&self) -> SchedulingType {
        SchedulingType::Cooperative
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let known = match partition {
            Some(_) => Statistics::new_unknown(&self.columns.schema),
            None if self.conditions.is_empty() => self.statistics.clone(),
            None => self.statistics.clone().to_inexact(),
        };
        Ok(Arc::new(known))
    }

    fn with_fetch(&self, fetch: Option<usize>) -> Option<Arc<dyn DataSource>> {
        Some(Arc::new(Self { fetch, ..self.clone() }))
    }

    fn fetch(&self) -> Option<usize> {
        self.fetch
    }

    fn metrics(&self) -> ExecutionPlanMetricsSet {
        self.metrics.clone()
    }

    fn try_swapping_with_projection(&self, _: &ProjectionExprs) -> Result<Option<Arc<dyn DataSource>>> {
        Ok(None)
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn DataSource>>> {
        // Rows are not filtered here: skipping chunks is all.
        let kept = FilterPushdownPropagation::with_parent_pushdown_result(vec![PushedDown::No; filters.len()]);
        if filters.is_empty() {
            return Ok(kept);
        }
        let conditions = self.conditions.iter().cloned().chain(filters).collect();
        Ok(kept.with_updated_node(Arc::new(Self { conditions, ..self.clone() })))
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let mut recursion = TreeNodeRecursion::Continue;
        for condition in &self.conditions {
            recursion = recursion.visit_sibling(|| f(condition))?;
        }
        Ok(recursion)
    }
}

/// The batches of one partition.
struct Batches {
    source: CachedSource,
    pruning: Option<ChunkPruning>,
    batch_rows: usize,
    chunk: usize,
    row: usize,
    left: usize,
    output_rows: Count,
    skipped: Count,
}

impl Iterator for Batches {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        while self.left > 0 && self.chunk < self.source.columns.chunks() {
            let rows = self.source.columns.chunk_rows(self.chunk);
            if self.row == 0 && !self.pruning.as_mut().is_none_or(|own| own.may_pass(&self.source.columns, self.chunk))
            {
                self.skipped.add(1);
            } else if self.row < rows {
                let end = rows.min(self.row + self.batch_rows.min(self.left));
                let batch = self.source.columns.batch(self.chunk, self.row..end);
                self.left -= end - self.row;
                self.output_rows.add(end - self.row);
                self.row = end;
                return Some(batch);
            }
            self.chunk += self.source.partitions;
            self.row = 0;
        }
        None
    }
}
