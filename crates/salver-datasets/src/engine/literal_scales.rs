//! Decimal literals with the scale of what they are added to: `1 - discount` as `1.00 - discount`. Operands of
//! different scales are multiplied for every row. The result has the same type as before.

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// Rescales such literals, once constants are folded.
#[derive(Debug)]
pub(super) struct LiteralScales;

impl OptimizerRule for LiteralScales {
    fn name(&self) -> &'static str {
        "literal_scales"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if plan.inputs().is_empty() {
            return Ok(Transformed::no(plan));
        }
        let (schema, names) = (merge_schema(&plan.inputs()), NamePreserver::new(&plan));
        plan.map_expressions(|expr| {
            let name = names.save(&expr);
            let expr = expr.transform_up(|part| Ok(rescaled(part, &schema)))?;
            Ok(if expr.transformed { expr.update_data(|expr| name.restore(expr)) } else { expr })
        })
    }
}

fn rescaled(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::Plus | Operator::Minus), right }) = &expr else {
        return Transformed::no(expr);
    };
    let with_scale_of = |literal: &Expr, other: &Expr| match other.get_type(schema) {
        Ok(DataType::Decimal128(_, scale)) => with_scale(literal, scale).map(Box::new),
        _ => None,
    };
    let (left, right) = match (with_scale_of(left, right), with_scale_of(right, left)) {
        (Some(literal), _) => (literal, right.clone()),
        (None, Some(literal)) => (left.clone(), literal),
        (None, None) => return Transformed::no(expr),
    };
    Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op: *op, right }))
}

/// Returns a decimal literal with more fractional digits, and as many whole ones as before.
fn with_scale(literal: &Expr, scale: i8) -> Option<Expr> {
    const DIGITS: u8 = 38;
    let Expr::Literal(ScalarValue::Decimal128(Some(value), precision, own), metadata) = literal else { return None };
    let more = u8::try_from(scale.checked_sub(*own)?).ok().filter(|more| *more > 0)?;
    let precision = precision.checked_add(more).filter(|precision| *precision <= DIGITS)?;
    let value = value.checked_mul(10_i128.checked_pow(u32::from(more))?)?;
    Some(Expr::Literal(ScalarValue::Decimal128(Some(value), precision, scale), metadata.clone()))
}

#[cfg(test)]
mod tests {
    use datafusion::common::ScalarValue;
    use datafusion::logical_expr::lit;

    use super::with_scale;

    #[test]
    fn a_literal_keeps_its_value_and_its_whole_digits() {
        let decimal = |value, precision, scale| lit(ScalarValue::Decimal128(Some(value), precision, scale));
        assert_eq!(with_scale(&decimal(1, 20, 0), 2), Some(decimal(100, 22, 2)));
        assert_eq!(with_scale(&decimal(-15, 2, 1), 3), Some(decimal(-1_500, 4, 3)));
        for (literal, scale) in [
            (decimal(1, 20, 2), 2),
            (decimal(1, 20, 3), 2),
            (decimal(1, 37, 0), 2),
            (lit(1_i64), 2),
            (lit(ScalarValue::Decimal128(None, 20, 0)), 2),
        ] {
            assert_eq!(with_scale(&literal, scale), None, "{literal}");
        }
    }
}
