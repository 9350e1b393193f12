//! A checked condition as an expression of the engine.

use arrow::array::Array;
use arrow::datatypes::SchemaRef;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::Like;
use datafusion::logical_expr::{Expr, Operator, binary_expr, lit, not};
use salver_model::Comparison;

use super::place;
use crate::resolve::{Condition, Test};

/// Returns the condition over the columns of `schema`.
pub(super) fn expression(condition: &Condition, schema: &SchemaRef) -> Result<Expr> {
    build(condition, &|at| place(at, schema))
}

/// Returns the condition, with `column` as the expression for each column.
pub(super) fn build(
    condition: &Condition,
    column: &dyn Fn(&crate::resolve::ResolvedColumn) -> Result<Expr>,
) -> Result<Expr> {
    let join = |parts: &[Condition], operator: Operator| -> Result<Expr> {
        let parts = parts.iter().map(|part| build(part, column)).collect::<Result<Vec<_>>>()?;
        Ok(balanced(parts, operator).unwrap_or_else(|| lit(operator == Operator::And)))
    };
    Ok(match condition {
        Condition::Always(known) => lit(ScalarValue::Boolean(*known)),
        Condition::And(all) => join(all, Operator::And)?,
        Condition::Or(any) => join(any, Operator::Or)?,
        Condition::Not(inner) => not(build(inner, column)?),
        Condition::Test(at, test) => {
            let values = column(at)?;
            match test {
                Test::IsNull => values.is_null(),
                Test::Known(true) => values.is_not_null().or(lit(ScalarValue::Boolean(None))),
                Test::Known(false) => values.is_null().and(lit(ScalarValue::Boolean(None))),
                Test::Compare(op, value) => {
                    binary_expr(values, operator(*op), lit(ScalarValue::try_from_array(value, 0)?))
                }
                Test::In(list) => {
                    let each =
                        (0..list.values.len()).map(|row| Ok(lit(ScalarValue::try_from_array(&list.values, row)?)));
                    values.in_list(each.collect::<Result<Vec<_>>>()?, false)
                }
                Test::Like(pattern, ignore_case) => {
                    let pattern = lit(ScalarValue::try_from_array(pattern, 0)?);
                    Expr::Like(Like::new(false, Box::new(values), Box::new(pattern), None, *ignore_case))
                }
            }
        }
    })
}

fn operator(op: Comparison) -> Operator {
    match op {
        Comparison::Eq => Operator::Eq,
        Comparison::NotEq => Operator::NotEq,
        Comparison::Lt => Operator::Lt,
        Comparison::LtEq => Operator::LtEq,
        Comparison::Gt => Operator::Gt,
        Comparison::GtEq => Operator::GtEq,
    }
}

/// Joins the parts into a balanced tree: thousands of parts must not become as deep a chain.
fn balanced(mut parts: Vec<Expr>, operator: Operator) -> Option<Expr> {
    match parts.len() {
        0 | 1 => parts.pop(),
        n => {
            let right = balanced(parts.split_off(n / 2), operator)?;
            Some(binary_expr(balanced(parts, operator)?, operator, right))
        }
    }
}
