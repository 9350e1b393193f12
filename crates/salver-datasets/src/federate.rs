//! Tables of other backends in the engine: the engine reads an entry through its port, with projection, filter and
//! limit pushed down.

mod condition;
mod explain;
mod join;
mod one_view;
mod scan;

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use salver_model::ports::Table;
use salver_model::{Filter, Item, Query};

use crate::restricted::RestrictedTable;
pub(crate) use condition::{condition, scalar};
pub(crate) use explain::Shown;
pub(crate) use one_view::OneView;
use scan::PortScan;

/// Returns an entry of another backend as a table of the engine.
pub(crate) fn provider(table: &Arc<dyn Table>) -> Arc<dyn TableProvider> {
    Arc::new(PortProvider { table: Arc::clone(table) })
}

#[derive(Debug)]
struct PortProvider {
    table: Arc<dyn Table>,
}

impl PortProvider {
    /// Returns the filter as one that the table is asked for; `None` if it can't be, or must not.
    fn pushed(&self, filter: &Expr) -> Option<Filter> {
        RestrictedTable::pushable(&self.table, condition(filter, scalar)?)
    }
}

#[async_trait]
impl TableProvider for PortProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.table.describe().schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // Other backends may compare slightly differently, so the engine filters the rows again.
        let support = |filter: &&Expr| match self.pushed(filter) {
            Some(_) => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let whole = self.schema();
        let schema = match projection {
            Some(columns) => Arc::new(whole.project(columns)?),
            None => whole,
        };
        let conditions: Vec<Filter> = filters.iter().filter_map(|filter| self.pushed(filter)).collect();
        let query = Query {
            items: schema.fields().iter().map(|field| Item::column(field.name().as_str())).collect(),
            filter: (!conditions.is_empty()).then_some(Filter::And(conditions)),
            limit: limit.filter(|_| filters.is_empty()).map(|limit| limit as u64),
            ..Query::default()
        };
        Ok(Arc::new(PortScan::new(Arc::clone(&self.table), schema, query)))
    }
}
