//! UUIDs, which are texts in lower case here: a literal beside one is written in lower case, too.

use datafusion::sql::sqlparser::ast::{BinaryOperator, DataType, Expr, TypedString, Value, ValueWithSpan};

/// Writes the literals of a comparison with a UUID in lower case. This comes before the casts are rewritten.
pub(super) fn compared(expr: &mut Expr) {
    match expr {
        Expr::BinaryOp { left, op, right } if is_comparison(op) => beside(vec![left, right]),
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => beside(vec![left, right]),
        Expr::InList { expr, list, .. } => beside(std::iter::once(&mut **expr).chain(list).collect()),
        Expr::Between { expr, low, high, .. } => beside(vec![expr, low, high]),
        Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => beside(vec![left, right]),
        _ => {}
    }
}

fn beside(parts: Vec<&mut Expr>) {
    if parts.iter().any(|part| is_uuid(part)) {
        parts.into_iter().for_each(lower);
    }
}

/// Writes a text literal in lower case.
pub(super) fn lower(expr: &mut Expr) {
    if let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = expr {
        text.make_ascii_lowercase();
    }
}

fn is_uuid(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_uuid(inner),
        Expr::Cast { data_type, .. } | Expr::TypedString(TypedString { data_type, .. }) => {
            matches!(data_type, DataType::Uuid)
        }
        _ => false,
    }
}

fn is_comparison(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}
