//! `x in (select ...)` beside other terms of a condition. It is unknown if `x` is null or if the values contain a null.
//! The engine evaluates it to false, which makes a difference below `not`, `or` and `is null`.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, DFSchema, Result, ScalarValue, plan_err};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::{Exists, InList, InSubquery};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Cast, Expr, ExprSchemable, Filter, Join, JoinType, LogicalPlan, LogicalPlanBuilder, Subquery, TryCast, col, lit,
    not, when,
};

use super::has_columns;
use crate::engine::correlated::SOUGHT;
use crate::engine::list_items;

/// Rewrites a filter so that each `in` evaluates to true, false or unknown. A term of its own may be false instead of
/// unknown.
pub(super) fn decided(plan: LogicalPlan) -> Result<LogicalPlan> {
    let named = plan.map_expressions(|expr| {
        expr.transform_up(|part| match part {
            Expr::InSubquery(one) => named(one),
            other => Ok(Transformed::no(other)),
        })
    })?;
    let filter = match named.data {
        LogicalPlan::Filter(filter) => filter,
        LogicalPlan::Join(join) if join.filter.as_ref().is_some_and(has_member) => return apart(join),
        other => return Ok(other),
    };
    let mut changed = false;
    let mut terms = Vec::new();
    for term in split_conjunction_owned(filter.predicate.clone()) {
        let is_alone = match &term {
            Expr::InSubquery(_) => true,
            Expr::Not(inner) => matches!(**inner, Expr::InSubquery(_)),
            _ => false,
        };
        if is_alone {
            match absence(&term) {
                Some(one) if !one.subquery.outer_ref_columns.is_empty() && may_be_unknown(one, &filter)? => {
                    terms.push(absent(one.clone(), filter.input.schema())?);
                    changed = true;
                }
                // The engine checks for nulls only where it joins by a column.
                Some(one) if !has_columns(&one.expr) && may_be_unknown(one, &filter)? => {
                    terms.push(in_words(InSubquery { negated: true, ..one.clone() })?);
                    changed = true;
                }
                _ => terms.push(term),
            }
            continue;
        }
        let term = term.transform_up(|part| match part {
            Expr::InSubquery(one) if may_be_unknown(&one, &filter)? => Ok(Transformed::yes(in_words(one)?)),
            other => Ok(Transformed::no(other)),
        })?;
        changed |= term.transformed;
        terms.push(term.data);
    }
    match conjunction(terms) {
        Some(predicate) if changed => Ok(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?)),
        _ => Ok(LogicalPlan::Filter(filter)),
    }
}

/// Gives the values of a subquery a name, if they have none that was written: the engine joins by the name of an
/// expression, and would compute it beside what is of this name already.
fn named(one: InSubquery) -> Result<Transformed<Expr>> {
    let values = &one.subquery.subquery;
    let (qualifier, field) = values.schema().qualified_field(0);
    if qualifier.is_some() || field.name() == SOUGHT {
        return Ok(Transformed::no(Expr::InSubquery(one)));
    }
    let own = Expr::from((qualifier, field)).alias(SOUGHT);
    let plan = LogicalPlanBuilder::from(values.as_ref().clone()).project(vec![own])?.build()?;
    let subquery = Subquery { subquery: plan.into(), ..one.subquery };
    Ok(Transformed::yes(Expr::InSubquery(InSubquery { subquery, ..one })))
}

fn has_member(expr: &Expr) -> bool {
    expr.exists(|part| Ok(matches!(part, Expr::InSubquery(_)))).unwrap_or(false)
}

/// Moves each `in` out of the condition of a join into a filter: above an inner join, and below an outer one where the
/// term depends on the side without the kept rows only. Any other term stays.
fn apart(join: Join) -> Result<LogicalPlan> {
    let correlates = |part: &Expr| match part {
        Expr::InSubquery(one) => !one.subquery.outer_ref_columns.is_empty(),
        Expr::Exists(one) => !one.subquery.outer_ref_columns.is_empty(),
        Expr::ScalarSubquery(one) => !one.outer_ref_columns.is_empty(),
        _ => false,
    };
    let is_of = |term: &Expr, side: &LogicalPlan| -> Result<bool> {
        let own = side.schema();
        Ok(!term.exists(|part| Ok(correlates(part)))? && term.column_refs().into_iter().all(|c| own.has_column(c)))
    };
    let (mut moved, mut kept) = (Vec::new(), Vec::new());
    for term in join.filter.iter().cloned().flat_map(split_conjunction_owned) {
        let is_moved = has_member(&term)
            && match join.join_type {
                JoinType::Inner => true,
                JoinType::Left => is_of(&term, &join.right)?,
                JoinType::Right => is_of(&term, &join.left)?,
                _ => false,
            };
        if is_moved { moved.push(term) } else { kept.push(term) }
    }
    let Some(condition) = conjunction(moved) else { return Ok(LogicalPlan::Join(join)) };
    let filtered = |rows| decided(LogicalPlan::Filter(Filter::try_new(condition, rows)?));
    let join = Join { filter: conjunction(kept), ..join };
    Ok(match join.join_type {
        JoinType::Left => LogicalPlan::Join(Join { right: Arc::new(filtered(join.right)?), ..join }),
        JoinType::Right => LogicalPlan::Join(Join { left: Arc::new(filtered(join.left)?), ..join }),
        _ => filtered(Arc::new(LogicalPlan::Join(join)))?,
    })
}

/// Returns the `in` that a term negates.
fn absence(term: &Expr) -> Option<&InSubquery> {
    match term {
        Expr::InSubquery(one) if one.negated => Some(one),
        Expr::Not(inner) => match &**inner {
            Expr::InSubquery(one) if !one.negated => Some(one),
            _ => None,
        },
        _ => None,
    }
}

/// Rewrites `x not in (select y ...)` of a correlated subquery to: there is no `y` for which `y = x` is true or
/// unknown. The engine would check the values of all rows together for nulls.
fn absent(one: InSubquery, rows: &DFSchema) -> Result<Expr> {
    let InSubquery { expr, subquery, .. } = one;
    let Subquery { subquery: values, spans, .. } = subquery;
    // The engine drops a limit above a correlated condition.
    let correlates = |plan: &LogicalPlan| plan.exists(|node| Ok(node.contains_outer_reference()));
    if values.exists(|node| Ok(matches!(node, LogicalPlan::Limit(limit) if correlates(&limit.input)?)))? {
        return plan_err!("`not in` of a query that belongs to each row can't have a `limit`");
    }
    let own = Expr::from(values.schema().qualified_field(0));
    // The name is unique, because the engine would take it for a column of the same table in the outer query.
    let column = Expr::Column(Column::new_unqualified(SOUGHT));
    let sought = expr.transform_up(|part| match part {
        Expr::Column(column) => {
            let field = rows.qualified_field_from_column(&column)?.1;
            Ok(Transformed::yes(Expr::OuterReferenceColumn(Arc::clone(field), column)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    let may_be = Expr::IsNotFalse(Box::new(column.eq(sought.data)));
    let values = LogicalPlanBuilder::from(Arc::unwrap_or_clone(values)).project(vec![own.alias(SOUGHT)])?;
    let plan = values.filter(may_be)?.build()?;
    let outer_ref_columns = plan.all_out_ref_exprs();
    let subquery = Subquery { subquery: Arc::new(plan), outer_ref_columns, spans };
    Ok(Expr::Exists(Exists { subquery, negated: true }))
}

fn may_be_unknown(one: &InSubquery, filter: &Filter) -> Result<bool> {
    let has_nulls = one.subquery.subquery.schema().fields().first().is_none_or(|field| field.is_nullable());
    Ok(has_nulls || one.expr.nullable(filter.input.schema())?)
}

/// Rewrites `x in (a, null)` to `x in (a) or null`: the engine merges several lists into one, and loses their nulls.
/// The rest of the list goes through `each`.
pub(super) fn listed(mut list: InList, each: &dyn Fn(Expr) -> Result<Transformed<Expr>>) -> Result<Transformed<Expr>> {
    let changed = list_items::in_each_row(&mut list.list);
    if !list.list.iter().any(is_null) {
        let listed = each(Expr::InList(list))?;
        return Ok(if changed { Transformed::yes(listed.data) } else { listed });
    }
    let InList { expr, list, negated } = list;
    let unknown = Expr::Literal(ScalarValue::Boolean(None), None);
    let known: Vec<Expr> = list.into_iter().filter(|item| !is_null(item)).collect();
    if known.is_empty() {
        return Ok(Transformed::yes(unknown));
    }
    let known = each(Expr::InList(InList { expr, list: known, negated }))?.data;
    Ok(Transformed::yes(if negated { known.and(unknown) } else { known.or(unknown) }))
}

pub(super) fn is_null(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(value, _) => value.is_null(),
        Expr::Cast(Cast { expr, .. }) | Expr::TryCast(TryCast { expr, .. }) => is_null(expr),
        _ => false,
    }
}

/// Rewrites `in` to a `case`: true if the engine finds the value; otherwise counts decide.
fn in_words(one: InSubquery) -> Result<Expr> {
    let InSubquery { expr, subquery, negated } = one;
    let column = Expr::from(subquery.subquery.schema().qualified_field(0));
    let counted = |counts: Expr| -> Result<Expr> {
        let plan = LogicalPlanBuilder::from(subquery.subquery.as_ref().clone())
            .aggregate(Vec::<Expr>::new(), vec![count(lit(1)).alias("rows"), count(column.clone()).alias("values")])?
            .project(vec![counts])?
            .build()?;
        Ok(Expr::ScalarSubquery(Subquery { subquery: plan.into(), ..subquery.clone() }))
    };
    let rows = counted(col("rows"))?;
    let nulls = counted((col("rows") - col("values")).alias("nulls"))?;
    let found = Expr::InSubquery(InSubquery { expr: expr.clone(), subquery: subquery.clone(), negated: false });
    let unknown = expr.as_ref().clone().is_null().or(nulls.gt(lit(0_i64)));
    let member = when(found, lit(true))
        .when(rows.eq(lit(0_i64)), lit(false))
        .when(unknown, lit(ScalarValue::Boolean(None)))
        .otherwise(lit(false))?;
    Ok(if negated { not(member) } else { member })
}
