//! Quoted literals where a condition stands: `where 't'`, `not 'f'`. They are booleans. And `is distinct from`, which
//! is a condition and an operator.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType, Expr, Function, FunctionArguments, JoinConstraint, JoinOperator, Select,
    UnaryOperator,
};

use super::function_names::is_quoted;
use super::take;
use crate::engine::{DISTINCT, NOT_DISTINCT};

/// Reads the conditions of a `select`.
pub(super) fn of_select(select: &mut Select) {
    let joins = select.from.iter_mut().flat_map(|table| &mut table.joins);
    let of_joins = joins.filter_map(|join| match &mut join.join_operator {
        JoinOperator::Join(JoinConstraint::On(condition))
        | JoinOperator::Inner(JoinConstraint::On(condition))
        | JoinOperator::Left(JoinConstraint::On(condition))
        | JoinOperator::LeftOuter(JoinConstraint::On(condition))
        | JoinOperator::Right(JoinConstraint::On(condition))
        | JoinOperator::RightOuter(JoinConstraint::On(condition))
        | JoinOperator::FullOuter(JoinConstraint::On(condition)) => Some(condition),
        _ => None,
    });
    of_joins.for_each(read);
    let own = [&mut select.selection, &mut select.having, &mut select.qualify];
    own.into_iter().flatten().for_each(read);
}

/// Reads the conditions in an expression.
pub(super) fn rewrite(expr: &mut Expr) {
    match expr {
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => read(expr),
        Expr::Function(Function { filter: Some(condition), args: FunctionArguments::List(_), .. }) => read(condition),
        _ => {}
    }
}

/// Has our planner see `is distinct from`, which the engine plans without asking it. This comes when nothing else looks
/// for the predicate any more.
pub(super) fn planned_as_operators(expr: &mut Expr) {
    match expr {
        Expr::IsDistinctFrom(left, right) => *expr = beside(DISTINCT, take(left), take(right)),
        Expr::IsNotDistinctFrom(left, right) => *expr = beside(NOT_DISTINCT, take(left), take(right)),
        _ => {}
    }
}

fn beside(name: &str, left: Expr, right: Expr) -> Expr {
    let op = BinaryOperator::Custom(name.to_owned());
    // The operator has no precedence where the statement is written.
    let operand = |expr: Expr| if is_quoted(&expr) { expr } else { Expr::Nested(Box::new(expr)) };
    Expr::Nested(Box::new(Expr::BinaryOp { left: Box::new(operand(left)), op, right: Box::new(operand(right)) }))
}

fn read(condition: &mut Expr) {
    if is_quoted(condition) {
        let (kind, expr) = (CastKind::Cast, Box::new(take(condition)));
        *condition = Expr::Cast { kind, expr, data_type: DataType::Boolean, array: false, format: None };
    }
}

#[cfg(test)]
mod tests {
    use super::super::rewrite;
    use crate::sql::parse;

    #[test]
    fn quoted_conditions_are_booleans() {
        for (written, wanted) in [
            ("SELECT NOT 't' FROM t", "SELECT NOT CAST('t' AS BOOLEAN) FROM t"),
            ("SELECT 1 FROM t WHERE 't'", "SELECT 1 FROM t WHERE CAST('t' AS BOOLEAN)"),
            (
                "SELECT 1 FROM t JOIN u ON 'f' HAVING ('t')",
                "SELECT 1 FROM t JOIN u ON CAST('f' AS BOOLEAN) HAVING CAST(('t') AS BOOLEAN)",
            ),
            ("SELECT NOT a FROM t WHERE 't' = b", "SELECT NOT a FROM t WHERE 't' = b"),
        ] {
            let mut statement = parse::parse_open(written).unwrap();
            rewrite(&mut statement).unwrap();
            assert_eq!(statement.to_string(), wanted);
        }
    }
}
