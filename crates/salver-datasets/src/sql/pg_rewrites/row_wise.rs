//! Checks whether a query returns one row for each that it reads, so that expressions over its rows can be computed in
//! it.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use datafusion::functions_aggregate::all_default_aggregate_functions;
use datafusion::logical_expr::AggregateUDF;
use datafusion::sql::sqlparser::ast::{Expr, Function, GroupByExpr, Select, SelectItem, Visit, Visitor};

use super::set_returning::list_of;

/// Returns whether a query returns a row for each that it reads.
pub(super) fn is_plain(select: &Select) -> bool {
    let ungrouped = matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty());
    let calls = |expr: &Expr| expr.visit(&mut Calls).is_break();
    ungrouped
        && select.distinct.is_none()
        && select.having.is_none()
        && select.qualify.is_none()
        && !select.from.is_empty()
        && !select.projection.iter().any(|item| {
            matches!(item, SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } if calls(expr))
        })
}

/// Visitor that finds calls of aggregates, window functions, and set-returning functions.
struct Calls;

/// Aggregates that have other names here, and set-returning functions.
const OTHERS: [&str; 7] = ["every", "listagg", "mode", "percentile_disc", "regexp_matches", "unnest", "variance"];

/// Returns whether a function returns one value for each row.
fn is_of_rows(function: &Function) -> bool {
    static AGGREGATES: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let names = |of: &Arc<AggregateUDF>| {
            std::iter::once(of.name())
                .chain(of.aliases().iter().map(String::as_str))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        all_default_aggregate_functions().iter().flat_map(names).collect()
    });
    let name = function.name.0.last().map_or_else(String::new, |part| part.to_string().replace('"', "").to_lowercase());
    let is_window = function.over.is_some() || !function.within_group.is_empty() || function.filter.is_some();
    !is_window && !AGGREGATES.contains(&name) && !OTHERS.contains(&name.as_str()) && list_of(&name).is_none()
}

impl Visitor for Calls {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(function) if is_of_rows(function) => ControlFlow::Continue(()),
            Expr::Function(_) | Expr::Subquery(_) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}
