//! Converts `WHERE` to the filter of a query: only comparisons with exactly the same meaning in the engine.

use arrow::datatypes::{DataType, Field};
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CastKind, DataType as SqlType, ExactNumberInfo, Expr, UnaryOperator, Value as SqlValue,
};
use salver_model::{Comparison, Filter, Value};

use super::Scope;

/// Bound up to which integers are exact floats.
const EXACT_IN_FLOAT: u64 = 1 << 53;
/// Bound up to which integers are exact 32-bit floats.
const EXACT_IN_SHORT_FLOAT: u64 = 1 << 24;

/// Converts the condition to a filter.
pub(super) fn filter(expr: &Expr, scope: &Scope<'_>) -> Option<Filter> {
    Some(match expr {
        Expr::Nested(inner) => filter(inner, scope)?,
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => filter(expr, scope)?.negated(),
        Expr::BinaryOp { op: op @ BinaryOperator::And, .. } => Filter::And(chain(expr, op, scope)?),
        Expr::BinaryOp { op: op @ BinaryOperator::Or, .. } => Filter::Or(chain(expr, op, scope)?),
        Expr::BinaryOp { left, op, right } => compare(left, comparison(op)?, right, scope)?,
        Expr::IsNull(inner) => is_null(inner, scope)?,
        Expr::IsNotNull(inner) => is_null(inner, scope)?.negated(),
        Expr::InList { expr, list, negated } => {
            let field = scope.field(expr)?;
            let values = list.iter().map(|value| literal(value, field)).collect::<Option<Vec<_>>>()?;
            negate(Filter::In { column: field.name().as_str().into(), values }, *negated)
        }
        Expr::Between { expr, negated, low, high } => {
            let above = compare(expr, Comparison::GtEq, low, scope)?;
            let below = compare(expr, Comparison::LtEq, high, scope)?;
            negate(Filter::And(vec![above, below]), *negated)
        }
        Expr::Like { negated, any: false, expr, pattern, escape_char: None } => {
            negate(like(expr, pattern, false, scope)?, *negated)
        }
        Expr::ILike { negated, any: false, expr, pattern, escape_char: None } => {
            negate(like(expr, pattern, true, scope)?, *negated)
        }
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => {
            let field = scope.field(expr)?;
            let is_boolean = matches!(field.data_type(), DataType::Boolean);
            is_boolean.then(|| Filter::compare(field.name().as_str(), Comparison::Eq, Value::Bool(true)))?
        }
        _ => return None,
    })
}

/// Returns the operands of `a and b and c`, which the parser nests as deep as the chain is long.
fn chain(expr: &Expr, joined_by: &BinaryOperator, scope: &Scope<'_>) -> Option<Vec<Filter>> {
    let mut parts = Vec::new();
    let mut rest = expr;
    while let Expr::BinaryOp { left, op, right } = rest
        && op == joined_by
    {
        parts.push(filter(right, scope)?);
        rest = left;
    }
    parts.push(filter(rest, scope)?);
    parts.reverse();
    Some(parts)
}

fn negate(filter: Filter, negated: bool) -> Filter {
    if negated { filter.negated() } else { filter }
}

fn is_null(expr: &Expr, scope: &Scope<'_>) -> Option<Filter> {
    Some(Filter::IsNull { column: scope.field(expr)?.name().as_str().into() })
}

fn like(expr: &Expr, pattern: &Expr, ignore_case: bool, scope: &Scope<'_>) -> Option<Filter> {
    let field = scope.field(expr)?;
    let Value::Text(pattern) = literal(pattern, field)? else { return None };
    field.data_type().is_string().then(|| Filter::Like { column: field.name().as_str().into(), pattern, ignore_case })
}

fn compare(left: &Expr, op: Comparison, right: &Expr, scope: &Scope<'_>) -> Option<Filter> {
    let (field, op, value) = match scope.field(left) {
        Some(field) => (field, op, right),
        None => (scope.field(right)?, flipped(op), left),
    };
    Some(Filter::compare(field.name().as_str(), op, literal(value, field)?))
}

fn comparison(op: &BinaryOperator) -> Option<Comparison> {
    Some(match op {
        BinaryOperator::Eq => Comparison::Eq,
        BinaryOperator::NotEq => Comparison::NotEq,
        BinaryOperator::Lt => Comparison::Lt,
        BinaryOperator::LtEq => Comparison::LtEq,
        BinaryOperator::Gt => Comparison::Gt,
        BinaryOperator::GtEq => Comparison::GtEq,
        _ => return None,
    })
}

fn flipped(op: Comparison) -> Comparison {
    match op {
        Comparison::Lt => Comparison::Gt,
        Comparison::LtEq => Comparison::GtEq,
        Comparison::Gt => Comparison::Lt,
        Comparison::GtEq => Comparison::LtEq,
        same => same,
    }
}

/// Returns the literal if comparing it with the field's values needs no coercion by the engine.
fn literal(expr: &Expr, field: &Field) -> Option<Value> {
    let value = match expr {
        Expr::Nested(inner) => return literal(inner, field),
        Expr::Value(value) => match &value.value {
            SqlValue::Number(digits, false) => number(digits, false)?,
            SqlValue::SingleQuotedString(text) => Value::Text(text.clone()),
            SqlValue::Boolean(b) => Value::Bool(*b),
            _ => return None,
        },
        Expr::UnaryOp { op: UnaryOperator::Minus, expr } => match &**expr {
            Expr::Value(value) => match &value.value {
                SqlValue::Number(digits, false) => number(digits, true)?,
                _ => return None,
            },
            _ => return None,
        },
        Expr::Cast {
            kind: CastKind::Cast,
            expr,
            data_type: SqlType::Double(ExactNumberInfo::None),
            format: None,
            ..
        } => float(expr)?,
        _ => return None,
    };
    let whole = match &value {
        Value::Int(i) => Some(i.unsigned_abs()),
        Value::UInt(u) => Some(*u),
        _ => None,
    };
    let same = match (field.data_type(), &value) {
        (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, Value::Text(_))
        | (DataType::Boolean, Value::Bool(_))
        | (DataType::Float64, Value::Float(_)) => true,
        (data_type, _) if data_type.is_integer() => whole.is_some(),
        (DataType::Float64, _) => whole.is_some_and(|n| n < EXACT_IN_FLOAT),
        (DataType::Float32, _) => whole.is_some_and(|n| n < EXACT_IN_SHORT_FLOAT),
        (DataType::Date32 | DataType::Timestamp(..), Value::Text(text)) => is_plain_time(text),
        _ => false,
    };
    same.then_some(value)
}

/// Returns the text of a parameter that is a float, if it is a number.
fn float(expr: &Expr) -> Option<Value> {
    let Expr::Value(value) = expr else { return None };
    let SqlValue::SingleQuotedString(text) = &value.value else { return None };
    text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::Float)
}

/// Parses digits like the engine: integers as such, everything else as a float.
fn number(digits: &str, negative: bool) -> Option<Value> {
    let is_whole = digits.bytes().all(|b| b.is_ascii_digit());
    if !is_whole {
        let x: f64 = digits.parse().ok()?;
        return Some(Value::Float(if negative { -x } else { x }));
    }
    let i: i64 = digits.parse().ok()?;
    Some(Value::Int(if negative { -i } else { i }))
}

/// Returns whether the text is a date such as `2026-01-31`, and can't be read in another way.
fn is_plain_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 10
        && bytes.iter().enumerate().all(|(i, b)| if i == 4 || i == 7 { *b == b'-' } else { b.is_ascii_digit() })
}
