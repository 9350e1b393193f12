//! The planner of operators and of array literals: where PostgreSQL's result differs from the engine's, or where the
//! engine has none.

use arrow::datatypes::DataType;
use datafusion::common::{DFSchema, DataFusionError, Result};
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, ExprSchemable, Operator, binary_expr, cast};
use datafusion::sql::sqlparser::ast::BinaryOperator;

use super::typed_literals::{self, written};
use super::{TypeOf, datetime_operators, list_operators};

/// Name of `is distinct from` as an operator of a statement.
pub(crate) const DISTINCT: &str = "is distinct from";
/// Name of `is not distinct from` as an operator of a statement.
pub(crate) const NOT_DISTINCT: &str = "is not distinct from";

/// Planner of operators. The SQL planner needs their types at once, so an analyzer rule would be too late.
#[derive(Debug)]
pub(super) struct Operations;

impl ExprPlanner for Operations {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let type_of = |part: &Expr| part.get_type(schema).ok();
        let expr = with_results(expr, &type_of)?;
        let (known, RawBinaryExpr { op, left, right }) = (operator(&expr.op), &expr);
        if matches!(op, BinaryOperator::And | BinaryOperator::Or) {
            return Ok(PlannerResult::Original(conditions(expr)));
        }
        // A column that a join merges has no type yet. The engine's own planner would refuse it.
        if matches!(op, BinaryOperator::StringConcat) && (type_of(left).is_none() || type_of(right).is_none()) {
            return Ok(PlannerResult::Planned(binary_expr(expr.left, Operator::StringConcat, expr.right)));
        }
        if let Some(operation) = list_operators::planned(left, (op, known), right, &type_of)? {
            return Ok(PlannerResult::Planned(operation));
        }
        // The engine's own planner doesn't know these two as operators.
        if let Some(op @ (Operator::IsDistinctFrom | Operator::IsNotDistinctFrom)) = known {
            return Ok(PlannerResult::Planned(distinct(expr.left, op, expr.right, &type_of)));
        }
        let planned = known.and_then(|op| datetime_operators::operation(left, op, right, &type_of));
        Ok(planned.map_or(PlannerResult::Original(expr), PlannerResult::Planned))
    }

    fn plan_array_literal(&self, exprs: Vec<Expr>, schema: &DFSchema) -> Result<PlannerResult<Vec<Expr>>> {
        let made = list_operators::array(&exprs, &|part: &Expr| part.get_type(schema).ok())?;
        Ok(made.map_or(PlannerResult::Original(exprs), PlannerResult::Planned))
    }
}

/// Gives the results of an operand that is a `case` the type that they have in common. The engine would take that of
/// the first one, until the types of the plan are found.
fn with_results(expr: RawBinaryExpr, type_of: TypeOf<'_>) -> Result<RawBinaryExpr> {
    let typed = |part: Expr| match part {
        Expr::Case(_) => Ok::<_, DataFusionError>(typed_literals::typed(part, type_of)?.data),
        part => Ok(part),
    };
    let RawBinaryExpr { op, left, right } = expr;
    Ok(RawBinaryExpr { op, left: typed(left)?, right: typed(right)? })
}

/// Returns the operator that has this name in a statement.
fn distinctness(word: &str) -> Option<Operator> {
    match word {
        DISTINCT => Some(Operator::IsDistinctFrom),
        NOT_DISTINCT => Some(Operator::IsNotDistinctFrom),
        _ => None,
    }
}

/// Compares two operands; beside a boolean, a text literal is one.
fn distinct(left: Expr, op: Operator, right: Expr, type_of: TypeOf<'_>) -> Expr {
    let beside = |part: &Expr| type_of(part) == Some(DataType::Boolean);
    let (one, other) = (beside(&left), beside(&right));
    let read = |part: Expr, is_beside: bool| match is_beside && written(&part).is_some() {
        true => cast(part, DataType::Boolean),
        false => part,
    };
    let (left, right) = (read(left, other), read(right, one));
    datetime_operators::operation(&left, op, &right, type_of).unwrap_or_else(|| binary_expr(left, op, right))
}

/// Reads text literals among the operands of `and` and `or` as booleans.
fn conditions(RawBinaryExpr { op, left, right }: RawBinaryExpr) -> RawBinaryExpr {
    let read = |part: Expr| if written(&part).is_some() { cast(part, DataType::Boolean) } else { part };
    RawBinaryExpr { op, left: read(left), right: read(right) }
}

fn operator(op: &BinaryOperator) -> Option<Operator> {
    Some(match op {
        BinaryOperator::Plus => Operator::Plus,
        BinaryOperator::Minus => Operator::Minus,
        BinaryOperator::Multiply => Operator::Multiply,
        BinaryOperator::Divide => Operator::Divide,
        BinaryOperator::Modulo => Operator::Modulo,
        BinaryOperator::PGBitwiseShiftLeft => Operator::BitwiseShiftLeft,
        BinaryOperator::PGBitwiseShiftRight => Operator::BitwiseShiftRight,
        BinaryOperator::Eq => Operator::Eq,
        BinaryOperator::NotEq => Operator::NotEq,
        BinaryOperator::Lt => Operator::Lt,
        BinaryOperator::LtEq => Operator::LtEq,
        BinaryOperator::Gt => Operator::Gt,
        BinaryOperator::GtEq => Operator::GtEq,
        BinaryOperator::Custom(word) => return distinctness(word),
        _ => return None,
    })
}
