//! Zone maps: the smallest and largest value of each chunk, so that a filter skips chunks that can't contain a match.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::{max, max_string, min, min_string};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Date64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type,
};
use salver_model::Comparison;

use crate::resolve::{Condition, Test};

/// The range of a column in one chunk.
#[derive(Debug)]
enum Range {
    /// Unknown, or the type has no zone maps.
    Unknown,
    /// Every value is null.
    AllNull,
    Whole(i64, i64),
    Text(Box<str>, Box<str>),
}

/// The ranges of every column in every chunk.
#[derive(Debug, Default)]
pub(crate) struct Zones {
    chunks: Vec<Vec<Range>>,
}

impl Zones {
    /// Computes the ranges in one pass. A dataset of one chunk needs none.
    pub(crate) fn build(chunks: &[RecordBatch]) -> Self {
        if chunks.len() < 2 {
            return Self::default();
        }
        Self { chunks: chunks.iter().map(|chunk| chunk.columns().iter().map(range).collect()).collect() }
    }

    /// Returns whether any row of `chunk` may match.
    pub(crate) fn may_pass(&self, chunk: usize, condition: &Condition) -> bool {
        let Some(ranges) = self.chunks.get(chunk) else { return true };
        may_pass(ranges, condition)
    }
}

fn may_pass(ranges: &[Range], condition: &Condition) -> bool {
    match condition {
        Condition::Always(passes) => *passes == Some(true),
        Condition::And(all) => all.iter().all(|inner| may_pass(ranges, inner)),
        Condition::Or(any) => any.iter().any(|inner| may_pass(ranges, inner)),
        // The ranges that may match a condition say nothing about its negation.
        Condition::Not(_) => true,
        Condition::Test(place, test) if place.fields.is_empty() => test_may_pass(&ranges[place.column], test),
        Condition::Test(..) => true,
    }
}

fn test_may_pass(range: &Range, test: &Test) -> bool {
    match (range, test) {
        (_, Test::IsNull) | (Range::Unknown, _) => true,
        (Range::AllNull, _) => false,
        (_, Test::Known(known)) => *known,
        (_, Test::Like(..)) => true,
        (Range::Whole(low, high), Test::Compare(op, value)) => {
            whole(value, 0).is_none_or(|value| overlaps(low, high, *op, &value))
        }
        (Range::Whole(low, high), Test::In(values)) => (0..values.values.len())
            .any(|i| whole(&values.values, i).is_none_or(|value| overlaps(low, high, Comparison::Eq, &value))),
        (Range::Text(low, high), Test::Compare(op, value)) => {
            text(value, 0).is_none_or(|value| overlaps(&**low, &**high, *op, value))
        }
        (Range::Text(low, high), Test::In(values)) => (0..values.values.len())
            .any(|i| text(&values.values, i).is_none_or(|v| overlaps(&**low, &**high, Comparison::Eq, v))),
    }
}

fn overlaps<T: PartialOrd + ?Sized>(low: &T, high: &T, op: Comparison, value: &T) -> bool {
    match op {
        Comparison::Eq => low <= value && value <= high,
        Comparison::NotEq => low != value || value != high,
        Comparison::Lt => low < value,
        Comparison::LtEq => low <= value,
        Comparison::Gt => high > value,
        Comparison::GtEq => high >= value,
    }
}

fn range(array: &ArrayRef) -> Range {
    if array.null_count() == array.len() {
        return Range::AllNull;
    }
    let found = match array.data_type() {
        DataType::Utf8 => text_range(min_string(array.as_string::<i32>()), max_string(array.as_string::<i32>())),
        DataType::LargeUtf8 => text_range(min_string(array.as_string::<i64>()), max_string(array.as_string::<i64>())),
        _ => whole_range(array),
    };
    found.unwrap_or(Range::Unknown)
}

fn text_range(low: Option<&str>, high: Option<&str>) -> Option<Range> {
    Some(Range::Text(low?.into(), high?.into()))
}

/// Calls `$f::<T>($array)` with the array's type if its values are integers in the range of `i64`.
macro_rules! with_whole {
    ($array:expr, $f:ident, $($rest:expr),*) => {
        match $array.data_type() {
            DataType::Int8 => $f::<Int8Type>($array, $($rest),*),
            DataType::Int16 => $f::<Int16Type>($array, $($rest),*),
            DataType::Int32 => $f::<Int32Type>($array, $($rest),*),
            DataType::Int64 => $f::<Int64Type>($array, $($rest),*),
            DataType::UInt8 => $f::<UInt8Type>($array, $($rest),*),
            DataType::UInt16 => $f::<UInt16Type>($array, $($rest),*),
            DataType::UInt32 => $f::<UInt32Type>($array, $($rest),*),
            DataType::Date32 => $f::<Date32Type>($array, $($rest),*),
            DataType::Date64 => $f::<Date64Type>($array, $($rest),*),
            DataType::Timestamp(TimeUnit::Second, _) => $f::<TimestampSecondType>($array, $($rest),*),
            DataType::Timestamp(TimeUnit::Millisecond, _) => $f::<TimestampMillisecondType>($array, $($rest),*),
            DataType::Timestamp(TimeUnit::Microsecond, _) => $f::<TimestampMicrosecondType>($array, $($rest),*),
            DataType::Timestamp(TimeUnit::Nanosecond, _) => $f::<TimestampNanosecondType>($array, $($rest),*),
            _ => None,
        }
    };
}

fn whole_range(array: &ArrayRef) -> Option<Range> {
    fn typed<T: ArrowPrimitiveType>(array: &ArrayRef, _: ()) -> Option<Range>
    where
        T::Native: Into<i64>,
    {
        let array = array.as_primitive::<T>();
        Some(Range::Whole(min(array)?.into(), max(array)?.into()))
    }
    with_whole!(array, typed, ())
}

fn whole(array: &ArrayRef, row: usize) -> Option<i64> {
    fn typed<T: ArrowPrimitiveType>(array: &ArrayRef, row: usize) -> Option<i64>
    where
        T::Native: Into<i64>,
    {
        Some(array.as_primitive::<T>().value(row).into())
    }
    with_whole!(array, typed, row)
}

fn text(array: &ArrayRef, row: usize) -> Option<&str> {
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().value(row)),
        _ => None,
    }
}
