//! Size of values: the width of each row of a column by its values, not by the buffers that hold them. A view or a
//! dictionary that shows the same text in every row counts it in each, because consumers materialize it.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::buffer::OffsetBuffer;
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    BinaryViewType, ByteViewType, DataType, Int64Type, IntervalMonthDayNanoType, IntervalUnit, StringViewType, TimeUnit,
};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::ColumnarValue;

use crate::engine::pg_functions::shortest;

/// Measures of one argument in one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ArgumentSize {
    /// Size in bytes.
    pub(super) bytes: u64,
    /// Number of elements of a list.
    pub(super) items: u64,
    /// Number of elements of a list and of the lists nested in it.
    pub(super) leaves: u64,
    /// Value of an integer; for a pattern, the factor by which its repetitions expand it.
    pub(super) int: i64,
    /// Whether the argument is the same in every row.
    pub(super) is_same: bool,
}

/// Returns the size of the rows from `start` to `end`, in bytes.
pub(crate) fn span(array: &dyn Array, start: usize, end: usize) -> u64 {
    let rows = (end - start) as u64;
    match array.data_type() {
        DataType::Null => 0,
        DataType::Boolean => rows,
        DataType::Utf8 => 4 * rows + between(array.as_string::<i32>().offsets(), start, end),
        DataType::LargeUtf8 => 8 * rows + between(array.as_string::<i64>().offsets(), start, end),
        DataType::Binary => 4 * rows + between(array.as_binary::<i32>().offsets(), start, end),
        DataType::LargeBinary => 8 * rows + between(array.as_binary::<i64>().offsets(), start, end),
        DataType::Utf8View => 16 * rows + views::<StringViewType>(array, start, end),
        DataType::BinaryView => 16 * rows + views::<BinaryViewType>(array, start, end),
        DataType::FixedSizeBinary(size) => rows * to_u64(*size),
        DataType::FixedSizeList(_, size) => {
            let size = usize::try_from(*size).unwrap_or(0);
            span(array.as_fixed_size_list().values(), start * size, end * size)
        }
        DataType::Struct(_) => array.as_struct().columns().iter().map(|column| span(column, start, end)).sum(),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            rows * (8 + widest(dictionary.values()))
        }
        DataType::List(_) | DataType::LargeList(_) | DataType::Map(_, _) => {
            let (values, from, to) = elements(array, start, end);
            8 * rows + span(values, from, to)
        }
        DataType::Union(_, _) => {
            let union = array.as_union();
            let fields = union.fields().iter().map(|(id, _)| union.child(id));
            // The children of a dense union are shorter than the union.
            fields.map(|child| span(child, start.min(child.len()), end.min(child.len()))).sum::<u64>() + rows
        }
        other => match other.primitive_width() {
            Some(width) => rows * width as u64,
            None => array.get_array_memory_size() as u64,
        },
    }
}

/// Returns the memory of a column, in bytes; for a slice of another column, that of the slice.
pub(crate) fn held_bytes(array: &dyn Array) -> u64 {
    span(array, 0, array.len()).min(array.get_buffer_memory_size() as u64)
}

/// Returns the width of the widest row.
pub(crate) fn widest(array: &dyn Array) -> u64 {
    match array.data_type() {
        DataType::Utf8 => 4 + longest(array.as_string::<i32>().offsets()),
        DataType::LargeUtf8 => 8 + longest(array.as_string::<i64>().offsets()),
        DataType::Binary => 4 + longest(array.as_binary::<i32>().offsets()),
        DataType::LargeBinary => 8 + longest(array.as_binary::<i64>().offsets()),
        DataType::Dictionary(_, _) => 8 + widest(array.as_any_dictionary().values()),
        DataType::Struct(_) => array.as_struct().columns().iter().map(|column| widest(column)).sum(),
        other => match other.primitive_width() {
            Some(width) => width as u64,
            None => (0..array.len()).map(|row| span(array, row, row + 1)).max().unwrap_or(0),
        },
    }
}

/// Returns the number of elements in the rows from `start` to `end`, including those of nested lists.
pub(crate) fn leaves(array: &dyn Array, start: usize, end: usize) -> u64 {
    let rows = (end - start) as u64;
    match array.data_type() {
        DataType::List(_) | DataType::LargeList(_) | DataType::Map(_, _) => {
            let (values, from, to) = elements(array, start, end);
            rows + leaves(values, from, to)
        }
        DataType::FixedSizeList(_, size) => {
            let size = usize::try_from(*size).unwrap_or(0);
            rows + leaves(array.as_fixed_size_list().values(), start * size, end * size)
        }
        DataType::Struct(_) => {
            rows + array.as_struct().columns().iter().map(|column| leaves(column, start, end)).sum::<u64>()
        }
        _ => rows,
    }
}

/// Returns the elements of lists, and the range of those that belong to some rows.
fn elements(array: &dyn Array, start: usize, end: usize) -> (&dyn Array, usize, usize) {
    match array.data_type() {
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let offset = |row: usize| usize::try_from(list.value_offsets()[row]).unwrap_or(0);
            (list.values(), offset(start), offset(end))
        }
        DataType::Map(_, _) => {
            let map = array.as_map();
            let offset = |row: usize| usize::try_from(map.value_offsets()[row]).unwrap_or(0);
            (map.entries(), offset(start), offset(end))
        }
        _ => {
            let list = array.as_list::<i32>();
            let offset = |row: usize| usize::try_from(list.value_offsets()[row]).unwrap_or(0);
            (list.values(), offset(start), offset(end))
        }
    }
}

fn between<O: arrow::array::OffsetSizeTrait>(offsets: &OffsetBuffer<O>, start: usize, end: usize) -> u64 {
    (offsets[end] - offsets[start]).as_usize() as u64
}

fn longest<O: arrow::array::OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> u64 {
    let widths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
    widths.fold(O::default(), |widest, width| if width > widest { width } else { widest }).as_usize() as u64
}

fn views<T: ByteViewType>(array: &dyn Array, start: usize, end: usize) -> u64 {
    let views = &array.as_byte_view::<T>().views()[start..end];
    // The low four bytes of a view hold the length.
    views.iter().map(|view| view & u128::from(u32::MAX)).sum::<u128>().try_into().unwrap_or(u64::MAX)
}

fn to_u64(size: i32) -> u64 {
    u64::try_from(size).unwrap_or(0)
}

/// A measured argument of a call.
#[derive(Debug)]
pub(super) enum Measured {
    /// The same value in every row.
    Scalar(ArgumentSize),
    /// A column.
    Column { array: ArrayRef, ints: Option<ArrayRef> },
}

impl Measured {
    /// Measures an argument, which may be a pattern.
    pub(super) fn of(argument: &ColumnarValue, is_pattern: bool) -> Result<Self> {
        match argument {
            ColumnarValue::Scalar(value) => Ok(Self::Scalar(scalar(value, is_pattern)?)),
            ColumnarValue::Array(array) => {
                let ints = if is_pattern { patterns(array) } else { whole(array)? };
                Ok(Self::Column { array: ArrayRef::clone(array), ints })
            }
        }
    }

    /// Returns the measures of one row.
    pub(super) fn cell(&self, row: usize) -> ArgumentSize {
        match self {
            Self::Scalar(cell) => *cell,
            Self::Column { array, .. } if array.is_null(row) => ArgumentSize::default(),
            Self::Column { array, ints } => ArgumentSize {
                bytes: span(array, row, row + 1),
                items: items(array, row),
                leaves: leaves(array, row, row + 1),
                // An integer that does not fit exceeds every bound.
                int: ints.as_ref().map_or(0, |ints| {
                    if ints.is_null(row) { i64::MAX } else { ints.as_primitive::<Int64Type>().value(row) }
                }),
                is_same: false,
            },
        }
    }

    /// Returns the maximum of each measure over all rows.
    pub(super) fn most(&self) -> ArgumentSize {
        match self {
            Self::Scalar(cell) => *cell,
            Self::Column { array, ints } => {
                let nested = array.data_type().is_nested();
                let rows = || 0..array.len();
                ArgumentSize {
                    bytes: widest(array),
                    items: if nested { rows().map(|row| items(array, row)).max().unwrap_or(0) } else { 0 },
                    leaves: if nested { rows().map(|row| leaves(array, row, row + 1)).max().unwrap_or(0) } else { 1 },
                    int: ints.as_ref().map_or(0, |ints| {
                        let most = arrow::compute::max(ints.as_primitive::<Int64Type>()).unwrap_or(0);
                        if ints.null_count() > array.null_count() { i64::MAX } else { most }
                    }),
                    is_same: false,
                }
            }
        }
    }
}

/// Returns the size of a scalar in bytes, if its type can be large.
pub(crate) fn scalar_bytes(value: &ScalarValue) -> u64 {
    match value {
        ScalarValue::Utf8(text) | ScalarValue::LargeUtf8(text) | ScalarValue::Utf8View(text) => {
            text.as_ref().map_or(0, |text| text.len() as u64)
        }
        ScalarValue::Binary(bytes)
        | ScalarValue::LargeBinary(bytes)
        | ScalarValue::BinaryView(bytes)
        | ScalarValue::FixedSizeBinary(_, bytes) => bytes.as_ref().map_or(0, |bytes| bytes.len() as u64),
        ScalarValue::List(list) => span(&**list, 0, list.len()),
        ScalarValue::LargeList(list) => span(&**list, 0, list.len()),
        ScalarValue::FixedSizeList(list) => span(&**list, 0, list.len()),
        ScalarValue::Struct(fields) => span(&**fields, 0, fields.len()),
        ScalarValue::Map(map) => span(&**map, 0, map.len()),
        ScalarValue::Dictionary(_, value) => scalar_bytes(value),
        ScalarValue::RunEndEncoded(_, _, value) => scalar_bytes(value),
        ScalarValue::Union(Some((_, value)), _, _) => scalar_bytes(value),
        _ => 16,
    }
}

/// Returns the length of a pattern with its counted repetitions expanded.
pub(crate) fn pattern_chars(value: &ScalarValue) -> u64 {
    let pattern = value.try_as_str().flatten().unwrap_or_default();
    (pattern.len() as u64).saturating_mul(u64::try_from(repetitions(pattern)).unwrap_or(1))
}

fn scalar(value: &ScalarValue, is_pattern: bool) -> Result<ArgumentSize> {
    if value.is_null() {
        return Ok(ArgumentSize::default());
    }
    let bytes = scalar_bytes(value);
    if let Some(text) = value.try_as_str() {
        let int = if is_pattern { text.map_or(0, repetitions) } else { 0 };
        return Ok(ArgumentSize { bytes, items: 0, leaves: 1, int, is_same: true });
    }
    let array = value.to_array_of_size(1)?;
    let ints = whole(&array)?;
    let column = Measured::Column { array, ints };
    Ok(ArgumentSize { bytes, is_same: true, ..column.cell(0) })
}

/// Returns a column as integers, if it can be used as such: numbers as they are, and times in microseconds.
fn whole(array: &ArrayRef) -> Result<Option<ArrayRef>> {
    let options = CastOptions::default();
    let cast = |array: &dyn Array, to: &DataType| cast_with_options(array, to, &options);
    Ok(match array.data_type() {
        own if own.is_integer() => Some(cast(array, &DataType::Int64)?),
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(_, _) => {
            let stamps = cast(array, &DataType::Timestamp(TimeUnit::Microsecond, None))?;
            Some(cast(&stamps, &DataType::Int64)?)
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let steps = array.as_primitive::<IntervalMonthDayNanoType>().iter().map(|step| step.map(shortest));
            Some(Arc::new(steps.collect::<Int64Array>()))
        }
        DataType::Interval(_) => {
            let steps = cast(array, &DataType::Interval(IntervalUnit::MonthDayNano))?;
            whole(&steps)?
        }
        _ => None,
    })
}

/// Returns the factor by which repetitions expand each pattern.
fn patterns(array: &ArrayRef) -> Option<ArrayRef> {
    let counts: Int64Array = match array.data_type() {
        DataType::Utf8 => array.as_string::<i32>().iter().map(|text| text.map(repetitions)).collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().map(|text| text.map(repetitions)).collect(),
        DataType::Utf8View => array.as_string_view().iter().map(|text| text.map(repetitions)).collect(),
        _ => return None,
    };
    Some(Arc::new(counts))
}

/// Returns the factor by which counted repetitions such as `a{100}` expand a pattern; at most a million.
fn repetitions(pattern: &str) -> i64 {
    let mut product = 1_i64;
    for counted in pattern.split('{').skip(1) {
        let numbers = counted.split('}').next().unwrap_or_default().split(',');
        let most = numbers.filter_map(|number| number.trim().parse::<i64>().ok()).max().unwrap_or(1);
        product = product.saturating_mul(most.max(1)).min(1_000_000);
    }
    product
}

fn items(array: &dyn Array, row: usize) -> u64 {
    match array.data_type() {
        DataType::List(_) | DataType::LargeList(_) | DataType::Map(_, _) => {
            let (_, from, to) = elements(array, row, row + 1);
            (to - from) as u64
        }
        DataType::FixedSizeList(_, size) => to_u64(*size),
        _ => 0,
    }
}

/// Returns the size of an argument; that of nothing if there is none.
pub(super) fn cell(cells: &[ArgumentSize], index: usize) -> ArgumentSize {
    cells.get(index).copied().unwrap_or_default()
}

/// Returns an argument as a number of times.
pub(super) fn times(cell: ArgumentSize) -> u64 {
    u64::try_from(cell.int).unwrap_or(0)
}
