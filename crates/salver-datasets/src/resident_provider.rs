//! Rows in memory as a table of the engine.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{Result, Statistics};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;

use crate::direct::Resident;

/// A table of resident rows.
#[derive(Debug)]
pub(crate) struct ResidentProvider {
    schema: SchemaRef,
    resident: Arc<Resident>,
}

impl ResidentProvider {
    /// Presents `resident`, whose chunks have `schema`.
    pub(crate) fn new(schema: SchemaRef, resident: Arc<Resident>) -> Self {
        Self { schema, resident }
    }
}

#[async_trait]
impl TableProvider for ResidentProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn statistics(&self) -> Option<Statistics> {
        let rows = self.resident.chunks.iter().map(RecordBatch::num_rows).sum();
        Some(Statistics { num_rows: Precision::Exact(rows), ..Statistics::new_unknown(&self.schema) })
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let partitions = state.config().target_partitions().max(1);
        let chunks = &self.resident.chunks;
        // Adjacent chunks stay together, so that a single partition keeps the order of the source.
        let share = chunks.len().div_ceil(partitions).max(1);
        let mut shares: Vec<Vec<RecordBatch>> = chunks.chunks(share).map(<[RecordBatch]>::to_vec).collect();
        if shares.is_empty() {
            shares.push(Vec::new());
        }
        let source = MemorySourceConfig::try_new(&shares, Arc::clone(&self.schema), projection.cloned())?
            .with_limit(limit)
            .with_show_sizes(false);
        Ok(datafusion::datasource::source::DataSourceExec::from_data_source(source))
    }
}
