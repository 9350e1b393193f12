//! Memory size of rows, counting only the rows of a slice, and computed fast enough for the hot path.

use arrow::array::{Array, ArrayRef, AsArray, OffsetSizeTrait};
use arrow::datatypes::DataType;
use arrow::record_batch::RecordBatch;

/// Minimum bytes per row of a column whose layout offers no cheaper estimate: an array with offsets into others.
const NESTED_ROW_BYTES: usize = 16;

/// Returns the size of a batch in bytes.
pub(crate) fn of(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(column).sum()
}

fn column(array: &ArrayRef) -> usize {
    let rows = array.len();
    match array.data_type() {
        DataType::Utf8 => span(array.as_string::<i32>().value_offsets()) + 4 * rows,
        DataType::LargeUtf8 => span(array.as_string::<i64>().value_offsets()) + 8 * rows,
        DataType::Binary => span(array.as_binary::<i32>().value_offsets()) + 4 * rows,
        DataType::LargeBinary => span(array.as_binary::<i64>().value_offsets()) + 8 * rows,
        plain => match plain.primitive_width() {
            Some(width) => width * rows,
            None => array.to_data().get_slice_memory_size().unwrap_or(0).max(NESTED_ROW_BYTES * rows),
        },
    }
}

fn span<O: OffsetSizeTrait>(offsets: &[O]) -> usize {
    offsets.first().zip(offsets.last()).map_or(0, |(first, last)| last.as_usize() - first.as_usize())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, StringArray};
    use arrow::record_batch::RecordBatch;

    use super::of;

    #[test]
    fn a_slice_weighs_its_rows_only() {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..1000));
        let words: ArrayRef = Arc::new(StringArray::from_iter_values((0..1000).map(|n| format!("{n:010}"))));
        let batch = RecordBatch::try_from_iter([("n", numbers), ("w", words)]).unwrap();
        assert_eq!(of(&batch), 1000 * (8 + 4 + 10));
        assert_eq!(of(&batch.slice(10, 3)), 3 * (8 + 4 + 10));
    }
}
