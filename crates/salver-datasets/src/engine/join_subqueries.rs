//! Subqueries in the condition of a join. The engine supports them in filters and projections only: of an inner join
//! they become a filter above it, and of another a filter below it or a column of the side that they name.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, JoinType, Result, plan_err};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Filter, Join, LogicalPlan, LogicalPlanBuilder};

use super::outer_references::{counted, free, has_query, query_of};

/// Prefix of the columns that hold what a subquery answers, followed by a number.
const CONDITION: &str = "__salver_condition_";

/// Takes the subqueries out of the condition of a join. Values among the columns of a projection go through `computed`.
pub(super) fn apart(
    join: Join,
    computed: &dyn Fn(LogicalPlan) -> Result<Transformed<LogicalPlan>>,
) -> Result<Transformed<LogicalPlan>> {
    let terms = join.filter.clone().map(split_conjunction_owned).unwrap_or_default();
    let (with, mut kept): (Vec<Expr>, Vec<Expr>) = terms.into_iter().partition(has_query);
    if with.is_empty() {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    }
    if join.join_type == JoinType::Inner {
        let rows = LogicalPlan::Join(Join { filter: conjunction(kept), ..join });
        return filtered(Arc::new(rows), with).map(Transformed::yes);
    }
    let wanted: Vec<Expr> = join.schema.iter().map(Expr::from).collect();
    let mut values = Values { left: Vec::new(), right: Vec::new(), sides: [&join.left, &join.right], made: 0 };
    let mut below = Vec::new();
    for term in with {
        let side = values.side_of(&term)?;
        // Without its own rows that fail, a side that is filled up with nulls has the same matches.
        let is_filter = matches!((join.join_type, side), (JoinType::Left, Side::Right) | (JoinType::Right, Side::Left));
        if is_filter { below.push(term) } else { kept.push(values.hoisted(term)?) }
    }
    let (left, right) = (values.left, values.right);
    let (mut one, mut other) = (Arc::clone(&join.left), Arc::clone(&join.right));
    if !below.is_empty() {
        let side = if join.join_type == JoinType::Left { &mut other } else { &mut one };
        *side = Arc::new(filtered(Arc::clone(side), below)?);
    }
    let (one, other) = (with_columns(one, left, computed)?, with_columns(other, right, computed)?);
    let Join { on, join_type, join_constraint, null_equality, null_aware, .. } = join;
    let filter = conjunction(kept);
    let joined = Join::try_new(one, other, on, filter, join_type, join_constraint, null_equality, null_aware)?;
    Ok(Transformed::yes(LogicalPlanBuilder::from(LogicalPlan::Join(joined)).project(wanted)?.build()?))
}

fn filtered(rows: Arc<LogicalPlan>, terms: Vec<Expr>) -> Result<LogicalPlan> {
    Ok(match conjunction(terms) {
        Some(condition) => LogicalPlan::Filter(Filter::try_new(condition, rows)?),
        None => Arc::unwrap_or_clone(rows),
    })
}

fn with_columns(
    rows: Arc<LogicalPlan>,
    values: Vec<Expr>,
    computed: &dyn Fn(LogicalPlan) -> Result<Transformed<LogicalPlan>>,
) -> Result<Arc<LogicalPlan>> {
    if values.is_empty() {
        return Ok(rows);
    }
    let own: Vec<Expr> = rows.schema().iter().map(Expr::from).collect();
    let made = LogicalPlanBuilder::new_from_arc(rows).project(own.into_iter().chain(values))?.build()?;
    Ok(Arc::new(computed(made)?.data))
}

/// The side of a join whose columns are named.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    None,
    Left,
    Right,
    Both,
}

impl Side {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::None, side) | (side, Self::None) => side,
            (one, other) if one == other => one,
            _ => Self::Both,
        }
    }
}

/// The columns that the sides of a join get.
struct Values<'j> {
    left: Vec<Expr>,
    right: Vec<Expr>,
    sides: [&'j LogicalPlan; 2],
    made: usize,
}

impl Values<'_> {
    /// Returns the side whose columns an expression names, by its subqueries too.
    fn side_of(&self, expr: &Expr) -> Result<Side> {
        let has = |side: &LogicalPlan, column: &Column| DFSchema::has_column(side.schema(), column);
        let of = |column: &Column| match self.sides.map(|side| has(side, column)) {
            [true, _] => Side::Left,
            [false, true] => Side::Right,
            // It belongs to a query further out.
            [false, false] => Side::None,
        };
        let mut side = Side::None;
        expr.apply(|part| {
            if let Expr::Column(column) = part {
                side = side.and(of(column));
            }
            if let Some(query) = query_of(part) {
                for (_, column) in free(&query.subquery)? {
                    side = side.and(of(&column));
                }
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(side)
    }

    /// Replaces the subqueries of a term by columns.
    fn hoisted(&mut self, term: Expr) -> Result<Expr> {
        let term = term.transform_down(|part| {
            if query_of(&part).is_none() {
                return Ok(Transformed::no(part));
            }
            let side = self.side_of(&part)?;
            if side == Side::Both {
                return plan_err!("a subquery in the condition of an outer join names columns of both sides");
            }
            let value = match part {
                Expr::Exists(exists) => counted(exists)?,
                part => part,
            };
            let name = format!("{CONDITION}{}", self.made);
            self.made += 1;
            let column = Expr::Column(Column::new_unqualified(name.as_str()));
            if side == Side::Right { &mut self.right } else { &mut self.left }.push(value.alias(name));
            Ok(Transformed::new(column, true, TreeNodeRecursion::Jump))
        })?;
        Ok(term.data)
    }
}
