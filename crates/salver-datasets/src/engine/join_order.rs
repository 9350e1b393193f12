//! Order of inner joins. The engine joins tables as they were written; with three or more, the order decides how many
//! rows are built and probed. This rule finds the cheapest order by what is known of the tables: their numbers of rows,
//! and guesses of what filters leave.
//!
//! `graph` takes joins apart, `estimate` guesses rows, `search` finds the order. `semi_join` first moves semi-joins to
//! the table that they are about.

mod estimate;
mod graph;
mod search;
mod semi_join;

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchemaRef, NullEquality, Result};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, Join, JoinConstraint, JoinType, LogicalPlan, Projection};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

use graph::{JoinGraph, Relations};
use search::Tree;

/// Orders the inner joins of a plan.
#[derive(Debug)]
pub(super) struct JoinOrder;

impl OptimizerRule for JoinOrder {
    fn name(&self) -> &'static str {
        "join_order"
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        in_order(plan)
    }
}

/// Orders all inner joins of a plan.
fn in_order(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    plan.transform_down(|node| {
        let moved = semi_join::moved(node)?;
        if !is_inner(&moved.data) {
            return Ok(moved);
        }
        match ordered(&moved.data)? {
            // Its joins are in order, and what lies below them has been seen to.
            Some(better) => Ok(Transformed::new(better, true, TreeNodeRecursion::Jump)),
            None => Ok(moved),
        }
    })
}

/// Returns whether a plan is a join whose inputs can be joined in any order.
fn is_inner(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Join(join) => {
            join.join_type == JoinType::Inner && join.null_equality == NullEquality::NullEqualsNothing
        }
        _ => false,
    }
}

/// Returns the joins in a better order; `None` if they are few, little is known, or they are in order.
fn ordered(plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
    let Some(mut graph) = JoinGraph::of(plan) else { return Ok(None) };
    let Some(tree) = search::best(&graph) else { return Ok(None) };
    for relation in &mut graph.relations {
        relation.plan = in_order(relation.plan.clone())?.data;
    }
    let joined = build(&graph, &tree)?;
    in_columns_of(joined, plan.schema()).map(Some)
}

/// Makes a plan of the order that was found.
fn build(graph: &JoinGraph, tree: &Tree) -> Result<LogicalPlan> {
    let (left, right) = match tree {
        Tree::Leaf(relation) => return Ok(graph.relations[*relation].plan.clone()),
        Tree::Join(left, right) => (left, right),
    };
    let (left_set, right_set) = (left.relations(), right.relations());
    let (on, filters) = conditions(graph, left_set, right_set);
    let join = Join::try_new(
        Arc::new(build(graph, left)?),
        Arc::new(build(graph, right)?),
        on,
        conjunction(filters),
        JoinType::Inner,
        JoinConstraint::On,
        NullEquality::NullEqualsNothing,
        false,
    )?;
    Ok(LogicalPlan::Join(join))
}

/// Returns the keys of the join of two sets of relations, and its other conditions.
fn conditions(graph: &JoinGraph, left: Relations, right: Relations) -> (Vec<(Expr, Expr)>, Vec<Expr>) {
    let (mut on, mut filters) = (Vec::new(), Vec::new());
    for class in &graph.classes {
        // All columns of one side equal each other already.
        if let (Some(own), Some(other)) = (class.column_of(left), class.column_of(right)) {
            on.push((Expr::Column(own.clone()), Expr::Column(other.clone())));
        }
    }
    for condition in &graph.conditions {
        let all = condition.relations();
        if !all.is_within(left.with(right)) || all.is_within(left) || all.is_within(right) {
            continue;
        }
        match condition.as_keys(left, right) {
            Some((own, other)) => on.push((own.clone(), other.clone())),
            None => filters.push(condition.expr()),
        }
    }
    (on, filters)
}

/// Puts the columns back into the order of the joins as they were written.
fn in_columns_of(plan: LogicalPlan, schema: &DFSchemaRef) -> Result<LogicalPlan> {
    if plan.schema().columns() == schema.columns() {
        return Ok(plan);
    }
    let columns = schema.columns().into_iter().map(Expr::Column).collect();
    Projection::try_new(columns, Arc::new(plan)).map(LogicalPlan::Projection)
}
