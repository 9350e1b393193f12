//! Any entry as a table of the engine: what the engine wants of it is asked through its port, with columns, filter and
//! limit handed down.

use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result, ScalarValue};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::{StreamExt, TryStreamExt};
use salver_model::ports::Table;
use salver_model::{Batches, Comparison, Filter, Item, Query, Value};

use crate::dataset::Dataset;

/// The entry as the engine sees it.
pub(crate) fn provider(table: &Arc<dyn Table>) -> Arc<dyn TableProvider> {
    match table.as_any().downcast_ref::<Dataset>() {
        Some(dataset) => dataset.provider(),
        None => Arc::new(PortProvider { table: Arc::clone(table) }),
    }
}

#[derive(Debug)]
struct PortProvider {
    table: Arc<dyn Table>,
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
        // Another kind of entry may compare a little differently, so the engine looks at the rows once more.
        let support = |filter: &&Expr| match condition(filter) {
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
        let conditions: Vec<Filter> = filters.iter().filter_map(condition).collect();
        let query = Query {
            items: schema.fields().iter().map(|field| Item::column(field.name().as_str())).collect(),
            filter: (!conditions.is_empty()).then_some(Filter::And(conditions)),
            limit: limit.filter(|_| filters.is_empty()).map(|limit| limit as u64),
            ..Query::default()
        };
        let stream = PortStream { table: Arc::clone(&self.table), schema: Arc::clone(&schema), query };
        let partitions: Vec<Arc<dyn PartitionStream>> = vec![Arc::new(stream)];
        Ok(Arc::new(StreamingTableExec::try_new(schema, partitions, None, None, false, limit)?))
    }
}

/// One read through the port.
#[derive(Debug)]
struct PortStream {
    table: Arc<dyn Table>,
    schema: SchemaRef,
    query: Query,
}

impl PartitionStream for PortStream {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (table, mut query, schema) = (Arc::clone(&self.table), self.query.clone(), Arc::clone(&self.schema));
        // No column at all still means that rows are counted.
        let only_count = schema.fields().is_empty();
        if only_count {
            let first = table.describe().schema.fields().first().map(|field| field.name().clone());
            query.items = first.into_iter().map(Item::column).collect();
        }
        let rows = async move {
            let rows = table.read(&query).await.map_err(external)?;
            let batches = match rows.batches {
                Batches::Ready(batches) => futures::stream::iter(batches.into_iter().map(Ok)).boxed(),
                Batches::Stream(stream) => stream,
            };
            Ok::<_, DataFusionError>(batches.map(move |batch| match batch {
                Ok(batch) if only_count => Ok(batch.project(&[])?.with_schema(Arc::new(Schema::empty()))?),
                Ok(batch) => Ok(batch),
                Err(error) => Err(external(error)),
            }))
        };
        let stream = futures::stream::once(rows).try_flatten();
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream))
    }
}

fn external(error: salver_model::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The expression as a filter of a query, where a query can say it.
fn condition(expr: &Expr) -> Option<Filter> {
    Some(match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            Filter::And(vec![condition(left)?, condition(right)?])
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            Filter::Or(vec![condition(left)?, condition(right)?])
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let op = comparison(*op)?;
            Filter::Compare { column: column(left)?, op, value: literal(right)? }
        }
        Expr::Not(inner) => condition(inner)?.negated(),
        Expr::IsNull(inner) => Filter::IsNull { column: column(inner)? },
        Expr::IsNotNull(inner) => Filter::IsNull { column: column(inner)? }.negated(),
        Expr::InList(InList { expr, list, negated }) => {
            let found = Filter::In { column: column(expr)?, values: list.iter().map(literal).collect::<Option<_>>()? };
            if *negated { found.negated() } else { found }
        }
        _ => return None,
    })
}

fn comparison(op: Operator) -> Option<Comparison> {
    Some(match op {
        Operator::Eq => Comparison::Eq,
        Operator::NotEq => Comparison::NotEq,
        Operator::Lt => Comparison::Lt,
        Operator::LtEq => Comparison::LtEq,
        Operator::Gt => Comparison::Gt,
        Operator::GtEq => Comparison::GtEq,
        _ => return None,
    })
}

fn column(expr: &Expr) -> Option<salver_model::ColumnPath> {
    match expr {
        Expr::Column(column) => Some(salver_model::ColumnPath::column(column.name.as_str())),
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<Value> {
    let Expr::Literal(value, _) = expr else { return None };
    Some(match value {
        ScalarValue::Boolean(Some(b)) => Value::Bool(*b),
        ScalarValue::Int8(Some(i)) => Value::Int(i64::from(*i)),
        ScalarValue::Int16(Some(i)) => Value::Int(i64::from(*i)),
        ScalarValue::Int32(Some(i)) => Value::Int(i64::from(*i)),
        ScalarValue::Int64(Some(i)) => Value::Int(*i),
        ScalarValue::UInt8(Some(u)) => Value::UInt(u64::from(*u)),
        ScalarValue::UInt16(Some(u)) => Value::UInt(u64::from(*u)),
        ScalarValue::UInt32(Some(u)) => Value::UInt(u64::from(*u)),
        ScalarValue::UInt64(Some(u)) => Value::UInt(*u),
        ScalarValue::Float64(Some(x)) => Value::Float(*x),
        ScalarValue::Utf8(Some(s)) | ScalarValue::LargeUtf8(Some(s)) | ScalarValue::Utf8View(Some(s)) => {
            Value::Text(s.clone())
        }
        _ => return None,
    })
}
