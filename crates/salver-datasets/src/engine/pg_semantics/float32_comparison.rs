//! Comparisons of 32-bit floats with integers, as 64-bit floats, as in PostgreSQL. The engine would round the integers
//! to 32 bits, so that `16777217` equalled `16777216`.

use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{Expr, cast};

use super::{TypeOf, operands};

/// Bound up to which integers are exact 32-bit floats.
const EXACT_WHOLE: u64 = 1 << f32::MANTISSA_DIGITS;

/// Returns whether an expression may be an integer that rounds when it is cast to a 32-bit float.
fn is_rounded(expr: &Expr, type_of: TypeOf<'_>) -> bool {
    match expr {
        Expr::Negative(inner) if matches!(**inner, Expr::Literal(..)) => is_rounded(inner, type_of),
        Expr::Literal(ScalarValue::Int32(Some(number)), _) => u64::from(number.unsigned_abs()) > EXACT_WHOLE,
        Expr::Literal(ScalarValue::Int64(Some(number)), _) => number.unsigned_abs() > EXACT_WHOLE,
        _ => type_of(expr).is_some_and(|own| own.is_integer() && !matches!(own.primitive_width(), Some(1 | 2))),
    }
}

/// Rewrites a comparison to cast 32-bit floats to 64 bits where that distinguishes them from integers.
pub(super) fn compared(expr: Expr, type_of: TypeOf<'_>) -> Transformed<Expr> {
    let is_single = |part: &Expr| type_of(part) == Some(DataType::Float32);
    let differ = |parts: &[&Expr]| {
        parts.iter().any(|part| is_rounded(part, type_of)) && parts.iter().any(|part| is_single(part))
    };
    let double = |part: Expr| if is_single(&part) { cast(part, DataType::Float64) } else { part };
    match differ(&operands::of(&expr)) {
        true => Transformed::yes(operands::each(expr, &double)),
        false => Transformed::no(expr),
    }
}
