//! Runs queries with groups, aggregates or distinct rows through the engine.

use std::sync::Arc;

use arrow::datatypes::{Field, FieldRef, Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::{Column, DFSchema};
use datafusion::functions_aggregate::expr_fn::{count, count_distinct, max, min};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlanBuilder, SortExpr, lit};
use salver_model::entry::Description;
use salver_model::{AggregateFunction, Error, Query, Result, Rows};

use super::{WatchedQuery, aside, condition, count_plan, place, rename, scan, to_usize};
use crate::engine::{Engine, avg, sum};
use crate::fault;
use crate::resolve::{From, Grouped, ResolvedColumn, resolve_grouped};

/// Runs a query with groups or distinct rows.
pub(crate) async fn read(
    engine: &Arc<Engine>,
    provider: &Arc<dyn TableProvider>,
    about: &Description,
    query: &Query,
) -> Result<Rows> {
    let (grouped, groups) = aside(&about.schema, || {
        let qualified = DFSchema::try_from_qualified_schema(super::TABLE, &about.schema).map_err(fault::planning)?;
        let grouped = resolve_grouped(query, about, &|function, at| {
            let values = aggregate(function, at, &about.schema).map_err(fault::planning)?;
            let (_, field) = values.to_field(&qualified).map_err(fault::planning)?;
            Ok(field)
        })?;
        let groups = groups(provider, &about.schema, &grouped).map_err(fault::planning)?;
        Ok::<_, Error>((grouped, groups))
    })?;
    let watched = WatchedQuery::of_entry(engine, &about.name);
    let total = match grouped.count {
        true => Some(count_plan(engine, groups.clone(), watched.clone()).await?),
        false => None,
    };
    let paged = || page(groups, &grouped).and_then(LogicalPlanBuilder::build);
    let plan = aside(&about.schema, paged).map_err(fault::planning)?;
    let fields: Vec<FieldRef> = plan
        .schema()
        .fields()
        .iter()
        .zip(&grouped.outputs)
        .map(|(field, output)| Arc::new(Field::new(&output.name, field.data_type().clone(), field.is_nullable())))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let answer = rename(super::answer(engine, super::begun(engine), plan, watched).await?, &schema);
    let read = vec![(about.name.clone(), about.version)];
    Ok(Rows { schema, batches: answer.batches, total, next: None, read, repeatable: true })
}

/// Returns the plan of all result rows, unsorted.
fn groups(
    provider: &Arc<dyn TableProvider>,
    schema: &SchemaRef,
    grouped: &Grouped,
) -> datafusion::common::Result<LogicalPlanBuilder> {
    let mut plan = scan(provider, schema, grouped.filter.as_ref())?;
    let mut outputs = Vec::with_capacity(grouped.outputs.len());
    if grouped.is_grouped {
        let mut by: Vec<&ResolvedColumn> = Vec::new();
        for at in &grouped.group {
            if !by.iter().any(|other| other.is(at)) {
                by.push(at);
            }
        }
        let mut aggregates = Vec::new();
        for (number, output) in grouped.outputs.iter().enumerate() {
            let from = match &output.from {
                From::Column(at) => {
                    let key = by.iter().position(|other| other.is(at)).unwrap_or_default();
                    format!("g{key}")
                }
                From::Aggregate(function, at) => {
                    let name = format!("a{number}");
                    aggregates.push(aggregate(*function, at.as_ref(), schema)?.alias(&name));
                    name
                }
            };
            outputs.push(Expr::Column(Column::new_unqualified(from)).alias(format!("o{number}")));
        }
        let by = by.iter().enumerate().map(|(number, at)| Ok(place(at, schema)?.alias(format!("g{number}"))));
        plan = plan.aggregate(by.collect::<datafusion::common::Result<Vec<_>>>()?, aggregates)?;
    } else {
        for (number, output) in grouped.outputs.iter().enumerate() {
            if let From::Column(at) = &output.from {
                outputs.push(place(at, schema)?.alias(format!("o{number}")));
            }
        }
    }
    plan = plan.project(outputs)?;
    if let Some(having) = &grouped.having {
        plan = plan.filter(condition::build(having, &|at| Ok(output(at.column)))?)?;
    }
    if grouped.distinct { plan.distinct() } else { Ok(plan) }
}

fn page(plan: LogicalPlanBuilder, grouped: &Grouped) -> datafusion::common::Result<LogicalPlanBuilder> {
    let keys: Vec<SortExpr> = grouped
        .sort
        .iter()
        .map(|(column, options)| output(*column).sort(!options.descending, options.nulls_first))
        .collect();
    let plan = if keys.is_empty() { plan } else { plan.sort(keys)? };
    match (grouped.offset, grouped.limit) {
        (0, None) => Ok(plan),
        (offset, limit) => plan.limit(to_usize(offset), limit.map(to_usize)),
    }
}

fn output(number: usize) -> Expr {
    Expr::Column(Column::new_unqualified(format!("o{number}")))
}

fn aggregate(
    function: AggregateFunction,
    at: Option<&ResolvedColumn>,
    schema: &SchemaRef,
) -> datafusion::common::Result<Expr> {
    let values = match at {
        Some(at) => place(at, schema)?,
        None => lit(1_i64),
    };
    Ok(match function {
        AggregateFunction::Count => count(values),
        AggregateFunction::CountDistinct => count_distinct(values),
        AggregateFunction::Sum => sum().call(vec![values]),
        AggregateFunction::Avg => avg().call(vec![values]),
        AggregateFunction::Min => min(values),
        AggregateFunction::Max => max(values),
    })
}
