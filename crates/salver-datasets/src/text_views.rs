//! Texts that rows are only grouped by, read from Parquet as views: a short one lies within its view, so that it is
//! hashed and compared as a number.
//!
//! ```text
//! group by flag                     cast(flag as text)
//!   filter date < ...        =>       group by flag
//!     scan (flag: text)                 filter date < ...
//!                                         scan (flag: view)
//! ```
//!
//! Where anything else reads the column, it stays a text: functions, joins and sorts of many rows are slower over
//! views.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, Result};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::{
    Aggregate, Expr, Filter, LogicalPlan, Projection, SubqueryAlias, TableScan, TableScanBuilder, cast,
};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use crate::parquet_table::ParquetProvider;

/// Reads such texts as views.
#[derive(Debug)]
pub(crate) struct TextViews;

impl OptimizerRule for TextViews {
    fn name(&self) -> &'static str {
        "text_views"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Aggregate(aggregate) = &plan else { return Ok(Transformed::no(plan)) };
        match grouped_by_views(aggregate)? {
            Some(rewritten) => Ok(Transformed::yes(rewritten)),
            None => Ok(Transformed::no(plan)),
        }
    }
}

fn grouped_by_views(aggregate: &Aggregate) -> Result<Option<LogicalPlan>> {
    let schema = aggregate.input.schema();
    let exprs: Vec<&Expr> = aggregate.group_expr.iter().chain(&aggregate.aggr_expr).collect();
    let grouped: Vec<usize> = aggregate.group_expr.iter().filter_map(|expr| passed(expr, &exprs, schema)).collect();
    let is_text = |column: &usize| *schema.field(*column).data_type() == DataType::Utf8;
    let Some(input) = with_views(&aggregate.input, grouped.into_iter().filter(is_text).collect())? else {
        return Ok(None);
    };
    let (groups, aggregates) = (aggregate.group_expr.clone(), aggregate.aggr_expr.clone());
    let viewed = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(input), groups, aggregates)?);
    let columns = viewed.schema().iter().zip(aggregate.schema.iter()).map(|((_, own), (qualifier, field))| {
        let column = Expr::Column(Column::from((qualifier, field)));
        match own.data_type() == field.data_type() {
            true => column,
            false => cast(column, field.data_type().clone()).alias_qualified(qualifier.cloned(), field.name()),
        }
    });
    let columns = columns.collect();
    Projection::try_new_with_schema(columns, Arc::new(viewed), Arc::clone(&aggregate.schema))
        .map(|own| Some(LogicalPlan::Projection(own)))
}

/// Returns the column of `input` that an expression passes on; `None` if it does anything else, or if another one of
/// `exprs` refers to the column too.
fn passed(expr: &Expr, exprs: &[&Expr], input: &DFSchema) -> Option<usize> {
    let column = match expr {
        Expr::Column(column) => column,
        Expr::Alias(named) => return passed(&named.expr, exprs, input),
        _ => return None,
    };
    let readers = exprs.iter().filter(|own| own.column_refs().contains(column)).count();
    if readers == 1 { input.maybe_index_of_column(column) } else { None }
}

/// Returns the plan with as many as possible of its `columns` as views; `None` if that is none of them.
fn with_views(plan: &LogicalPlan, mut columns: Vec<usize>) -> Result<Option<LogicalPlan>> {
    let mut leave = |readers: &[Expr]| {
        let is_read = |column: &Column| readers.iter().any(|own| own.column_refs().contains(column));
        let all = plan.schema().columns();
        columns.retain(|column| all.get(*column).is_some_and(|own| !is_read(own)));
    };
    match plan {
        LogicalPlan::Filter(own) => {
            leave(std::slice::from_ref(&own.predicate));
            let Some(input) = with_views(&own.input, columns)? else { return Ok(None) };
            Filter::try_new(own.predicate.clone(), Arc::new(input)).map(|own| Some(LogicalPlan::Filter(own)))
        }
        LogicalPlan::Projection(own) => {
            let (exprs, below): (Vec<&Expr>, _) = (own.expr.iter().collect(), own.input.schema());
            let columns = columns.into_iter().filter_map(|column| passed(exprs.get(column)?, &exprs, below)).collect();
            let Some(input) = with_views(&own.input, columns)? else { return Ok(None) };
            Projection::try_new(own.expr.clone(), Arc::new(input)).map(|own| Some(LogicalPlan::Projection(own)))
        }
        LogicalPlan::SubqueryAlias(own) => {
            let Some(input) = with_views(&own.input, columns)? else { return Ok(None) };
            let aliased = SubqueryAlias::try_new(Arc::new(input), own.alias.clone())?;
            Ok(Some(LogicalPlan::SubqueryAlias(aliased)))
        }
        LogicalPlan::TableScan(own) => {
            leave(&own.filters);
            scan(own, &columns)
        }
        _ => Ok(None),
    }
}

fn scan(own: &TableScan, columns: &[usize]) -> Result<Option<LogicalPlan>> {
    let provider = source_as_provider(&own.source)?;
    let Some(provider) = (*provider).downcast_ref::<ParquetProvider>() else { return Ok(None) };
    let of_table = |column: &usize| match &own.projection {
        Some(projection) => projection.get(*column).copied(),
        None => Some(*column),
    };
    let columns: Vec<usize> = columns.iter().filter_map(of_table).collect();
    let Some(viewed) = provider.with_views(&columns) else { return Ok(None) };
    let scan = TableScanBuilder::new(own.table_name.clone(), provider_as_source(Arc::new(viewed)))
        .with_projection(own.projection.clone())
        .with_filters(own.filters.clone())
        .with_fetch(own.fetch)
        .build()?;
    Ok(Some(LogicalPlan::TableScan(scan)))
}
