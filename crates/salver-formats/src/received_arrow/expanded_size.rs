//! Measures the expanded size of values: in overlapping texts and in dictionaries, a few bytes can stand for many
//! values.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::DataType;

/// Returns whether values of a type may overlap in ways that [`bytes`] does not measure.
pub(super) fn is_shared(data_type: &DataType) -> bool {
    match data_type {
        DataType::ListView(_) | DataType::LargeListView(_) | DataType::Union(..) | DataType::RunEndEncoded(..) => true,
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => is_shared(item.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| is_shared(field.data_type())),
        DataType::Dictionary(_, value) => value.is_nested() || is_shared(value),
        _ => false,
    }
}

/// Returns the bytes of values that may overlap, each counted in full; other values are no larger than received.
pub(super) fn bytes(array: &ArrayRef) -> u64 {
    match array.data_type() {
        DataType::Utf8View => array.as_string_view().lengths().map(u64::from).sum(),
        DataType::BinaryView => array.as_binary_view().lengths().map(u64::from).sum(),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let values = dictionary.values();
            if values.is_empty() {
                return 0;
            }
            dictionary.normalized_keys().iter().map(|key| bytes_at(values, *key)).sum()
        }
        DataType::List(_) => bytes(array.as_list::<i32>().values()),
        DataType::LargeList(_) => bytes(array.as_list::<i64>().values()),
        DataType::FixedSizeList(..) => bytes(array.as_fixed_size_list().values()),
        DataType::Map(..) => array.as_map().entries().columns().iter().map(bytes).sum(),
        DataType::Struct(_) => array.as_struct().columns().iter().map(bytes).sum(),
        _ => 0,
    }
}

/// Returns the bytes of one value of a dictionary.
fn bytes_at(values: &ArrayRef, row: usize) -> u64 {
    let length = match values.data_type() {
        DataType::Utf8 => values.as_string::<i32>().value(row).len(),
        DataType::LargeUtf8 => values.as_string::<i64>().value(row).len(),
        DataType::Utf8View => values.as_string_view().value(row).len(),
        DataType::Binary => values.as_binary::<i32>().value(row).len(),
        DataType::LargeBinary => values.as_binary::<i64>().value(row).len(),
        DataType::BinaryView => values.as_binary_view().value(row).len(),
        DataType::FixedSizeBinary(width) => usize::try_from(*width).unwrap_or(0),
        plain => plain.primitive_width().unwrap_or(1),
    };
    length as u64
}
