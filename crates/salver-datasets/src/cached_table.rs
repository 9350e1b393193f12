//! Tables of Parquet files whose columns a statement finds in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Result, Statistics, internal_err};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::{
    Expr, LogicalPlan, TableProviderFilterPushDown, TableScan, TableScanBuilder, TableType,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;

use crate::cached_columns::{CachedColumns, CachedSource, Piece, ScannedColumns};
use crate::column_cache::StatementId;
use crate::engine::QueryWork;
use crate::parquet_table::ParquetProvider;

/// Has scans read columns in memory, where all that they need are there.
#[derive(Debug)]
pub(crate) struct CachedScans;

impl OptimizerRule for CachedScans {
    fn name(&self) -> &'static str {
        "cached_scans"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::TableScan(scan) = &plan else { return Ok(Transformed::no(plan)) };
        let provider = source_as_provider(&scan.source)?;
        let Some(provider) = (*provider).downcast_ref::<ParquetProvider>() else { return Ok(Transformed::no(plan)) };
        let asker = provider.caches().then(|| QueryWork::of(&config.options()).statement());
        let Some(cached) = CachedTable::of(provider, scan, asker) else { return Ok(Transformed::no(plan)) };
        let scan = TableScanBuilder::new(scan.table_name.clone(), provider_as_source(Arc::new(cached)))
            .with_projection(scan.projection.clone())
            .with_filters(scan.filters.clone())
            .with_fetch(scan.fetch)
            .build()?;
        Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
    }
}

/// A table of which some columns are in memory. Scans of others are not made.
#[derive(Debug)]
struct CachedTable {
    provider: ParquetProvider,
    columns: Arc<CachedColumns>,
    pieces: BTreeMap<usize, Piece>,
}

impl CachedTable {
    /// Returns the table for a scan of it; `None` if not all that it needs is in memory. If there is an `asker`, it is
    /// read ahead when another one asks again.
    fn of(provider: &ParquetProvider, scan: &TableScan, asker: Option<StatementId>) -> Option<Self> {
        let columns = provider.table().cached()?;
        let schema = provider.schema();
        let mut needed: Vec<usize> = match &scan.projection {
            Some(projection) => projection.clone(),
            None => (0..schema.fields().len()).collect(),
        };
        for column in scan.filters.iter().flat_map(Expr::column_refs) {
            needed.push(schema.index_of(&column.name).ok()?);
        }
        needed.sort_unstable();
        needed.dedup();
        let width = columns.files().schema().fields().len();
        let (own, beside): (Vec<usize>, Vec<usize>) = needed.into_iter().partition(|column| *column < width);
        if own.is_empty() {
            return None;
        }
        let held = columns.held(&own, asker)?;
        let held = own.into_iter().zip(held.into_iter().map(Piece::Column));
        let placed = beside.into_iter().map(|column| (column, if column == width { Piece::File } else { Piece::Row }));
        let pieces = held.chain(placed).collect();
        Some(Self { provider: provider.clone(), columns: Arc::clone(columns), pieces })
    }
}

#[async_trait]
impl TableProvider for CachedTable {
    fn schema(&self) -> SchemaRef {
        self.provider.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn statistics(&self) -> Option<Statistics> {
        self.provider.statistics()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.provider.supports_filters_pushdown(filters)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        // Files that were replaced are refused, as they are when they are read.
        self.provider.check()?;
        let schema = self.schema();
        let all: Vec<usize> = (0..schema.fields().len()).collect();
        let columns = projection.unwrap_or(&all);
        let Some(pieces) = columns.iter().map(|column| self.pieces.get(column).cloned()).collect::<Option<_>>() else {
            return internal_err!("a scan needs a column that is not in memory");
        };
        Ok(DataSourceExec::from_data_source(CachedSource {
            columns: ScannedColumns {
                schema: Arc::new(schema.project(columns)?),
                pieces,
                files: Arc::clone(self.columns.files()),
            },
            statistics: self.provider.known().project(Some(columns)),
            partitions: state.config().target_partitions().max(1),
            batch_rows: self.provider.batch_rows(projection).unwrap_or(usize::MAX),
            fetch: limit.filter(|_| filters.is_empty()),
            conditions: Vec::new(),
            metrics: ExecutionPlanMetricsSet::new(),
        }))
    }
}
