//! Operators that the engine has as functions, fields of rows, and fields of times.

use datafusion::sql::sqlparser::ast::{AccessExpr, BinaryOperator, Expr, Ident, Subscript, UnaryOperator, Value};
use salver_model::Error;

use super::function_names::simple;
use super::set_returning::names_columns;
use super::{expression, refused, take};

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    match expr {
        Expr::BinaryOp { left, op: BinaryOperator::PGStartsWith, right } => {
            let parts = vec![take(left), take(right)];
            *expr = expression("starts_with(__1, __2)", parts)?;
        }
        // The engine would apply the sign to the first part only.
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } if matches!(**inner, Expr::Interval(_)) => {
            **inner = Expr::Nested(Box::new(take(inner)));
        }
        // The difference of two times has no sign in the engine.
        Expr::UnaryOp { op: UnaryOperator::Minus, expr: inner } if is_difference(inner) => {
            let inner = take(inner);
            *expr = expression("negated(__1)", vec![inner])?;
        }
        // Texts are compared by their bytes.
        Expr::Collate { expr: inner, collation } => {
            let name = collation.to_string().replace('"', "");
            if !matches!(name.as_str(), "C" | "POSIX" | "ucs_basic" | "C.UTF-8" | "C.utf8") {
                return Err(refused(
                    format!("there is no collation `{name}`: texts go by their bytes"),
                    "leave `collate` out, or order by `lower(x)`",
                ));
            }
            *expr = take(inner);
        }
        Expr::UnaryOp { op, expr: inner } => {
            let words = match op {
                UnaryOperator::BitwiseNot => "bit_not(__1)",
                UnaryOperator::PGSquareRoot => "sqrt(__1)",
                UnaryOperator::PGCubeRoot => "cbrt(__1)",
                UnaryOperator::PGAbs => "abs(__1)",
                _ => return Ok(()),
            };
            let inner = take(inner);
            *expr = expression(words, vec![inner])?;
        }
        // The planner does not resolve names in an array literal in the outer queries.
        Expr::Array(array) if array.elem.iter().any(names_columns) => {
            *expr = Expr::Function(simple("make_array", std::mem::take(&mut array.elem)));
        }
        Expr::Extract { field, expr: of, .. } => {
            let field = Expr::value(Value::SingleQuotedString(field.to_string().to_lowercase()));
            *expr = Expr::Function(simple("extract", vec![field, take(of)]));
        }
        // `(place).city` is the same as `place.city` if no table has that name.
        Expr::CompoundFieldAccess { root, access_chain } => {
            access_chain.iter_mut().for_each(bounded);
            let Some(mut path) = path(root) else { return Ok(()) };
            for access in access_chain.iter() {
                match access {
                    AccessExpr::Dot(Expr::Identifier(field)) => path.push(field.clone()),
                    _ => return Ok(()),
                }
            }
            *expr = Expr::CompoundIdentifier(path);
        }
        _ => {}
    }
    Ok(())
}

fn is_difference(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => {
            matches!(**inner, Expr::BinaryOp { op: BinaryOperator::Minus, .. }) || is_difference(inner)
        }
        _ => false,
    }
}

/// Rewrites `[2:]` to `[2:2147483647]`, which is past the end of every list.
fn bounded(access: &mut AccessExpr) {
    let number = |digits: &str| Some(Expr::value(Value::Number(digits.to_owned(), false)));
    if let AccessExpr::Subscript(Subscript::Slice { lower_bound, upper_bound, .. }) = access {
        *lower_bound = lower_bound.take().or_else(|| number("1"));
        *upper_bound = upper_bound.take().or_else(|| number("2147483647"));
    }
}

/// Returns the column in parentheses.
fn path(root: &Expr) -> Option<Vec<Ident>> {
    let Expr::Nested(inner) = root else { return None };
    match &**inner {
        Expr::Identifier(column) => Some(vec![column.clone()]),
        Expr::CompoundIdentifier(path) => Some(path.clone()),
        nested => path(nested),
    }
}
