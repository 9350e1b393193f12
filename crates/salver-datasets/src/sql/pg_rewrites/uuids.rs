//! UUIDs, which are texts in lower case here: a literal that is one, or stands beside one, is written so.

use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, BinaryOperator, DataType, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, TypedString,
    Value, ValueWithSpan,
};
use salver_model::Error;

use super::function_names::name_of;
use super::literals::as_text;
use crate::engine::{Element, elements, uuid};

/// Functions whose arguments have one type.
const ALIKE: [&str; 4] = ["coalesce", "greatest", "least", "nullif"];
/// Functions of an array and elements, with the place of the array.
const OF_ARRAYS: [(&str, usize); 7] = [
    ("array_append", 0),
    ("array_has", 0),
    ("array_position", 0),
    ("array_positions", 0),
    ("array_prepend", 1),
    ("array_remove", 0),
    ("array_replace", 0),
];

/// Reads the literals of a comparison with a UUID. This comes before the casts are rewritten.
pub(super) fn compared(expr: &mut Expr) -> Result<(), Box<Error>> {
    match expr {
        Expr::BinaryOp { left, op, right } if compares(op) => beside(vec![left, right]),
        Expr::BinaryOp { left, op, right } if compares_arrays(op) => {
            let parts = [(&mut **left, true), (&mut **right, true)];
            placed(parts.into())
        }
        Expr::IsDistinctFrom(left, right) | Expr::IsNotDistinctFrom(left, right) => beside(vec![left, right]),
        Expr::InList { expr, list, .. } => beside(std::iter::once(&mut **expr).chain(list).collect()),
        Expr::Between { expr, low, high, .. } => beside(vec![expr, low, high]),
        Expr::AnyOp { left, right, .. } | Expr::AllOp { left, right, .. } => {
            let parts = [(&mut **left, false), (&mut **right, true)];
            placed(parts.into())
        }
        Expr::Array(array) => beside(array.elem.iter_mut().collect()),
        Expr::Case { operand, conditions, else_result, .. } => {
            let (mut whens, mut results) = (Vec::new(), Vec::new());
            for branch in conditions {
                whens.push(&mut branch.condition);
                results.push(&mut branch.result);
            }
            results.extend(else_result.as_deref_mut());
            beside(results)?;
            match operand.as_deref_mut() {
                None => Ok(()),
                Some(operand) => {
                    whens.push(operand);
                    beside(whens)
                }
            }
        }
        Expr::Function(function) => {
            let Some(name) = name_of(function) else { return Ok(()) };
            let FunctionArguments::List(list) = &mut function.args else { return Ok(()) };
            let arguments = list.args.iter_mut().filter_map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(argument)) => Some(argument),
                _ => None,
            });
            if ALIKE.contains(&name.as_str()) {
                return beside(arguments.collect());
            }
            match OF_ARRAYS.iter().find(|(own, _)| *own == name) {
                Some((_, array)) => placed(arguments.enumerate().map(|(at, part)| (part, at == *array)).collect()),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Rewrites what a cast to a UUID, or to an array of them, has become: one to text.
pub(super) fn cast(expr: &mut Expr, tries: bool) -> Result<(), Box<Error>> {
    let Expr::Cast { expr: inner, .. } = expr else { return Ok(()) };
    if !tries && is_written(inner) {
        return read(inner, false);
    }
    as_text(expr, if tries { "try_read_uuid(__1)" } else { "read_uuid(__1)" })
}

/// Writes a UUID that is a text literal as PostgreSQL does, or those of an array. With `is_array`, a literal is an
/// array.
pub(super) fn read(expr: &mut Expr, is_array: bool) -> Result<(), Box<Error>> {
    match expr {
        Expr::Nested(inner) => read(inner, is_array),
        Expr::Array(array) => array.elem.iter_mut().try_for_each(|element| read(element, false)),
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => {
            *text = if is_array { written(elements(text)?)? } else { uuid(text)? };
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns the text of an array of UUIDs.
fn written(elements: Vec<Element>) -> Result<String, Box<Error>> {
    let each = elements.into_iter().map(|element| match element {
        Element::Null => Ok("null".to_owned()),
        Element::Text(text) => Ok(uuid(&text)?),
        Element::Array(elements) => written(elements),
    });
    Ok(format!("{{{}}}", each.collect::<Result<Vec<_>, Box<Error>>>()?.join(",")))
}

/// Reads the literals among parts of one type.
fn beside(parts: Vec<&mut Expr>) -> Result<(), Box<Error>> {
    let Some(is_array) = parts.iter().find_map(|part| uuid_of(part)) else { return Ok(()) };
    parts.into_iter().try_for_each(|part| read(part, is_array))
}

/// Reads the literals among parts, each of which is an array or not.
fn placed(parts: Vec<(&mut Expr, bool)>) -> Result<(), Box<Error>> {
    if parts.iter().any(|(part, _)| uuid_of(part).is_some()) {
        return parts.into_iter().try_for_each(|(part, is_array)| read(part, is_array));
    }
    Ok(())
}

/// Returns whether an expression is a literal, null, or an array of these.
fn is_written(expr: &Expr) -> bool {
    match expr {
        Expr::Array(array) => array.elem.iter().all(is_written),
        Expr::Value(value) => matches!(value.value, Value::SingleQuotedString(_) | Value::Null),
        _ => false,
    }
}

/// Returns whether a UUID is in an array of them; `None` for what is neither.
fn uuid_of(expr: &Expr) -> Option<bool> {
    match expr {
        Expr::Nested(inner) => uuid_of(inner),
        Expr::Array(array) => array.elem.iter().any(|element| uuid_of(element).is_some()).then_some(true),
        Expr::Cast { data_type, .. } | Expr::TypedString(TypedString { data_type, .. }) => match data_type {
            DataType::Uuid => Some(false),
            DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) if **element == DataType::Uuid => Some(true),
            _ => None,
        },
        _ => None,
    }
}

fn compares(op: &BinaryOperator) -> bool {
    use BinaryOperator::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    matches!(op, Eq | NotEq | Lt | LtEq | Gt | GtEq)
}

fn compares_arrays(op: &BinaryOperator) -> bool {
    use BinaryOperator::{ArrowAt, AtArrow, PGOverlap};
    matches!(op, AtArrow | ArrowAt | PGOverlap)
}
