//! References of a subquery to the rows around it, also from subqueries within it. The engine lists those of a subquery
//! itself only.

use std::sync::Arc;

use arrow::datatypes::FieldRef;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder, Subquery, lit};

/// Column of an outer query.
pub(super) type Outer = (FieldRef, Column);

/// Returns the columns of outer queries that a query names. A column belongs to the nearest query that has it.
pub(super) fn free(query: &LogicalPlan) -> Result<Vec<Outer>> {
    let mut found = Vec::new();
    of_plan(query, &mut Vec::new(), &mut found)?;
    Ok(found)
}

/// Returns those that an expression over rows of these columns names, by its subqueries too.
pub(super) fn free_in(expr: &Expr, rows: &DFSchema) -> Result<Vec<Outer>> {
    let mut found = Vec::new();
    of_expr(expr, &Arc::new(rows.clone()), &mut Vec::new(), &mut found)?;
    Ok(found)
}

/// Returns whether a query names columns of an outer query.
pub(super) fn names_outer(query: &LogicalPlan) -> Result<bool> {
    Ok(!free(query)?.is_empty())
}

/// Returns the query of a subquery.
pub(super) fn query_of(expr: &Expr) -> Option<&Subquery> {
    match expr {
        Expr::ScalarSubquery(query) => Some(query),
        Expr::Exists(Exists { subquery, .. })
        | Expr::InSubquery(InSubquery { subquery, .. })
        | Expr::SetComparison(SetComparison { subquery, .. }) => Some(subquery),
        _ => None,
    }
}

/// Returns whether an expression has a subquery.
pub(super) fn has_query(expr: &Expr) -> bool {
    expr.exists(|part| Ok(query_of(part).is_some())).unwrap_or(false)
}

/// Returns whether a plan is a subquery of each row of the other side of a join.
pub(super) fn is_lateral(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Subquery(_) => true,
        LogicalPlan::SubqueryAlias(alias) => is_lateral(&alias.input),
        _ => false,
    }
}

type Scopes = Vec<Arc<DFSchema>>;

fn of_plan(plan: &LogicalPlan, scopes: &mut Scopes, found: &mut Vec<Outer>) -> Result<()> {
    let own = Arc::new(merge_schema(&plan.inputs()));
    plan.apply_expressions(|expr| {
        of_expr(expr, &own, scopes, found)?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    match plan {
        LogicalPlan::Join(Join { left, right, .. }) if is_lateral(right) => {
            of_plan(left, scopes, found)?;
            scopes.push(Arc::clone(left.schema()));
            of_plan(right, scopes, found)?;
            scopes.pop();
        }
        other => {
            for input in other.inputs() {
                of_plan(input, scopes, found)?;
            }
        }
    }
    Ok(())
}

fn of_expr(expr: &Expr, own: &Arc<DFSchema>, scopes: &mut Scopes, found: &mut Vec<Outer>) -> Result<()> {
    expr.apply(|part| {
        if let Expr::OuterReferenceColumn(field, column) = part {
            let is_known = scopes.iter().any(|scope| scope.has_column(column));
            if !is_known && !found.iter().any(|(_, other)| other == column) {
                found.push((Arc::clone(field), column.clone()));
            }
        }
        if let Some(query) = query_of(part) {
            scopes.push(Arc::clone(own));
            of_plan(&query.subquery, scopes, found)?;
            scopes.pop();
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// Replaces references to outer columns in the subqueries of an expression over rows of these columns: by references to
/// others, if `renamed` has any. References of the expression itself are left.
pub(super) fn renamed_in(
    expr: Expr,
    rows: &Arc<DFSchema>,
    renamed: &dyn Fn(&Column) -> Option<Outer>,
) -> Result<Transformed<Expr>> {
    in_expr(expr, rows, &mut Vec::new(), renamed)
}

type Renamed<'a> = &'a dyn Fn(&Column) -> Option<Outer>;

fn in_expr(expr: Expr, own: &Arc<DFSchema>, scopes: &mut Scopes, renamed: Renamed<'_>) -> Result<Transformed<Expr>> {
    let mut in_query = |query: Subquery| -> Result<Transformed<Subquery>> {
        scopes.push(Arc::clone(own));
        let plan = in_plan(Arc::unwrap_or_clone(query.subquery), scopes, renamed);
        scopes.pop();
        plan?.map_data(|plan| {
            let outer_ref_columns = plan.all_out_ref_exprs();
            Ok(Subquery { subquery: Arc::new(plan), outer_ref_columns, spans: query.spans })
        })
    };
    expr.transform_up(|part| match part {
        Expr::ScalarSubquery(query) => in_query(query)?.map_data(|query| Ok(Expr::ScalarSubquery(query))),
        Expr::Exists(Exists { subquery, negated }) => {
            in_query(subquery)?.map_data(|subquery| Ok(Expr::Exists(Exists { subquery, negated })))
        }
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            in_query(subquery)?.map_data(|subquery| Ok(Expr::InSubquery(InSubquery { expr, subquery, negated })))
        }
        part => Ok(Transformed::no(part)),
    })
}

fn in_plan(plan: LogicalPlan, scopes: &mut Scopes, renamed: Renamed<'_>) -> Result<Transformed<LogicalPlan>> {
    let own = Arc::new(merge_schema(&plan.inputs()));
    let names = NamePreserver::new(&plan);
    let plan = plan.map_expressions(|expr| {
        let name = names.save(&expr);
        let expr = in_expr(expr, &own, scopes, renamed)?.transform_data(|expr| {
            expr.transform_up(|part| match part {
                Expr::OuterReferenceColumn(field, column) => {
                    let is_known = scopes.iter().any(|scope| scope.has_column(&column));
                    Ok(match renamed(&column).filter(|_| !is_known) {
                        Some((field, column)) => Transformed::yes(Expr::OuterReferenceColumn(field, column)),
                        None => Transformed::no(Expr::OuterReferenceColumn(field, column)),
                    })
                }
                part => Ok(Transformed::no(part)),
            })
        })?;
        Ok(if expr.transformed { expr.update_data(|expr| name.restore(expr)) } else { expr })
    })?;
    plan.transform_data(|plan| match plan {
        LogicalPlan::Join(join) if is_lateral(&join.right) => {
            let left = in_plan(Arc::unwrap_or_clone(join.left), scopes, renamed)?;
            scopes.push(Arc::clone(left.data.schema()));
            let right = in_plan(Arc::unwrap_or_clone(join.right), scopes, renamed);
            scopes.pop();
            let right = right?;
            let is_changed = left.transformed || right.transformed;
            let join = LogicalPlan::Join(Join { left: Arc::new(left.data), right: Arc::new(right.data), ..join });
            Ok(if is_changed { Transformed::yes(join) } else { Transformed::no(join) })
        }
        other => other.map_children(|input| in_plan(input, scopes, renamed)),
    })
}

/// Returns `exists` as a value: whether the number of rows is greater than 0.
pub(super) fn counted(exists: Exists) -> Result<Expr> {
    let Exists { subquery, negated } = exists;
    let rows = LogicalPlanBuilder::from(Arc::unwrap_or_clone(subquery.subquery));
    let plan = rows.aggregate(Vec::<Expr>::new(), vec![count(lit(1))])?.build()?;
    let outer_ref_columns = plan.all_out_ref_exprs();
    let number = Expr::ScalarSubquery(Subquery { subquery: Arc::new(plan), outer_ref_columns, spans: subquery.spans });
    Ok(if negated { number.eq(lit(0)) } else { number.gt(lit(0)) })
}
