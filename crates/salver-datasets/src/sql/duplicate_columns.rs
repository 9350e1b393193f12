//! Columns of a result with duplicate names, such as those of a `*`: the second `id` is renamed to `id_1`, so that JSON
//! rows contain both.

use ahash::AHashSet;
use datafusion::common::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};

use super::pg_rewrites::duplicate_columns::numbered;

/// Gives each column of the plan a unique name.
pub(super) fn told_apart(plan: LogicalPlan) -> Result<LogicalPlan> {
    let names: AHashSet<&str> = plan.schema().fields().iter().map(|field| field.name().as_str()).collect();
    if names.len() == plan.schema().fields().len() || matches!(plan, LogicalPlan::Explain(_) | LogicalPlan::Analyze(_))
    {
        return Ok(plan);
    }
    let mut taken: AHashSet<String> = AHashSet::with_capacity(plan.schema().fields().len());
    let mut columns = Vec::with_capacity(plan.schema().fields().len());
    for (qualifier, field) in plan.schema().iter() {
        let (column, name) = (Expr::from((qualifier, field)), field.name());
        if taken.insert(name.clone()) {
            columns.push(column);
            continue;
        }
        let own = numbered(name, |other| names.contains(other) || taken.contains(other));
        taken.insert(own.clone());
        columns.push(column.alias(own));
    }
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}
