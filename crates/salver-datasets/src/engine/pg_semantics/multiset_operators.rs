//! `intersect all` and `except all` count duplicates: a row that occurs three times on the left and once on the right
//! occurs once in the intersection and twice in the difference. The engine plans them as semi and anti joins, which
//! don't count. Here equal rows are numbered on both sides, and the numbers become join keys too.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{Distinct, Expr, ExprFunctionExt, Join, LogicalPlan, LogicalPlanBuilder, ident};

use super::set_operations;

/// Columns that number equal rows, one for each side.
const NUMBERS: [&str; 2] = ["__salver_number", "__salver_other_number"];

/// Rewrites the plan of a set operation with `all` to one that counts.
pub(super) fn counted(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Join(join) = plan else { return Ok(plan) };
    // Those without `all` make their left side distinct first.
    if !set_operations::is_one(&join) || matches!(&*join.left, LogicalPlan::Distinct(Distinct::All(_))) {
        return Ok(LogicalPlan::Join(join));
    }
    let Join { left, right, mut on, join_type, join_constraint, null_equality, null_aware, .. } = join;
    let columns: Vec<Expr> = left.schema().iter().map(Expr::from).collect();
    on.push((ident(NUMBERS[0]), ident(NUMBERS[1])));
    let (left, right) = (numbered(left, NUMBERS[0])?, numbered(right, NUMBERS[1])?);
    let join = Join::try_new(left, right, on, None, join_type, join_constraint, null_equality, null_aware)?;
    LogicalPlanBuilder::from(LogicalPlan::Join(join)).project(columns)?.build()
}

/// Adds a column of this name that numbers equal rows.
fn numbered(plan: Arc<LogicalPlan>, name: &str) -> Result<Arc<LogicalPlan>> {
    let mut columns: Vec<Expr> = plan.schema().iter().map(Expr::from).collect();
    let number = row_number().partition_by(columns.clone()).build()?;
    let made = number.schema_name().to_string();
    columns.push(ident(made).alias(name));
    let numbered = LogicalPlanBuilder::from(Arc::unwrap_or_clone(plan)).window(vec![number])?.project(columns)?;
    Ok(Arc::new(numbered.build()?))
}
