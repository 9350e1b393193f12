//! UUIDs, which are texts in lower case here: a literal beside one is written in lower case, too.

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, DataType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, TypedString, Value, ValueWithSpan,
};

use super::function_names::name_of;

/// Functions whose arguments have one type, or that of the elements of an array.
const COMPARE: [&str; 11] = [
    "array_append",
    "array_has",
    "array_position",
    "array_positions",
    "array_prepend",
    "array_remove",
    "array_replace",
    "coalesce",
    "greatest",
    "least",
    "nullif",
];

/// Writes the literals of a comparison with a UUID in lower case. This comes before the casts are rewritten.
pub(super) fn compared(expr: &mut Expr) {
    match expr {
        Expr::BinaryOp { left, op, right } if takes_uuids(op) => beside(vec![left, right]),
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => beside(vec![left, right]),
        Expr::InList { expr, list, .. } => beside(std::iter::once(&mut **expr).chain(list).collect()),
        Expr::Between { expr, low, high, .. } => beside(vec![expr, low, high]),
        Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => beside(vec![left, right]),
        Expr::Case { operand: Some(operand), conditions, .. } => {
            let whens = conditions.iter_mut().map(|branch| &mut branch.condition);
            beside(std::iter::once(&mut **operand).chain(whens).collect());
        }
        Expr::Function(function) if name_of(function).is_some_and(|name| COMPARE.contains(&name.as_str())) => {
            if let FunctionArguments::List(list) = &mut function.args {
                let arguments = list.args.iter_mut().filter_map(|argument| match argument {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Some(argument),
                    _ => None,
                });
                beside(arguments.collect());
            }
        }
        _ => {}
    }
}

fn beside(parts: Vec<&mut Expr>) {
    if parts.iter().any(|part| is_uuid(part)) {
        parts.into_iter().for_each(lower);
    }
}

/// Writes a text literal in lower case, or those of an array.
pub(super) fn lower(expr: &mut Expr) {
    match expr {
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => text.make_ascii_lowercase(),
        Expr::Array(array) => array.elem.iter_mut().for_each(lower),
        _ => {}
    }
}

fn is_uuid(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_uuid(inner),
        Expr::Array(array) => array.elem.iter().any(is_uuid),
        Expr::Cast { data_type, .. } | Expr::TypedString(TypedString { data_type, .. }) => {
            matches!(data_type, DataType::Uuid)
        }
        _ => false,
    }
}

fn takes_uuids(op: &BinaryOperator) -> bool {
    use BinaryOperator::{ArrowAt, AtArrow, Eq, Gt, GtEq, Lt, LtEq, NotEq, PGOverlap};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq | AtArrow | ArrowAt | PGOverlap)
}
