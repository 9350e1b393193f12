//! Subqueries in aggregates, windows and sort keys. The engine supports them in projections and filters only, so a
//! projection below the operator computes them. Here `in` is a value, while the engine supports it as a condition only.

use std::ops::Not;
use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DataFusionError, ExprSchema, Result, ScalarValue, plan_err};
use datafusion::config::ConfigOptions;
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::InSubquery;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Projection, Subquery, lit, when};
use datafusion::optimizer::AnalyzerRule;
use salver_model::limits::SQL_LOOKED_UP_MAX;

use super::correlated::SOUGHT;
use super::join_subqueries;
use super::outer_references::{free, is_lateral, query_of};
use super::union_alternatives;

/// Prefix of the generated columns, followed by a number.
const COLUMN: &str = "__salver_hoisted_";

/// Analyzer rule that runs before the engine's own rules.
#[derive(Debug)]
pub(super) struct Hoisted;

impl AnalyzerRule for Hoisted {
    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(hoist)?.data)
    }

    fn name(&self) -> &'static str {
        "hoisted"
    }
}

fn hoist(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    union_alternatives::apart(plan)?.transform_data(|plan| match plan {
        LogicalPlan::Join(join) if !is_lateral(&join.right) => join_subqueries::apart(join, &counted),
        plan => hoist_values(plan),
    })
}

fn hoist_values(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let plan = match &plan {
        LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Window(_) | LogicalPlan::Sort(_) => {
            counted(plan)?
        }
        _ => return Ok(Transformed::no(plan)),
    };
    // The engine looks for `grouping` in the aggregate below a projection.
    let is_above = match &plan.data {
        LogicalPlan::Aggregate(aggregate) => !aggregate.aggr_expr.iter().any(is_grouping),
        other => !matches!(other, LogicalPlan::Projection(_)),
    };
    if is_above && has_query(&plan.data)? { apart(plan.data) } else { Ok(plan) }
}

/// Returns whether an aggregate is a call of `grouping`.
fn is_grouping(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => is_grouping(&alias.expr),
        Expr::AggregateFunction(call) => call.func.name() == "grouping",
        _ => false,
    }
}

/// Rewrites every `in` of a query as counts of rows: it is unknown if it searches for a null, or finds no match among
/// values with nulls.
fn counted(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let Some(input) = plan.inputs().first().map(|input| Arc::clone(input.schema())) else {
        return Ok(Transformed::no(plan));
    };
    let names = NamePreserver::new(&plan);
    plan.map_expressions(|expression| {
        let name = names.save(&expression);
        let counted = expression.transform_up(|part| match part {
            Expr::InSubquery(look_up) => in_numbers(look_up, &input).map(Transformed::yes),
            part => Ok(Transformed::no(part)),
        })?;
        Ok(counted.update_data(|expression| name.restore(expression)))
    })
}

/// Returns `in` of a query, over rows of these columns, as a comparison of numbers of rows.
pub(super) fn in_numbers(look_up: InSubquery, input: &DFSchema) -> Result<Expr> {
    let InSubquery { expr: left, subquery, negated } = look_up;
    let query = subquery.subquery;
    let parts = size_of_query(&query)? + size(&left)?;
    if parts > SQL_LOOKED_UP_MAX {
        return plan_err!(
            "`in` of a query that is a column's value looks it up in more than {SQL_LOOKED_UP_MAX} steps"
        );
    }
    let own = Expr::Column(query.schema().columns().swap_remove(0));
    let query = Arc::new(LogicalPlanBuilder::from(query).project(vec![own.alias(SOUGHT)])?.build()?);
    let value = Expr::Column(Column::new_unqualified(SOUGHT));
    let outer = left.as_ref().clone().transform_up(|part| match part {
        Expr::Column(column) => {
            let field = Arc::clone(input.field_from_column(&column)?);
            Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
        }
        part => Ok(Transformed::no(part)),
    })?;
    let rows = || LogicalPlanBuilder::from(Arc::clone(&query));
    let number = |rows: LogicalPlanBuilder, of: Expr| {
        let plan = rows.aggregate(Vec::<Expr>::new(), vec![of])?.build()?;
        let (outer_ref_columns, spans) = (plan.all_out_ref_exprs(), subquery.spans.clone());
        Ok::<_, DataFusionError>(Expr::ScalarSubquery(Subquery { subquery: Arc::new(plan), outer_ref_columns, spans }))
    };
    let found = number(rows().filter(value.clone().eq(outer.data))?, count(lit(1)))?;
    let all = number(rows(), count(lit(1)))?;
    let known = number(rows(), count(value))?;
    let is_unknown = left.is_null().or(known.lt(all.clone()));
    let is_in = when(found.gt(lit(0)), lit(true))
        .when(all.eq(lit(0)), lit(false))
        .when(is_unknown, lit(ScalarValue::Boolean(None)))
        .otherwise(lit(false))?;
    Ok(if negated { is_in.not() } else { is_in })
}

/// Puts a projection with the subqueries of an operator below it.
fn apart(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let mut queries: Vec<Expr> = Vec::new();
    let expressions = plan.expressions().into_iter().map(|expression| {
        let above = expression.transform_down(|part| {
            if !matches!(part, Expr::ScalarSubquery(_)) {
                return Ok(Transformed::no(part));
            }
            let number = queries.iter().position(|query| *query == part).unwrap_or_else(|| {
                queries.push(part);
                queries.len() - 1
            });
            // Expressions within the subquery stay there.
            let column = Expr::Column(Column::new_unqualified(format!("{COLUMN}{number}")));
            Ok(Transformed::new(column, true, TreeNodeRecursion::Jump))
        })?;
        Ok(above.data)
    });
    let expressions = expressions.collect::<Result<Vec<_>>>()?;
    let Some(input) = plan.inputs().first().map(|input| (*input).clone()) else { return Ok(Transformed::no(plan)) };
    let (own, input) = match selected(&plan, &queries)? {
        Some(projection) => (projection.expr.clone(), projection.input.as_ref().clone()),
        None => (input.schema().iter().map(Expr::from).collect::<Vec<_>>(), input),
    };
    let made = queries.into_iter().enumerate().map(|(number, query)| query.alias(format!("{COLUMN}{number}")));
    let below = LogicalPlanBuilder::from(input).project(own.into_iter().chain(made))?.build()?;
    let above = plan.with_new_exprs(expressions, vec![below])?;
    // Restores the columns that there were, by their names.
    let wanted = plan.schema().iter();
    let columns: Vec<Expr> = if matches!(plan, LogicalPlan::Aggregate(_)) {
        let named = above.schema().iter().map(Expr::from).zip(wanted);
        named.map(|(column, (table, field))| column.alias_qualified(table.cloned(), field.name())).collect()
    } else {
        let is_made = |name: &str| name.starts_with(COLUMN);
        let kept = above.schema().iter().filter(|(_, field)| !is_made(field.name())).map(Expr::from).zip(wanted);
        kept.map(|(column, (table, field))| column.alias_qualified(table.cloned(), field.name())).collect()
    };
    Ok(Transformed::yes(LogicalPlanBuilder::from(above).project(columns)?.build()?))
}

/// Returns the projection below an `order by` of subqueries that name columns which it leaves out.
fn selected<'p>(plan: &'p LogicalPlan, queries: &[Expr]) -> Result<Option<&'p Projection>> {
    let LogicalPlan::Sort(sort) = plan else { return Ok(None) };
    let LogicalPlan::Projection(projection) = &*sort.input else { return Ok(None) };
    let mut named = Vec::new();
    for query in queries.iter().filter_map(query_of) {
        named.extend(free(&query.subquery)?.into_iter().map(|(_, column)| column));
    }
    let has = |rows: &LogicalPlan, column: &Column| DFSchema::has_column(rows.schema(), column);
    let (given, selected) = (&*projection.input, &*sort.input);
    // Those that neither has belong to a query further out.
    let is_left_out = named.iter().any(|column| has(given, column) && !has(selected, column));
    let is_own = named.iter().any(|column| has(selected, column) && !has(given, column));
    Ok((is_left_out && !is_own).then_some(projection))
}

/// Returns the number of nodes and expressions in a query, of which each `in` makes three copies.
fn size_of_query(query: &LogicalPlan) -> Result<usize> {
    let mut parts = 0;
    query.apply_with_subqueries(|node| {
        parts += 1;
        node.apply_expressions(|expression| {
            expression.apply(|_| {
                parts += 1;
                Ok(if parts > SQL_LOOKED_UP_MAX { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
            })
        })
    })?;
    Ok(parts)
}

/// Returns the number of expressions, including those of subqueries.
fn size(expression: &Expr) -> Result<usize> {
    let mut parts = 0;
    expression.apply(|part| {
        parts += 1;
        if let Expr::ScalarSubquery(query) = part {
            parts += size_of_query(&query.subquery)?;
        }
        Ok(if parts > SQL_LOOKED_UP_MAX { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(parts)
}

fn has_query(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_expressions(|expression| {
        found = found || expression.exists(|part| Ok(matches!(part, Expr::ScalarSubquery(_))))?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}
