//! Array literals as text: `'{1,2}'::int[]` becomes `array['1', '2']::int[]`.

use datafusion::sql::sqlparser::ast::{Array, ArrayElemTypeDef, DataType, Expr, TypedString, Value};
use salver_model::Error;

use super::take;
use crate::engine::{Element, elements};

pub(super) fn rewrite(expr: &mut Expr) -> Result<(), Box<Error>> {
    let array = match expr {
        Expr::Cast { expr: inner, data_type, .. } if matches!(data_type, DataType::Array(_)) => {
            let Expr::Value(value) = &**inner else { return Ok(()) };
            match written(&value.value)? {
                Some(array) => {
                    // PostgreSQL has one type for arrays of any number of dimensions.
                    for _ in levels(data_type)..dimensions(&array) {
                        let of = std::mem::replace(data_type, DataType::Unspecified);
                        *data_type = DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(of), None));
                    }
                    **inner = array;
                    return Ok(());
                }
                None => return Ok(()),
            }
        }
        Expr::TypedString(TypedString { data_type: DataType::Array(of), value, .. }) => {
            let of = DataType::Array(ArrayElemTypeDef::clone(of));
            written(&value.value)?.map(|array| (array, of))
        }
        _ => None,
    };
    if let Some((array, data_type)) = array {
        let mut made = super::expression("__1::int[]", vec![array])?;
        if let Expr::Cast { data_type: to, .. } = &mut made {
            *to = data_type;
        }
        *expr = take(&mut made);
    }
    Ok(())
}

/// Reads the text of `any('{1,2}')`, whose elements have the type of what they are compared with; returns whether it is
/// one.
pub(super) fn read_untyped(expr: &mut Expr) -> Result<bool, Box<Error>> {
    match expr {
        Expr::Nested(inner) => read_untyped(inner),
        Expr::Value(value) => {
            let Some(array) = written(&value.value)? else { return Ok(false) };
            *expr = array;
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn written(value: &Value) -> Result<Option<Expr>, Box<Error>> {
    let Value::SingleQuotedString(text) = value else { return Ok(None) };
    Ok(Some(array(elements(text)?)))
}

fn array(elements: Vec<Element>) -> Expr {
    let elem = elements.into_iter().map(|element| match element {
        Element::Null => Expr::value(Value::Null),
        Element::Text(text) => Expr::value(Value::SingleQuotedString(text)),
        Element::Array(elements) => array(elements),
    });
    Expr::Array(Array { elem: elem.collect(), named: true })
}

/// Returns how many dimensions a type has.
fn levels(data_type: &DataType) -> usize {
    match data_type {
        DataType::Array(ArrayElemTypeDef::SquareBracket(of, _)) => 1 + levels(of),
        _ => 0,
    }
}

/// Returns how many dimensions an array has.
fn dimensions(array: &Expr) -> usize {
    match array {
        Expr::Array(array) => 1 + array.elem.first().map_or(0, dimensions),
        _ => 0,
    }
}
