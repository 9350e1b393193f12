//! Casts to integers round, as in PostgreSQL: floats half to even, decimals half away from zero. Those of lists round
//! their elements.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, ListArray, PrimitiveArray};
use arrow::datatypes::{
    ArrowNativeType, ArrowNativeTypeOp, DataType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DecimalType, Float32Type, Float64Type,
};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::Expr;

use super::super::pg_functions;
use super::super::row_function::{RowFunction, same_type};
use super::call;

/// Rounds the operand of a cast that would truncate; returns whether that changed it.
pub(super) fn before_cast(expr: Expr, to: &DataType, type_of: &dyn Fn(&Expr) -> Option<DataType>) -> (Expr, bool) {
    if !type_of(&expr).is_some_and(|from| cuts(&from, to)) {
        return (expr, false);
    }
    (function(vec![expr]), true)
}

/// Shortens the operand of a cast of a float to a decimal; returns whether that changed it.
pub(super) fn shortened(expr: Expr, to: &DataType, type_of: &dyn Fn(&Expr) -> Option<DataType>) -> (Expr, bool) {
    let is_float = |own: DataType| matches!(own, DataType::Float32 | DataType::Float64);
    if !to.is_decimal() || !type_of(&expr).is_some_and(is_float) {
        return (expr, false);
    }
    (call(pg_functions::significant_digits(), vec![expr]), true)
}

/// Returns whether a cast would truncate.
fn cuts(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (DataType::List(from), DataType::List(to)) => cuts(from.data_type(), to.data_type()),
        (_, to) if !to.is_integer() => false,
        (DataType::Float32 | DataType::Float64, _) => true,
        (
            DataType::Decimal32(_, scale)
            | DataType::Decimal64(_, scale)
            | DataType::Decimal128(_, scale)
            | DataType::Decimal256(_, scale),
            _,
        ) => *scale > 0,
        _ => false,
    }
}

/// Returns the call that rounds a number to an integral one.
pub(super) fn function(args: Vec<Expr>) -> Expr {
    call(RowFunction::of_one("rounded", same_type, |arrays, _| rounded(&arrays[0])), args)
}

fn rounded(array: &ArrayRef) -> Result<ArrayRef> {
    Ok(match array.data_type() {
        DataType::Float32 => {
            Arc::new(array.as_primitive::<Float32Type>().unary::<_, Float32Type>(f32::round_ties_even))
        }
        DataType::Float64 => {
            Arc::new(array.as_primitive::<Float64Type>().unary::<_, Float64Type>(f64::round_ties_even))
        }
        DataType::List(_) => {
            let (field, offsets, items, nulls) = array.as_list::<i32>().clone().into_parts();
            Arc::new(ListArray::try_new(field, offsets, rounded(&items)?, nulls)?)
        }
        DataType::Decimal32(_, scale) => decimals::<Decimal32Type>(array, *scale),
        DataType::Decimal64(_, scale) => decimals::<Decimal64Type>(array, *scale),
        DataType::Decimal128(_, scale) => decimals::<Decimal128Type>(array, *scale),
        DataType::Decimal256(_, scale) => decimals::<Decimal256Type>(array, *scale),
        other => return internal_err!("{other} is not rounded"),
    })
}

fn decimals<T: DecimalType + ArrowPrimitiveType>(array: &ArrayRef, scale: i8) -> ArrayRef {
    let Some(ten) = T::Native::from_usize(10) else { return Arc::clone(array) };
    let Ok(one) = ten.pow_checked(u32::from(scale.unsigned_abs())) else { return Arc::clone(array) };
    let Some(two) = T::Native::from_usize(2) else { return Arc::clone(array) };
    let half = one.div_wrapping(two);
    let values: PrimitiveArray<T> = array.as_primitive::<T>().unary(|value| {
        let below = value.mod_wrapping(one);
        let whole = value.sub_wrapping(below);
        if below.is_ge(half) {
            whole.add_wrapping(one)
        } else if below.is_le(half.neg_wrapping()) {
            whole.sub_wrapping(one)
        } else {
            whole
        }
    });
    Arc::new(values.with_data_type(array.data_type().clone()))
}
