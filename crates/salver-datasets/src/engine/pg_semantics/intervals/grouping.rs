//! `group by`, `distinct` and joins on intervals: intervals of the same length are equal, and the first one represents
//! them.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::{Result, TableReference};
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::{Aggregate, Distinct, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, ident};

use super::length;

fn is_interval(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Interval(_))
}

/// Rewrites a node that groups equal values.
pub(in crate::engine::pg_semantics) fn node(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Aggregate(aggregate) => grouped(aggregate),
        LogicalPlan::Distinct(Distinct::All(input))
            if input.schema().fields().iter().any(|field| is_interval(field.data_type())) =>
        {
            let columns = input.schema().iter().map(Expr::from).collect();
            grouped(Aggregate::try_new(input, columns, Vec::new())?)
        }
        LogicalPlan::Join(mut join) => {
            for (left, right) in &mut join.on {
                if is_interval(&left.get_type(join.left.schema())?)
                    && is_interval(&right.get_type(join.right.schema())?)
                {
                    *left = length(std::mem::take(left));
                    *right = length(std::mem::take(right));
                }
            }
            Ok(LogicalPlan::Join(join))
        }
        other => Ok(other),
    }
}

/// Groups by the length of intervals, takes the first interval of each group, and restores the columns.
fn grouped(aggregate: Aggregate) -> Result<LogicalPlan> {
    let rows = Arc::clone(aggregate.input.schema());
    let by_interval = |expr: &Expr| expr.get_type(&rows).is_ok_and(|own| is_interval(&own));
    let is_set = aggregate.group_expr.iter().any(|expr| matches!(expr, Expr::GroupingSet(_)));
    if is_set || !aggregate.group_expr.iter().any(by_interval) {
        return Ok(LogicalPlan::Aggregate(aggregate));
    }
    let columns: Vec<(Option<TableReference>, String)> =
        aggregate.schema.iter().map(|(table, field)| (table.cloned(), field.name().clone())).collect();
    let Aggregate { input, group_expr, mut aggr_expr, .. } = aggregate;
    let mut firsts = Vec::new();
    let mut groups = Vec::with_capacity(group_expr.len());
    for (number, expr) in group_expr.into_iter().enumerate() {
        if by_interval(&expr) {
            let expr = expr.unalias();
            groups.push(length(expr.clone()).alias(format!("__length_{number}")));
            aggr_expr.push(first(expr).alias(name_of_first(number)));
            firsts.push(number);
        } else {
            groups.push(expr);
        }
    }
    let grouped = LogicalPlan::Aggregate(Aggregate::try_new(input, groups, aggr_expr)?);
    let columns: Vec<Expr> = columns
        .into_iter()
        .enumerate()
        .map(|(number, (table, name))| {
            if firsts.contains(&number) {
                ident(name_of_first(number)).alias_qualified(table, name)
            } else {
                Expr::from(grouped.schema().qualified_field(number))
            }
        })
        .collect();
    LogicalPlanBuilder::from(grouped).project(columns)?.build()
}

fn name_of_first(number: usize) -> String {
    format!("__interval_{number}")
}

fn first(expr: Expr) -> Expr {
    let params = AggregateFunctionParams {
        args: vec![expr],
        distinct: false,
        filter: None,
        order_by: Vec::new(),
        null_treatment: None,
    };
    Expr::AggregateFunction(AggregateFunction { func: first_value_udaf(), params })
}
