//! Scalar subqueries, as joins.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::Exists;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, FetchType, LogicalPlan, LogicalPlanBuilder, Subquery, ident};

use super::super::only_value;
use super::super::outer_references::{counted, has_query, names_outer};
use super::super::subquery_hoisting::in_numbers;
use super::{Before, Shape};

/// Prefix of the columns that hold values of subqueries.
const VALUE: &str = "__salver_value_";

/// Rewrites a projection or a filter to join the scalar subqueries that the engine does not support.
pub(super) fn looked_up(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let input = match &plan {
        LogicalPlan::Projection(projection) => &projection.input,
        LogicalPlan::Filter(filter) => &filter.input,
        _ => return Ok(Transformed::no(plan)),
    };
    let mut values = ValuesOf { rows: input.as_ref().clone(), number: 0 };
    let mut is_changed = false;
    let names = NamePreserver::new(&plan);
    let mut exprs = Vec::new();
    for expr in plan.expressions() {
        let name = names.save(&expr);
        let is_condition = matches!(plan, LogicalPlan::Filter(_));
        let expr = if is_condition { in_parts(expr, input.schema())? } else { Transformed::no(expr) };
        let made = expr.transform_data(|expr| expr.transform_up(|part| values.of(part)))?;
        is_changed |= made.transformed;
        exprs.push(name.restore(made.data));
    }
    if !is_changed {
        return Ok(Transformed::no(plan));
    }
    let rows = LogicalPlanBuilder::from(values.rows);
    let made = match &plan {
        LogicalPlan::Filter(filter) => {
            let own: Vec<Expr> = filter.input.schema().iter().map(Expr::from).collect();
            let rows = match exprs.into_iter().reduce(Expr::and) {
                Some(condition) => rows.filter(condition)?,
                None => rows,
            };
            if values.number == 0 { rows.build()? } else { rows.project(own)?.build()? }
        }
        _ => rows.project(exprs)?.build()?,
    };
    Ok(Transformed::yes(made))
}

/// Rewrites `exists` and `in` among the terms of a condition that the engine can't decorrelate as numbers of rows.
fn in_parts(condition: Expr, rows: &DFSchema) -> Result<Transformed<Expr>> {
    if !has_query(&condition) {
        return Ok(Transformed::no(condition));
    }
    let mut is_changed = false;
    let mut terms = Vec::new();
    for term in split_conjunction_owned(condition) {
        let is_alone = match &term {
            Expr::InSubquery(_) => true,
            Expr::Not(inner) => matches!(**inner, Expr::InSubquery(_)),
            _ => false,
        };
        let term = term.transform_up(|part| match part {
            Expr::Exists(Exists { subquery, negated }) if is_no_condition(&subquery)? => {
                counted(Exists { subquery, negated }).map(Transformed::yes)
            }
            Expr::InSubquery(one) if is_no_condition(&one.subquery)? || !is_alone && is_no_total(&one.subquery)? => {
                Ok(match in_numbers(one.clone(), rows) {
                    Ok(made) => Transformed::yes(made),
                    // It has too many parts.
                    Err(_) => Transformed::no(Expr::InSubquery(one)),
                })
            }
            part => Ok(Transformed::no(part)),
        })?;
        is_changed |= term.transformed;
        terms.push(term.data);
    }
    let condition = conjunction(terms).unwrap_or_default();
    Ok(if is_changed { Transformed::yes(condition) } else { Transformed::no(condition) })
}

fn is_no_condition(subquery: &Subquery) -> Result<bool> {
    Ok(names_outer(&subquery.subquery)? && Shape::of(&subquery.subquery)?.is_no_condition())
}

/// Returns whether the engine can't count the rows of a query, as it would have to beside other terms.
fn is_no_total(subquery: &Subquery) -> Result<bool> {
    Ok(names_outer(&subquery.subquery)? && Shape::of(&subquery.subquery)?.is_no_total())
}

/// The rows of an operator and the values that were joined with them.
struct ValuesOf {
    rows: LogicalPlan,
    number: usize,
}

impl ValuesOf {
    /// Replaces a scalar subquery that names the rows by a column with its value, or by one that the engine supports.
    fn of(&mut self, part: Expr) -> Result<Transformed<Expr>> {
        let Expr::ScalarSubquery(query) = &part else { return Ok(Transformed::no(part)) };
        if !names_outer(&query.subquery)? {
            return Ok(Transformed::no(part));
        }
        if gives_one(&query.subquery)? {
            if let Some(value) = self.joined(&query.subquery)? {
                return Ok(Transformed::yes(value));
            }
            if !is_limited(&query.subquery) {
                return Ok(Transformed::no(part));
            }
        }
        let plan = only_value::aggregated(query.subquery.as_ref().clone())?;
        let row = match self.joined(&plan)? {
            Some(value) => value,
            None => {
                let outer_ref_columns = plan.all_out_ref_exprs();
                let (subquery, spans) = (Arc::new(plan), query.spans.clone());
                Expr::ScalarSubquery(Subquery { subquery, outer_ref_columns, spans })
            }
        };
        Ok(Transformed::yes(only_value::checked(row)))
    }

    /// Adds the value of a query to each row; returns `None` if it can't be decorrelated in this way.
    fn joined(&mut self, query: &LogicalPlan) -> Result<Option<Expr>> {
        let Some(before) = Before::new(&self.rows, query, true, false)? else { return Ok(None) };
        let Some(made) = before.through(query)? else { return Ok(None) };
        let Some(value) = made.schema().iter().nth(before.columns.len()).map(Expr::from) else { return Ok(None) };
        let name = format!("{VALUE}{}", self.number);
        let mut columns = before.restored();
        columns.push(value.alias(name.as_str()));
        let made = LogicalPlanBuilder::from(made).project(columns)?.build()?;
        let made = before.finished(made)?;
        self.rows = made;
        self.number += 1;
        Ok(Some(ident(name)))
    }
}

/// Returns whether a query has one row because of its limit.
fn is_limited(query: &LogicalPlan) -> bool {
    match query {
        LogicalPlan::Projection(projection) => is_limited(&projection.input),
        LogicalPlan::Sort(sort) => is_limited(&sort.input),
        LogicalPlan::SubqueryAlias(alias) => is_limited(&alias.input),
        LogicalPlan::Filter(filter) => is_limited(&filter.input),
        LogicalPlan::Limit(_) => true,
        _ => false,
    }
}

/// Returns whether a query returns at most one row.
fn gives_one(query: &LogicalPlan) -> Result<bool> {
    Ok(match query {
        LogicalPlan::Projection(projection) => gives_one(&projection.input)?,
        LogicalPlan::Sort(sort) => gives_one(&sort.input)?,
        LogicalPlan::SubqueryAlias(alias) => gives_one(&alias.input)?,
        LogicalPlan::Filter(filter) => gives_one(&filter.input)?,
        LogicalPlan::Limit(limit) => {
            matches!(limit.get_fetch_type()?, FetchType::Literal(Some(0 | 1))) || gives_one(&limit.input)?
        }
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::EmptyRelation(empty) => empty.produce_one_row,
        _ => false,
    })
}
