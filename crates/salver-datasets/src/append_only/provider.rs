//! A snapshot as a table of the engine: one partition or many, with projection, filter and limit pushed down.

use std::sync::Arc;

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{Result, ScalarValue, Statistics};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use salver_model::ports::Held;
use salver_model::{Filter, Value};

use super::reader::SnapshotRead;
use super::scan::HeldScan;
use crate::federate::{condition, scalar};
use crate::parquet_table::{FILE, ROW};

/// A snapshot with its own columns, optionally followed by [`FILE`] (the partition) and [`ROW`]. These two are the
/// position of a row, which breaks ties when rows compare equal.
#[derive(Debug)]
pub(super) struct HeldProvider {
    held: Arc<dyn Held>,
    schema: SchemaRef,
}

impl HeldProvider {
    /// Presents only the rows' own columns.
    pub(super) fn plain(held: Arc<dyn Held>) -> Self {
        let schema = Arc::clone(&held.describe().schema);
        Self { held, schema }
    }

    /// Presents the rows' columns and positions.
    pub(super) fn placed(held: Arc<dyn Held>) -> Self {
        let own = &held.describe().schema;
        let place = [Field::new(FILE, DataType::UInt32, false), Field::new(ROW, DataType::Int64, false)];
        let fields: Vec<_> = own.fields().iter().cloned().chain(place.map(Arc::new)).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, own.metadata().clone()));
        Self { held, schema }
    }
}

#[async_trait]
impl TableProvider for HeldProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn statistics(&self) -> Option<Statistics> {
        let rows = usize::try_from(self.held.describe().rows?).ok()?;
        Some(Statistics { num_rows: Precision::Inexact(rows), ..Statistics::new_unknown(&self.schema) })
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // The filter is inexact: rows that don't match may pass, so the engine filters again.
        let support = |filter: &&Expr| match condition(filter, scalar_or_time) {
            Some(_) => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let columns = match projection {
            Some(columns) => columns.clone(),
            None => (0..self.schema.fields().len()).collect(),
        };
        let schema = Arc::new(self.schema.project(&columns)?);
        let own = self.held.describe().schema.fields().len();
        let conditions: Vec<Filter> = filters.iter().filter_map(|filter| condition(filter, scalar_or_time)).collect();
        let reader = SnapshotRead {
            held: Arc::clone(&self.held),
            columns: columns.iter().copied().filter(|column| *column < own).collect(),
            filter: (!conditions.is_empty()).then_some(Filter::And(conditions)),
            limit: limit.filter(|_| filters.is_empty()).map(|limit| limit as u64),
        };
        // Only a single partition keeps the order of the rows.
        let partitions = state.config().target_partitions().clamp(1, self.held.parts().max(1));
        Ok(Arc::new(HeldScan::new(reader, schema, partitions)))
    }
}

/// Returns a scalar of the engine as a literal of a query. Times are text, as in the queries of clients.
fn scalar_or_time(value: &ScalarValue) -> Option<Value> {
    let (number, per_s) = match value {
        ScalarValue::TimestampSecond(Some(n), _) => (*n, 1),
        ScalarValue::TimestampMillisecond(Some(n), _) => (*n, 1_000),
        ScalarValue::TimestampMicrosecond(Some(n), _) => (*n, 1_000_000),
        ScalarValue::TimestampNanosecond(Some(n), _) => (*n, 1_000_000_000),
        other => return scalar(other),
    };
    let nanos = number.rem_euclid(per_s) * (1_000_000_000 / per_s);
    let time = chrono::DateTime::from_timestamp(number.div_euclid(per_s), u32::try_from(nanos).ok()?)?;
    Some(Value::Text(time.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true)))
}
