//! Semi-joins of joined tables, as `o_orderkey in (select ...)` makes them. The engine looks up each row of the join.
//! If one table has the columns that are looked up, and fewer rows than the join, the semi-join of that table does.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, Join, JoinType, LogicalPlan};

use super::estimate::estimate;
use super::is_inner;

/// Moves a semi-join, or its opposite, below the inner joins that it is about.
pub(super) fn moved(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Join(join) = &plan else { return Ok(Transformed::no(plan)) };
    if !matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti) || join.null_aware || !is_inner(&join.left) {
        return Ok(Transformed::no(plan));
    }
    let looked_up = looked_up(join);
    let place = place(&join.left, &looked_up);
    let (Some(all), Some(own)) = (estimate(&join.left), estimate(place)) else { return Ok(Transformed::no(plan)) };
    if looked_up.is_empty() || own.rows > all.rows {
        return Ok(Transformed::no(plan));
    }
    below(&join.left, &looked_up, join).map(Transformed::yes)
}

/// Returns the columns of the left side that a semi-join looks at.
fn looked_up(join: &Join) -> HashSet<Column> {
    let keys = join.on.iter().map(|(left, _)| left);
    let all = keys.chain(&join.filter).flat_map(Expr::column_refs).cloned();
    all.filter(|column| join.left.schema().has_column(column)).collect()
}

fn has_all(plan: &LogicalPlan, columns: &HashSet<Column>) -> bool {
    columns.iter().all(|column| plan.schema().has_column(column))
}

/// Returns the side of a join that has all the columns.
fn side<'a>(join: &'a Join, columns: &HashSet<Column>) -> Option<&'a Arc<LogicalPlan>> {
    [&join.left, &join.right].into_iter().find(|side| has_all(side, columns))
}

/// Returns the input of inner joins that has all the columns, or the joins that together have them.
fn place<'a>(plan: &'a LogicalPlan, columns: &HashSet<Column>) -> &'a LogicalPlan {
    match plan {
        LogicalPlan::Join(join) if is_inner(plan) => match side(join, columns) {
            Some(side) => place(side, columns),
            None => plan,
        },
        _ => plan,
    }
}

fn below(plan: &LogicalPlan, columns: &HashSet<Column>, semi: &Join) -> Result<LogicalPlan> {
    if let LogicalPlan::Join(join) = plan
        && is_inner(plan)
        && let Some(side) = side(join, columns)
    {
        let moved = Arc::new(below(side, columns, semi)?);
        let is_left = Arc::ptr_eq(side, &join.left);
        let (left, right) = if is_left { (moved, Arc::clone(&join.right)) } else { (Arc::clone(&join.left), moved) };
        return Ok(LogicalPlan::Join(Join { left, right, ..join.clone() }));
    }
    reduced(plan.clone(), semi)
}

/// Returns the semi-join of a plan, with the smaller side as the one that is built.
fn reduced(plan: LogicalPlan, semi: &Join) -> Result<LogicalPlan> {
    let built = (estimate(&plan), estimate(&semi.right));
    if let (Some(own), Some(other)) = built
        && other.rows < own.rows
    {
        let join_type = if semi.join_type == JoinType::LeftSemi { JoinType::RightSemi } else { JoinType::RightAnti };
        let on = semi.on.iter().map(|(left, right)| (right.clone(), left.clone())).collect();
        let (left, right) = (Arc::clone(&semi.right), Arc::new(plan));
        let turned = Join::try_new(
            left,
            right,
            on,
            semi.filter.clone(),
            join_type,
            semi.join_constraint,
            semi.null_equality,
            false,
        )?;
        return Ok(LogicalPlan::Join(turned));
    }
    let schema = Arc::clone(plan.schema());
    Ok(LogicalPlan::Join(Join { left: Arc::new(plan), schema, ..semi.clone() }))
}
