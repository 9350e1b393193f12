//! The operands of a comparison, whichever way it is written: `a < b`, `a between b and c`, `a in (b, c)`.

use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr};

use super::is_comparison;

/// Returns the operands of a comparison; none of what is no comparison.
pub(super) fn of(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(*op) => vec![&**left, &**right],
        Expr::Between(Between { expr, low, high, .. }) => vec![&**expr, &**low, &**high],
        Expr::InList(InList { expr, list, .. }) => std::iter::once(&**expr).chain(list).collect(),
        _ => Vec::new(),
    }
}

/// Converts each operand of a comparison.
pub(super) fn each(expr: Expr, convert: &dyn Fn(Expr) -> Expr) -> Expr {
    let boxed = |part: Box<Expr>| Box::new(convert(*part));
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if is_comparison(op) => {
            Expr::BinaryExpr(BinaryExpr { left: boxed(left), op, right: boxed(right) })
        }
        Expr::Between(Between { expr, negated, low, high }) => {
            Expr::Between(Between { expr: boxed(expr), negated, low: boxed(low), high: boxed(high) })
        }
        Expr::InList(InList { expr, list, negated }) => {
            let list = list.into_iter().map(convert).collect();
            Expr::InList(InList { expr: boxed(expr), list, negated })
        }
        other => other,
    }
}
