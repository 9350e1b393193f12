//! Detects lossy casts: values that became null or infinite, or were truncated to what the type can hold (fractions,
//! times of day, digits), at any depth of lists and structs.

use arrow::array::{Array, ArrayRef, AsArray, OffsetSizeTrait};
use arrow::buffer::NullBuffer;
use arrow::compute::cast;
use arrow::compute::kernels::cmp::distinct;
use arrow::datatypes::{DataType, TimeUnit};
use arrow::error::ArrowError;

use crate::source::decimal::scale_of;
use crate::source::declared_type::is_finite;

/// Returns the first row of which something is lost.
pub(super) fn first(from: &ArrayRef, to: &ArrayRef) -> Result<Option<usize>, ArrowError> {
    match (from.data_type(), to.data_type()) {
        (DataType::Struct(_), DataType::Struct(_)) => {
            let (from, to) = (from.as_struct(), to.as_struct());
            let mut lost = None::<usize>;
            for (from, to) in from.columns().iter().zip(to.columns()) {
                lost = [lost, first(from, to)?].into_iter().flatten().min();
            }
            Ok(lost)
        }
        (DataType::List(_), DataType::List(_)) => in_lists::<i32>(from, to),
        (DataType::LargeList(_), DataType::LargeList(_)) => in_lists::<i64>(from, to),
        _ => of_values(from, to),
    }
}

fn in_lists<O: OffsetSizeTrait>(from: &ArrayRef, to: &ArrayRef) -> Result<Option<usize>, ArrowError> {
    let (from, to) = (from.as_list::<O>(), to.as_list::<O>());
    let Some(place) = first(from.values(), to.values())? else { return Ok(None) };
    Ok(Some(from.value_offsets().partition_point(|offset| offset.as_usize() <= place).saturating_sub(1)))
}

fn of_values(from: &ArrayRef, to: &ArrayRef) -> Result<Option<usize>, ArrowError> {
    if to.logical_null_count() > from.logical_null_count() {
        let (before, after) = (from.logical_nulls(), to.logical_nulls());
        let is_null = |nulls: &Option<NullBuffer>, row| nulls.as_ref().is_some_and(|n| n.is_null(row));
        return Ok((0..from.len()).find(|row| is_null(&after, *row) && !is_null(&before, *row)));
    }
    if to.data_type().is_floating() && from.data_type().is_numeric() {
        let was_finite = |row| !from.is_null(row) && (!from.data_type().is_floating() || is_finite(from, row));
        return Ok((0..from.len()).find(|row| was_finite(*row) && !is_finite(to, *row)));
    }
    if !may_cut(from.data_type(), to.data_type()) {
        return Ok(None);
    }
    // If the result can't be cast back, the cast was lossy.
    let Ok(back) = cast(to, from.data_type()) else { return Ok((0..from.len()).find(|row| !from.is_null(*row))) };
    let differs = distinct(from, &back)?;
    Ok((0..differs.len()).find(|row| differs.value(*row)))
}

/// Returns whether values of one type may hold more than the other can.
fn may_cut(from: &DataType, to: &DataType) -> bool {
    use DataType::{Boolean, Date32, Date64, Duration, Time32, Time64, Timestamp};
    match (from, to) {
        (from, Timestamp(..) | Date32 | Date64 | Time32(_) | Time64(_) | Duration(_))
            if from.is_floating() || from.is_decimal() =>
        {
            true
        }
        (Timestamp(..) | Date64, Time32(_) | Time64(_)) => true,
        (Duration(from), Duration(to)) => fineness(*from) > fineness(*to),
        (from, to) if from.is_integer() => scale_of(to).is_some_and(|scale| scale < 0) || *to == Boolean,
        (from, to) if to.is_integer() => from.is_floating() || from.is_decimal(),
        (from, Boolean) => from.is_numeric(),
        (Timestamp(..) | Date64, Date32) | (Timestamp(..), Date64) => true,
        (Timestamp(from, _), Timestamp(to, _)) | (Time32(from) | Time64(from), Time32(to) | Time64(to)) => {
            fineness(*from) > fineness(*to)
        }
        (from, to) => scale_of(from).is_some_and(|from| scale_of(to).is_some_and(|to| from > to)),
    }
}

fn fineness(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 1,
        TimeUnit::Microsecond => 2,
        TimeUnit::Nanosecond => 3,
    }
}
