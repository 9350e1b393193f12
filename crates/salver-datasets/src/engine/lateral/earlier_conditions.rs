//! Conditions that are applied before subqueries are computed for each row: `where a.id < 60 and a.x = b.y` beside a
//! lateral join or a correlated subquery. The outer rows are numbered where they are rebuilt, and no rule of the
//! planner moves a condition below that; without this step the subquery would be computed for every pair of `a` and
//! `b`.
//!
//! Only conditions that can't fail are moved: they might see rows that others would have left out.

use std::sync::Arc;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, JoinType, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Filter, Join, LogicalPlan, Operator};

use super::super::outer_references::has_query;
use super::of_each_row;

/// Applies such conditions first.
pub(super) fn first(plan: LogicalPlan) -> Result<LogicalPlan> {
    let each = |plan| match plan {
        LogicalPlan::Filter(filter) => below_queries(filter),
        plan => Ok(Transformed::no(plan)),
    };
    Ok(plan.transform_down_with_subqueries(each)?.data)
}

fn below_queries(filter: Filter) -> Result<Transformed<LogicalPlan>> {
    let terms = split_conjunction_owned(filter.predicate.clone());
    let is_lateral = matches!(&*filter.input, LogicalPlan::Join(join) if is_movable_over(join));
    if !is_lateral && !terms.iter().any(has_query) {
        return Ok(Transformed::no(LogicalPlan::Filter(filter)));
    }
    let schema = filter.input.schema();
    let (early, late): (Vec<Expr>, Vec<Expr>) = terms.into_iter().partition(|term| is_sure(term, schema));
    if early.is_empty() || late.is_empty() && !is_lateral {
        return Ok(Transformed::no(LogicalPlan::Filter(filter)));
    }
    // They go on to keep one that may fail from rows that it must not see.
    let guards = if late.iter().all(has_query) { Vec::new() } else { early.clone() };
    let (rows, left) = applied(Arc::unwrap_or_clone(filter.input), early)?;
    let above = if guards.is_empty() { left } else { guards };
    let above = conjunction(above.into_iter().chain(late));
    Ok(Transformed::yes(match above {
        Some(predicate) => LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(rows))?),
        None => rows,
    }))
}

fn is_movable_over(join: &Join) -> bool {
    matches!(join.join_type, JoinType::Inner | JoinType::Left) && of_each_row(&join.right).is_some()
}

/// Applies terms to rows: over a lateral join, to its outer rows. Returns also the terms about more than those.
fn applied(rows: LogicalPlan, terms: Vec<Expr>) -> Result<(LogicalPlan, Vec<Expr>)> {
    let join = match rows {
        LogicalPlan::Join(join) if is_movable_over(&join) => join,
        rows => {
            let Some(predicate) = conjunction(terms) else { return Ok((rows, Vec::new())) };
            return Ok((LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(rows))?), Vec::new()));
        }
    };
    let is_outer = |column: &&Column| {
        let is_qualified = column.relation.is_some() || !join.right.schema().has_column(column);
        is_qualified && join.left.schema().has_column(column)
    };
    let (outer, mut left): (Vec<Expr>, Vec<Expr>) =
        terms.into_iter().partition(|term| term.column_refs().iter().all(is_outer));
    let (outer, more) = applied(Arc::unwrap_or_clone(join.left), outer)?;
    left.extend(more);
    Ok((LogicalPlan::Join(Join { left: Arc::new(outer), ..join }), left))
}

/// Returns whether a condition has a value for every row.
fn is_sure(expr: &Expr, schema: &DFSchema) -> bool {
    let each = |parts: &[&Expr]| parts.iter().all(|part| is_sure(part, schema));
    match expr {
        Expr::Column(_) | Expr::Literal(..) => true,
        Expr::Alias(alias) => is_sure(&alias.expr, schema),
        Expr::Not(inner)
        | Expr::IsNull(inner)
        | Expr::IsNotNull(inner)
        | Expr::IsTrue(inner)
        | Expr::IsFalse(inner)
        | Expr::IsUnknown(inner)
        | Expr::IsNotTrue(inner)
        | Expr::IsNotFalse(inner)
        | Expr::IsNotUnknown(inner) => is_sure(inner, schema),
        Expr::Between(between) => {
            each(&[&between.expr, &between.low, &between.high])
                && are_alike(&between.expr, &between.low, schema)
                && are_alike(&between.expr, &between.high, schema)
        }
        Expr::InList(list) => {
            is_sure(&list.expr, schema)
                && list.list.iter().all(|value| is_sure(value, schema) && are_alike(&list.expr, value, schema))
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And | Operator::Or, right }) => each(&[left, right]),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            super::super::pg_semantics::is_comparison(*op) && each(&[left, right]) && are_alike(left, right, schema)
        }
        _ => false,
    }
}

/// Returns whether two values are compared as they are, or as numbers.
fn are_alike(one: &Expr, other: &Expr, schema: &DFSchema) -> bool {
    let (Ok(one), Ok(other)) = (one.get_type(schema), other.get_type(schema)) else { return false };
    let is_number = |of: &DataType| of.is_numeric() && !of.is_decimal() || of.is_null();
    one == other || is_number(&one) && is_number(&other)
}
