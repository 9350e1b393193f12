//! `overlaps` and `between symmetric`.

use datafusion::sql::sqlparser::ast::{BinaryOperator, DataType, Expr, TypedString};
use salver_model::Error;

use super::row_comparison::row;
use super::{expression, refused, take};
use crate::sql::grammar::SYMMETRIC;

/// Rewrites `(a, b) overlaps (c, d)`, in which the second of two may be the distance from the first.
pub(super) fn overlaps(expr: &mut Expr) -> Result<(), Box<Error>> {
    let Expr::BinaryOp { left, op: BinaryOperator::Overlaps, right } = expr else { return Ok(()) };
    let (Some([a, b]), Some([c, d])) = (row(left), row(right)) else {
        return Err(refused("`overlaps` compares two spans", "write `(a, b) overlaps (c, d)`"));
    };
    let end = |start: &Expr, end: &Expr| match end {
        Expr::Interval(_)
        | Expr::Cast { data_type: DataType::Interval { .. }, .. }
        | Expr::TypedString(TypedString { data_type: DataType::Interval { .. }, .. }) => {
            expression("(__1 + __2)", vec![start.clone(), end.clone()])
        }
        end => Ok(end.clone()),
    };
    let parts = vec![a.clone(), end(a, b)?, c.clone(), end(c, d)?];
    // The lesser of two is the start; if only one is known, it is the start and the end is unknown.
    let first = |a: &str, b: &str| format!("(case when {a} > {b} or {a} is null then {b} else {a} end)");
    let last = |a: &str, b: &str| format!("(case when {a} > {b} then {a} when {a} <= {b} then {b} end)");
    let (s1, e1) = (first("__1", "__2"), last("__1", "__2"));
    let (s2, e2) = (first("__3", "__4"), last("__3", "__4"));
    let words = format!(
        "(case when {s1} > {s2} then case when {s1} < {e2} then true when {e2} is null or {e1} is null then null \
         else false end when {s1} < {s2} then case when {s2} < {e1} then true when {e1} is null or {e2} is null \
         then null else false end when {s1} = {s2} and {e1} is not null and {e2} is not null then true end)"
    );
    *expr = take(&mut expression(&words, parts)?);
    Ok(())
}

/// Rewrites `x between symmetric a and b` to `x between a and b or x between b and a`.
pub(super) fn symmetric(expr: &mut Expr) {
    let Expr::BinaryOp { left: between, op: BinaryOperator::Custom(op), .. } = expr else { return };
    if let (SYMMETRIC, Expr::Between { expr: value, low, high, .. }) = (op.as_str(), &**between) {
        let (value, low, high) = (value.clone(), high.clone(), low.clone());
        let swapped = Expr::Between { expr: value, negated: false, low, high };
        let (left, right) = (Box::new(take(between)), Box::new(swapped));
        *expr = Expr::Nested(Box::new(Expr::BinaryOp { left, op: BinaryOperator::Or, right }));
    }
}
