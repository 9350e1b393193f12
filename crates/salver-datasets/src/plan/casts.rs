//! Bounds casts of what is computed from casts. The engine asks what a cast is made of twice whether it may be null,
//! each time it asks the cast, so that its work doubles with each; nothing ends it on the way.

use datafusion::common::Result as PlanResult;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{Expr, LogicalPlan};
use salver_model::limits::SQL_CASTS_DEPTH_MAX;
use salver_model::{Code, Error, Result};

use crate::fault;

/// That no expression of an optimized plan has more of them in one another than there may be.
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

/// How often the work for `expr` doubles; `deepest` learns the most for anything in it.
fn doublings(expr: &Expr, deepest: &mut usize) -> PlanResult<usize> {
    let mut below = 0;
    expr.apply_children(|child| {
        below = below.max(doublings(child, deepest)?);
        Ok(TreeNodeRecursion::Continue)
    })?;
    let own = match expr {
        // Whether they may be null is found out once, when they are made.
        Expr::ScalarFunction(_) | Expr::AggregateFunction(_) | Expr::WindowFunction(_) => 0,
        Expr::Cast(Cast { expr, .. }) if is_computed(expr) => below + 1,
        _ => below,
    };
    *deepest = own.max(*deepest);
    Ok(own)
}

/// Whether more is asked for than one place or function.
fn is_computed(expr: &Expr) -> bool {
    !matches!(expr, Expr::Column(_) | Expr::Literal(..) | Expr::Cast(_) | Expr::ScalarFunction(_))
}
