//! Operators of arrays, and array literals. Beside an array, a text is one: `tags @> '{a}'`, `tags || '{b}'`. Arrays of
//! decimals with different digits get those of all, as do the elements that are appended to them.

use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_nested::expr_fn::{array_concat, array_has_all, array_has_any, cardinality, flatten};
use datafusion::functions_nested::make_array::make_array;
use datafusion::logical_expr::{Expr, Operator, binary_expr, cast, lit, when};
use datafusion::sql::sqlparser::ast::BinaryOperator;

use super::super::common_type;
use super::super::pg_functions::{self, bytes_of_literal, item};
use super::typed_literals::{alike, read_as, written};
use super::{TypeOf, call, is_comparison};

/// Returns an operation on an array, or on bytes; `None` for any other. `known` is the operator as one of the engine.
///
/// # Errors
/// A text beside it that is none.
pub(super) fn planned(
    left: &Expr,
    (op, known): (&BinaryOperator, Option<Operator>),
    right: &Expr,
    type_of: TypeOf<'_>,
) -> Result<Option<Expr>> {
    // The types of a long chain of `and` take time, and are not needed.
    let takes_arrays = matches!(
        op,
        BinaryOperator::StringConcat | BinaryOperator::AtArrow | BinaryOperator::ArrowAt | BinaryOperator::PGOverlap
    ) || known.is_some_and(is_comparison);
    if !takes_arrays {
        return Ok(None);
    }
    let (Some(one), Some(other)) = (type_of(left), type_of(right)) else { return Ok(None) };
    let is_joined = *op == BinaryOperator::StringConcat && (one.is_binary() || other.is_binary());
    let is_list = |own: &DataType| item(own).is_some();
    if !is_joined && !is_list(&one) && !is_list(&other) {
        return Ok(None);
    }
    let (mut left, mut right) = (left.clone(), right.clone());
    if is_joined {
        return joined_bytes(left, right, &one, &other);
    }
    // A null without a type is an array beside one.
    if one.is_null() || other.is_null() {
        return Ok(match op {
            BinaryOperator::StringConcat => Some(if one.is_null() { right } else { left }),
            BinaryOperator::AtArrow | BinaryOperator::ArrowAt | BinaryOperator::PGOverlap => {
                Some(lit(ScalarValue::Boolean(None)))
            }
            _ => None,
        });
    }
    for (text, list) in [(&mut right, &one), (&mut left, &other)] {
        if is_list(list)
            && let Some(literal) = written(text)
            && let Some(array) = read_as(literal, list)?
        {
            *text = array;
        }
    }
    let (Some(one), Some(other)) = (type_of(&left), type_of(&right)) else { return Ok(None) };
    if dimensions(&one) == dimensions(&other) {
        (left, right) = in_one_type(left, right, &one, &other);
    }
    Ok(Some(match op {
        // Whatever the dimensions, the elements count.
        BinaryOperator::AtArrow => array_has_all(flat(left, &one), flat(right, &other)),
        BinaryOperator::ArrowAt => array_has_all(flat(right, &other), flat(left, &one)),
        BinaryOperator::PGOverlap => array_has_any(flat(left, &one), flat(right, &other)),
        BinaryOperator::StringConcat if dimensions(&one) == dimensions(&other) => array_concat(vec![left, right]),
        BinaryOperator::StringConcat if dimensions(&one) > dimensions(&other) && is_list(&other) => {
            let is_empty = cardinality(right.clone()).eq(lit(0_u64));
            let joined = call(pg_functions::array_append(), vec![left.clone(), right]);
            when(is_empty, left).otherwise(joined)?
        }
        BinaryOperator::StringConcat if dimensions(&one) > dimensions(&other) => {
            call(pg_functions::array_append(), vec![left, right])
        }
        // An empty array has no dimensions.
        BinaryOperator::StringConcat if is_list(&one) => {
            let is_empty = cardinality(left.clone()).eq(lit(0_u64));
            let joined = call(pg_functions::array_prepend(), vec![left, right.clone()]);
            when(is_empty, right).otherwise(joined)?
        }
        BinaryOperator::StringConcat => call(pg_functions::array_prepend(), vec![left, right]),
        _ => match known {
            Some(op) => binary_expr(left, op, right),
            None => return Ok(None),
        },
    }))
}

/// Returns an array of these elements; `None` where the engine finds their type.
///
/// # Errors
/// A text among the elements that is no value of their type.
pub(super) fn array(elements: &[Expr], type_of: TypeOf<'_>) -> Result<Option<Expr>> {
    let mut elements = elements.to_vec();
    Ok(alike(elements.iter_mut().collect(), type_of)?.then(|| make_array(elements)))
}

/// Joins bytes, of which one may be a text literal. Beside a text that has a type, bytes are one as well.
fn joined_bytes(mut left: Expr, mut right: Expr, one: &DataType, other: &DataType) -> Result<Option<Expr>> {
    let is_text = |part: &Expr, own: &DataType| own.is_string() && written(part).is_none();
    if is_text(&left, one) || is_text(&right, other) {
        let shown =
            |part: Expr, own: &DataType| if own.is_binary() { call(pg_functions::written(), vec![part]) } else { part };
        return Ok(Some(binary_expr(shown(left, one), Operator::StringConcat, shown(right, other))));
    }
    for part in [&mut left, &mut right] {
        if let Some(text) = written(part) {
            *part = lit(bytes_of_literal(text)?);
        }
    }
    let is_bytes = |part: &Expr, own: &DataType| own.is_binary() || matches!(part, Expr::Literal(..));
    let are_bytes = is_bytes(&left, one) && is_bytes(&right, other);
    Ok(are_bytes.then(|| call(pg_functions::joined_bytes(), vec![left, right])))
}

/// Casts arrays to one of the type that their elements have in common; of decimals it has the digits of both.
fn in_one_type(left: Expr, right: Expr, one: &DataType, other: &DataType) -> (Expr, Expr) {
    let (Some(own), Some(beside)) = (item(one), item(other)) else { return (left, right) };
    let common = common_type::of(&[own.clone(), beside.clone()]).or_else(|| {
        let differ = own != beside && (own.is_decimal() || beside.is_decimal());
        differ.then(|| pg_functions::holding_digits(&[own, beside]))?
    });
    let Some(common) = common else { return (left, right) };
    let list = DataType::new_list(common, true);
    (cast(left, list.clone()), cast(right, list))
}

/// Returns an array of several dimensions as one of one.
fn flat(array: Expr, own: &DataType) -> Expr {
    (1..dimensions(own)).fold(array, |array, _| flatten(array))
}

fn dimensions(own: &DataType) -> usize {
    item(own).map_or(0, |item| 1 + dimensions(item))
}
