//! Translates expressions of a logical plan into filters of a query, where a query can express them.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use salver_model::{Comparison, Filter, Value};

use crate::engine::unordered;

/// Translates the expression into a filter of a query; `None` if a query can't express it. `scalar` converts its
/// literals.
pub(crate) fn condition(expr: &Expr, scalar: fn(&ScalarValue) -> Option<Value>) -> Option<Filter> {
    let literal = |expr: &Expr| match expr {
        Expr::Literal(value, _) => scalar(value),
        _ => None,
    };
    Some(match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            Filter::And(vec![condition(left, scalar)?, condition(right, scalar)?])
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            Filter::Or(vec![condition(left, scalar)?, condition(right, scalar)?])
        }
        // The engine's condition to exclude one of its two NaNs; databases have one NaN.
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::GtEq, right }) if is_least(right) => {
            Filter::IsNull { column: column(left)? }.negated()
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let op = comparison(*op)?;
            Filter::Compare { column: column(left)?, op, value: literal(right)? }
        }
        Expr::Not(inner) => condition(inner, scalar)?.negated(),
        Expr::IsNull(inner) => Filter::IsNull { column: column(inner)? },
        Expr::IsNotNull(inner) => Filter::IsNull { column: column(inner)? }.negated(),
        Expr::InList(InList { expr, list, negated }) => {
            let found = Filter::In { column: column(expr)?, values: list.iter().map(literal).collect::<Option<_>>()? };
            if *negated { found.negated() } else { found }
        }
        _ => return None,
    })
}

pub(super) fn comparison(op: Operator) -> Option<Comparison> {
    Some(match op {
        Operator::Eq => Comparison::Eq,
        Operator::NotEq => Comparison::NotEq,
        Operator::Lt => Comparison::Lt,
        Operator::LtEq => Comparison::LtEq,
        Operator::Gt => Comparison::Gt,
        Operator::GtEq => Comparison::GtEq,
        _ => return None,
    })
}

/// Returns whether the expression is negative infinity.
fn is_least(expr: &Expr) -> bool {
    match expr {
        Expr::Literal(ScalarValue::Float64(Some(x)), _) => *x == f64::NEG_INFINITY,
        Expr::Literal(ScalarValue::Float32(Some(x)), _) => *x == f32::NEG_INFINITY,
        _ => false,
    }
}

fn column(expr: &Expr) -> Option<salver_model::ColumnPath> {
    match unordered(expr) {
        Expr::Column(column) => Some(salver_model::ColumnPath::column(column.name.as_str())),
        _ => None,
    }
}

/// Returns a scalar of the engine as a literal of a query.
pub(crate) fn scalar(value: &ScalarValue) -> Option<Value> {
    Some(match value {
        ScalarValue::Boolean(Some(b)) => Value::Bool(*b),
        ScalarValue::Int8(Some(i)) => Value::Int(i64::from(*i)),
        ScalarValue::Int16(Some(i)) => Value::Int(i64::from(*i)),
        ScalarValue::Int32(Some(i)) => Value::Int(i64::from(*i)),
        ScalarValue::Int64(Some(i)) => Value::Int(*i),
        ScalarValue::UInt8(Some(u)) => Value::UInt(u64::from(*u)),
        ScalarValue::UInt16(Some(u)) => Value::UInt(u64::from(*u)),
        ScalarValue::UInt32(Some(u)) => Value::UInt(u64::from(*u)),
        ScalarValue::UInt64(Some(u)) => Value::UInt(*u),
        ScalarValue::Float64(Some(x)) => Value::Float(*x),
        ScalarValue::Utf8(Some(s)) | ScalarValue::LargeUtf8(Some(s)) | ScalarValue::Utf8View(Some(s)) => {
            Value::Text(s.clone())
        }
        _ => return None,
    })
}
