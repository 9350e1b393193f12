//! `in` and `exists` of a union whose queries name columns of the query around them: true if one of the queries has
//! what is sought. The engine can't decorrelate a union.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan, LogicalPlanBuilder, Subquery, cast, not};

use super::outer_references::{has_query, names_outer};

/// Rewrites the expressions of a plan's uppermost node.
pub(super) fn apart(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let names = NamePreserver::new(&plan);
    plan.map_expressions(|expr| {
        if !has_query(&expr) {
            return Ok(Transformed::no(expr));
        }
        let name = names.save(&expr);
        let made = expr.transform_up(each)?;
        Ok(if made.transformed { made.update_data(|expr| name.restore(expr)) } else { made })
    })
}

fn each(expr: Expr) -> Result<Transformed<Expr>> {
    let (subquery, negated) = match &expr {
        Expr::InSubquery(InSubquery { subquery, negated, .. }) | Expr::Exists(Exists { subquery, negated }) => {
            (subquery, *negated)
        }
        _ => return Ok(Transformed::no(expr)),
    };
    let compares = matches!(expr, Expr::InSubquery(_));
    let Some(queries) = alternatives(&subquery.subquery, compares)? else { return Ok(Transformed::no(expr)) };
    let one = |query: LogicalPlan| {
        let (outer_ref_columns, spans) = (query.all_out_ref_exprs(), subquery.spans.clone());
        let subquery = Subquery { subquery: Arc::new(query), outer_ref_columns, spans };
        match &expr {
            Expr::InSubquery(own) => Expr::InSubquery(InSubquery { expr: own.expr.clone(), subquery, negated: false }),
            _ => Expr::Exists(Exists { subquery, negated: false }),
        }
    };
    let Some(any) = queries.into_iter().map(one).reduce(Expr::or) else { return Ok(Transformed::no(expr)) };
    Ok(Transformed::yes(if negated { not(any) } else { any }))
}

/// Returns the queries of a union that names columns of an outer query; with columns of one type where these are
/// compared.
fn alternatives(query: &LogicalPlan, compares: bool) -> Result<Option<Vec<LogicalPlan>>> {
    let union = match query {
        LogicalPlan::Distinct(Distinct::All(input)) => &**input,
        other => other,
    };
    let LogicalPlan::Union(union) = union else { return Ok(None) };
    if !names_outer(query)? {
        return Ok(None);
    }
    if !compares {
        return Ok(Some(union.inputs.iter().map(|input| input.as_ref().clone()).collect()));
    }
    let mut queries = Vec::with_capacity(union.inputs.len());
    for input in &union.inputs {
        let own = Expr::from(input.schema().qualified_field(0));
        let (is, wanted) = (input.schema().field(0).data_type(), union.schema.field(0).data_type());
        // Other types are converted where those of quoted values are known.
        if is != wanted && !(is.is_integer() && wanted.is_integer()) {
            return Ok(None);
        }
        queries.push(if is == wanted {
            input.as_ref().clone()
        } else {
            let column = cast(own, wanted.clone()).alias(union.schema.field(0).name());
            LogicalPlanBuilder::from(input.as_ref().clone()).project(vec![column])?.build()?
        });
    }
    Ok(Some(queries))
}
