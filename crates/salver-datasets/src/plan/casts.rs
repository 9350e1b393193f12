//! Limits the nesting of casts of computed values. Each time the engine asks whether a cast is nullable, it asks that
//! of its operand twice, so the work doubles with each level of nesting, and it can't be cancelled.

use datafusion::common::Result as PlanResult;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{Expr, LogicalPlan};
use salver_model::limits::SQL_CASTS_DEPTH_MAX;
use salver_model::{Code, Error, Result};

use crate::fault;

/// Checks that no expression of an optimized plan nests more of these casts than allowed.
///
/// # Errors
/// `InvalidSql`.
pub(super) fn check(plan: &LogicalPlan) -> Result<()> {
    let mut deepest = 0;
    let looked = plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| doublings(expr, &mut deepest).map(|_| TreeNodeRecursion::Continue))
    });
    looked.map_err(fault::planning)?;
    if deepest <= SQL_CASTS_DEPTH_MAX {
        return Ok(());
    }
    let message = format!("casts of what is computed from casts nest deeper than {SQL_CASTS_DEPTH_MAX} levels");
    Err(Error::new(Code::InvalidSql, message).with_hint("name the inner ones in a subquery"))
}

/// Returns how often the work for `expr` doubles; `deepest` is raised to the maximum over its subexpressions.
fn doublings(expr: &Expr, deepest: &mut usize) -> PlanResult<usize> {
    let mut below = 0;
    expr.apply_children(|child| {
        below = below.max(doublings(child, deepest)?);
        Ok(TreeNodeRecursion::Continue)
    })?;
    let own = match expr {
        // Their nullability is computed once, when they are made.
        Expr::ScalarFunction(_) | Expr::AggregateFunction(_) | Expr::WindowFunction(_) => 0,
        Expr::Cast(Cast { expr, .. }) if is_computed(expr) => below + 1,
        _ => below,
    };
    *deepest = own.max(*deepest);
    Ok(own)
}

/// Returns whether the expression is more than a column, a literal, a cast or a function call.
fn is_computed(expr: &Expr) -> bool {
    !matches!(expr, Expr::Column(_) | Expr::Literal(..) | Expr::Cast(_) | Expr::ScalarFunction(_))
}
