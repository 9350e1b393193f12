//! Visitor of an expression without its subqueries.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{Expr, Query, VisitMut, VisitorMut};
use salver_model::Error;

use super::Flow;

/// Calls `change` for every part of an expression, bottom-up, except for those in subqueries.
pub(super) fn outside_queries(
    expr: &mut Expr,
    change: &mut dyn FnMut(&mut Expr) -> Result<(), Box<Error>>,
) -> Result<(), Box<Error>> {
    match VisitMut::visit(expr, &mut Outside { queries: 0, change }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Outside<'c> {
    /// Number of subqueries around the current part.
    queries: usize,
    change: &'c mut dyn FnMut(&mut Expr) -> Result<(), Box<Error>>,
}

impl VisitorMut for Outside<'_> {
    type Break = Box<Error>;

    fn pre_visit_query(&mut self, _: &mut Query) -> Flow {
        self.queries += 1;
        Flow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> Flow {
        self.queries -= 1;
        Flow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> Flow {
        if self.queries > 0 {
            return Flow::Continue(());
        }
        match (self.change)(expr) {
            Ok(()) => Flow::Continue(()),
            Err(error) => Flow::Break(error),
        }
    }
}
