//! `intersect all` and `except all` count: a row that stands three times on one side and once on the other is once in
//! both and twice in the first alone. The engine plans a semi join for them, which does not count; here the rows that
//! are alike are numbered on both sides, and the numbers are joined too.

use std::sync::Arc;

use datafusion::common::{JoinType, NullEquality, Result};
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{Distinct, Expr, ExprFunctionExt, Join, LogicalPlan, LogicalPlanBuilder, ident};

/// The numbers of rows that are alike, on both sides.
const NUMBERS: [&str; 2] = ["__salver_number", "__salver_other_number"];

/// The plan of a set operation with repetition, as one that counts.
pub(super) fn counted(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::Join(join) = plan else { return Ok(plan) };
    // Only set operations join nulls with nulls; those without repetition make their left side distinct first.
    let is_set = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti)
        && join.null_equality == NullEquality::NullEqualsNull
        && join.filter.is_none()
        && !matches!(&*join.left, LogicalPlan::Distinct(Distinct::All(_)));
    if !is_set {
        return Ok(LogicalPlan::Join(join));
    }
    let Join { left, right, mut on, join_type, join_constraint, null_equality, null_aware, .. } = join;
    let columns: Vec<Expr> = left.schema().iter().map(Expr::from).collect();
    on.push((ident(NUMBERS[0]), ident(NUMBERS[1])));
    let (left, right) = (numbered(left, NUMBERS[0])?, numbered(right, NUMBERS[1])?);
    let join = Join::try_new(left, right, on, None, join_type, join_constraint, null_equality, null_aware)?;
    LogicalPlanBuilder::from(LogicalPlan::Join(join)).project(columns)?.build()
}

/// The rows with how many of the same there were before, in a column of this name.
fn numbered(plan: Arc<LogicalPlan>, name: &str) -> Result<Arc<LogicalPlan>> {
    let mut columns: Vec<Expr> = plan.schema().iter().map(Expr::from).collect();
    let number = row_number().partition_by(columns.clone()).build()?;
    let made = number.schema_name().to_string();
    columns.push(ident(made).alias(name));
    let numbered = LogicalPlanBuilder::from(Arc::unwrap_or_clone(plan)).window(vec![number])?.project(columns)?;
    Ok(Arc::new(numbered.build()?))
}
