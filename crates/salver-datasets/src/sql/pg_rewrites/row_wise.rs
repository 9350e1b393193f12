//! Checks whether a query returns one row for each that it reads, so that expressions over its rows can be computed in
//! it.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use datafusion::functions_aggregate::all_default_aggregate_functions;
use datafusion::logical_expr::AggregateUDF;
use datafusion::sql::sqlparser::ast::{Expr, Function, GroupByExpr, Query, Select, SelectItem, Visit, Visitor};

use super::set_returning::list_of;

/// Returns whether a query returns a row for each that it reads.
pub(super) fn is_plain(select: &Select) -> bool {
    let calls = |expr: &Expr| expr.visit(&mut Calls).is_break();
    !is_grouped(select)
        && select.distinct.is_none()
        && select.having.is_none()
        && select.qualify.is_none()
        && !select.from.is_empty()
        && !select.projection.iter().any(|item| {
            matches!(item, SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } if calls(expr))
        })
}

/// Returns whether a query returns a row for each group that it reads, or one of all.
pub(super) fn is_aggregated(select: &Select) -> bool {
    let calls = |expr: &Expr| expr.visit(&mut Aggregates::default()).is_break();
    is_grouped(select)
        || select.having.is_some()
        || select.projection.iter().any(|item| {
            matches!(item, SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } if calls(expr))
        })
}

/// Returns whether a query has `group by`.
pub(super) fn is_grouped(select: &Select) -> bool {
    !matches!(&select.group_by, GroupByExpr::Expressions(groups, _) if groups.is_empty())
}

/// Visitor that finds calls of aggregates, beside subqueries.
#[derive(Default)]
struct Aggregates(usize);

impl Visitor for Aggregates {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.0 -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(call) if self.0 == 0 && call.over.is_none() && is_aggregate(&name_of(call)) => {
                ControlFlow::Break(())
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Visitor that finds calls of aggregates, window functions, and set-returning functions.
struct Calls;

/// Aggregates that have other names here.
const OTHERS: [&str; 5] = ["every", "listagg", "mode", "percentile_disc", "variance"];

/// Returns whether a function of this name is an aggregate.
fn is_aggregate(name: &str) -> bool {
    static AGGREGATES: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let names = |of: &Arc<AggregateUDF>| {
            std::iter::once(of.name())
                .chain(of.aliases().iter().map(String::as_str))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        all_default_aggregate_functions().iter().flat_map(names).collect()
    });
    AGGREGATES.contains(name) || OTHERS.contains(&name)
}

fn name_of(function: &Function) -> String {
    function.name.0.last().map_or_else(String::new, |part| part.to_string().replace('"', "").to_lowercase())
}

/// Returns whether a function returns one value for each row.
fn is_of_rows(function: &Function) -> bool {
    let name = name_of(function);
    let is_window = function.over.is_some() || !function.within_group.is_empty() || function.filter.is_some();
    let gives_rows = matches!(name.as_str(), "regexp_matches" | "unnest") || list_of(&name).is_some();
    !is_window && !is_aggregate(&name) && !gives_rows
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
