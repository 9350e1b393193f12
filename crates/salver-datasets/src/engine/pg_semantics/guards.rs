//! Conditions that keep others from failing: `case when k = 0 then false else 1 / k > 2 end`, `k <> 0 and 1 / k > 2`.
//! The engine writes a `case` of booleans as `and` and `or`, and computes both sides of these for all rows of a batch.

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::utils::split_binary;
use datafusion::logical_expr::{BinaryExpr, Cast, Expr, Operator, binary_expr, lit};

use super::super::outer_references::has_query;
use super::{TypeOf, checked_integers, decimal_division};

/// Functions that fail for texts that they can't read.
const READING: [&str; 8] =
    ["arrow_cast", "bytea", "numeric", "read_interval", "read_uuid", "to_date", "to_number", "to_timestamp"];

/// Most parts of a condition that is written twice.
const PARTS: usize = 64;

/// Rewrites a `case` of booleans, `and` or `or` with parts that can fail.
pub(super) fn expression(expr: Expr, type_of: TypeOf<'_>) -> Result<Transformed<Expr>> {
    let (expr, changed) = match expr {
        Expr::Case(own) => {
            let (own, changed) = case(own, type_of)?;
            (Expr::Case(own), changed)
        }
        Expr::BinaryExpr(own) if matches!(own.op, Operator::And | Operator::Or) => {
            let (own, changed) = condition(own, type_of)?;
            (Expr::BinaryExpr(own), changed)
        }
        other => (other, false),
    };
    Ok(if changed { Transformed::yes(expr) } else { Transformed::no(expr) })
}

/// Makes a `case` of booleans one that the engine leaves as it is, unless none of its parts can fail.
fn case(case: Case, type_of: TypeOf<'_>) -> Result<(Case, bool)> {
    let is_boolean = || case.when_then_expr.first().and_then(|(_, then)| type_of(then)) == Some(DataType::Boolean);
    if case.expr.is_some() || !is_boolean() {
        return Ok((case, false));
    }
    let pairs = case.when_then_expr.iter().flat_map(|(when, then)| [when, then]);
    let mut can_fail = false;
    for part in pairs.chain(&case.else_expr) {
        can_fail = can_fail || fails(part, type_of)?;
    }
    let expr = can_fail.then(|| Box::new(lit(true)));
    Ok((Case { expr, ..case }, can_fail))
}

/// Computes the right side of `and` and `or` only for the rows that need it, if it can fail.
fn condition(compared: BinaryExpr, type_of: TypeOf<'_>) -> Result<(BinaryExpr, bool)> {
    let BinaryExpr { left, op, right } = compared;
    let guard = if fails(&right, type_of)? && !has_query(&right) { guard(&left, op)? } else { None };
    let Some(guard) = guard else { return Ok((BinaryExpr { left, op, right }, false)) };
    let (needed, known) = match op {
        Operator::And => (guard.is_not_false(), false),
        _ => (guard.is_not_true(), true),
    };
    let guarded = Case {
        expr: Some(Box::new(lit(true))),
        when_then_expr: vec![(Box::new(needed), right)],
        else_expr: Some(Box::new(lit(known))),
    };
    Ok((BinaryExpr { left, op, right: Box::new(Expr::Case(guarded)) }, true))
}

/// Returns whether an expression divides by what may be zero, or reads texts of rows.
fn fails(expr: &Expr, type_of: TypeOf<'_>) -> Result<bool> {
    let is_text = |part: &Expr| !matches!(part, Expr::Literal(..)) && type_of(part).is_some_and(|own| own.is_string());
    expr.exists(|part| {
        Ok(match part {
            Expr::BinaryExpr(BinaryExpr { right, op: Operator::Divide | Operator::Modulo, .. }) => {
                !matches!(**right, Expr::Literal(..)) && !type_of(right).is_some_and(|own| own.is_floating())
            }
            Expr::Cast(Cast { expr, field }) => !field.data_type().is_string() && is_text(expr),
            Expr::ScalarFunction(call) if READING.contains(&call.func.name()) => call.args.first().is_some_and(is_text),
            part => checked_integers::divides(part) || decimal_division::divides(part),
        })
    })
}

/// Returns what may be known before the right side is computed: the terms without a subquery, which becomes a join.
fn guard(left: &Expr, op: Operator) -> Result<Option<Expr>> {
    let terms = split_binary(left, op).into_iter().filter(|term| !has_query(term)).cloned();
    let Some(guard) = terms.reduce(|all, term| binary_expr(all, op, term)) else { return Ok(None) };
    let mut left = PARTS;
    let is_long = guard.exists(|_| {
        left = left.saturating_sub(1);
        Ok(left == 0)
    })?;
    Ok((!is_long).then_some(guard))
}
