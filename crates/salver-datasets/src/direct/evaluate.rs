//! Evaluates a condition on a range of rows of a chunk, with the three-valued logic of SQL.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, RecordBatch, Scalar, make_array};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::compute::kernels::cmp;
use arrow::compute::{and_kleene, cast, ilike, is_null, like, not, or_kleene};
use arrow::datatypes::{DataType, Float16Type, Float32Type, Float64Type};
use arrow::error::ArrowError;
use salver_model::{Comparison, Result};

use crate::fault;
use crate::resolve::{Condition, OneOf, ResolvedColumn, Test};

/// Longest list that is compared value by value; longer ones are looked up in a hash set.
const COMPARED_VALUES: usize = 8;

/// Evaluates the condition for each of the rows.
pub(crate) fn mask(condition: &Condition, chunk: &RecordBatch, start: u32, len: u32) -> Result<BooleanArray> {
    evaluate(condition, chunk, start as usize, len as usize).map_err(fault::arrow)
}

fn evaluate(condition: &Condition, chunk: &RecordBatch, start: usize, len: usize) -> Result<BooleanArray, ArrowError> {
    match condition {
        Condition::Always(Some(known)) => Ok(constant(*known, len, None)),
        Condition::Always(None) => Ok(BooleanArray::new_null(len)),
        Condition::Not(inner) => not(&evaluate(inner, chunk, start, len)?),
        Condition::And(all) => fold(all, chunk, start, len, true),
        Condition::Or(any) => fold(any, chunk, start, len, false),
        Condition::Test(place, value) => test(&column(place, chunk, start, len), value, len),
    }
}

/// Combines the parts by `and` if `all`, else by `or`; stops as soon as the result is determined.
fn fold(
    parts: &[Condition],
    chunk: &RecordBatch,
    start: usize,
    len: usize,
    all: bool,
) -> Result<BooleanArray, ArrowError> {
    let mut parts = parts.iter();
    let Some(first) = parts.next() else { return Ok(constant(all, len, None)) };
    let mut sum = evaluate(first, chunk, start, len)?;
    for part in parts {
        let decided = sum.null_count() == 0 && if all { !sum.has_true() } else { !sum.has_false() };
        if decided {
            break;
        }
        let next = evaluate(part, chunk, start, len)?;
        sum = if all { and_kleene(&sum, &next)? } else { or_kleene(&sum, &next)? };
    }
    Ok(sum)
}

fn test(values: &ArrayRef, test: &Test, len: usize) -> Result<BooleanArray, ArrowError> {
    match test {
        Test::IsNull => is_null(values),
        Test::Known(known) => Ok(constant(*known, len, values.logical_nulls())),
        Test::Compare(op, value) => compare(values, *op, value),
        Test::In(list) => one_of(values, list),
        Test::Like(pattern, false) => like(values, &Scalar::new(pattern)),
        Test::Like(pattern, true) => ilike(values, &Scalar::new(pattern)),
    }
}

fn compare(values: &ArrayRef, op: Comparison, value: &ArrayRef) -> Result<BooleanArray, ArrowError> {
    match values.data_type() {
        DataType::Float64 => return Ok(floats::<Float64Type>(values, op, value)),
        DataType::Float32 => return Ok(floats::<Float32Type>(values, op, value)),
        DataType::Float16 => return Ok(floats::<Float16Type>(values, op, value)),
        _ => {}
    }
    let value = Scalar::new(value);
    match op {
        Comparison::Eq => cmp::eq(values, &value),
        Comparison::NotEq => cmp::neq(values, &value),
        Comparison::Lt => cmp::lt(values, &value),
        Comparison::LtEq => cmp::lt_eq(values, &value),
        Comparison::Gt => cmp::gt(values, &value),
        Comparison::GtEq => cmp::gt_eq(values, &value),
    }
}

/// Compares floats in a total order: NaN is equal to itself and greater than any other value, and the two zeros are
/// equal. Arrow's kernels use another order.
fn floats<T: ArrowPrimitiveType>(values: &ArrayRef, op: Comparison, value: &ArrayRef) -> BooleanArray
where
    T::Native: PartialOrd,
{
    let values = values.as_primitive::<T>();
    let bound = value.as_primitive::<T>().value(0);
    // Only NaN differs from itself.
    let is_nan = |x: T::Native| x.partial_cmp(&x).is_none();
    let test = |test: &dyn Fn(T::Native) -> bool| BooleanArray::from_unary(values, test);
    if is_nan(bound) {
        return match op {
            Comparison::Eq | Comparison::GtEq => test(&is_nan),
            Comparison::NotEq | Comparison::Lt => test(&|x| !is_nan(x)),
            Comparison::LtEq => test(&|_| true),
            Comparison::Gt => test(&|_| false),
        };
    }
    match op {
        Comparison::Eq => BooleanArray::from_unary(values, |x| x == bound),
        Comparison::NotEq => BooleanArray::from_unary(values, |x| x != bound),
        Comparison::Lt => BooleanArray::from_unary(values, |x| x < bound),
        Comparison::LtEq => BooleanArray::from_unary(values, |x| x <= bound),
        Comparison::Gt => BooleanArray::from_unary(values, |x| x > bound || is_nan(x)),
        Comparison::GtEq => BooleanArray::from_unary(values, |x| x >= bound || is_nan(x)),
    }
}

fn one_of(values: &ArrayRef, list: &OneOf) -> Result<BooleanArray, ArrowError> {
    if list.values.len() <= COMPARED_VALUES {
        let mut sum: Option<BooleanArray> = None;
        for row in 0..list.values.len() {
            let equal = compare(values, Comparison::Eq, &list.values.slice(row, 1))?;
            sum = Some(match sum {
                None => equal,
                Some(sum) => or_kleene(&sum, &equal)?,
            });
        }
        return Ok(sum.unwrap_or_else(|| constant(false, values.len(), None)));
    }
    let plain = match values.data_type() {
        DataType::Dictionary(..) => cast(values, list.values.data_type())?,
        _ => Arc::clone(values),
    };
    Ok(BooleanArray::new(BooleanBuffer::from(list.members(&plain)?), plain.logical_nulls()))
}

fn constant(known: bool, len: usize, nulls: Option<NullBuffer>) -> BooleanArray {
    let values = if known { BooleanBuffer::new_set(len) } else { BooleanBuffer::new_unset(len) };
    BooleanArray::new(values, nulls)
}

/// Returns the values of a column or of a field nested in it; null where any of its parents is null.
pub(crate) fn column(place: &ResolvedColumn, chunk: &RecordBatch, start: usize, len: usize) -> ArrayRef {
    let whole = chunk.column(place.column);
    let mut values = if start == 0 && len == whole.len() { Arc::clone(whole) } else { whole.slice(start, len) };
    for field in &place.fields {
        let parent = values.as_struct();
        let child = Arc::clone(parent.column(*field));
        values = match parent.nulls() {
            None => child,
            Some(above) => {
                let nulls = NullBuffer::union(Some(above), child.nulls());
                match child.to_data().into_builder().nulls(nulls).build() {
                    Ok(data) => make_array(data),
                    // Only arrays of the null type take no validity bitmap; they are all null anyway.
                    Err(_) => child,
                }
            }
        };
    }
    values
}
