//! Hashes of column values. They are the same in every process.

use ahash::RandomState;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Date64Type, Decimal128Type, Int8Type, Int16Type, Int32Type, Int64Type,
    TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

/// The hash of null.
const NULL: u64 = 0x9e37_79b9_7f4a_7c15;

fn seeded() -> RandomState {
    RandomState::with_seeds(0x5361, 0x6c76, 0x6572, 0x2e00)
}

/// Combines the hash of each value of `array` with the hash at its row; `None` if the type can't be hashed.
pub(super) fn combine(array: &ArrayRef, hashes: &mut [u64]) -> Option<()> {
    match array.data_type() {
        DataType::Int8 => primitive::<Int8Type>(array, hashes, |v| v as u64),
        DataType::Int16 => primitive::<Int16Type>(array, hashes, |v| v as u64),
        DataType::Int32 => primitive::<Int32Type>(array, hashes, |v| v as u64),
        DataType::Int64 => primitive::<Int64Type>(array, hashes, |v| v as u64),
        DataType::UInt8 => primitive::<UInt8Type>(array, hashes, u64::from),
        DataType::UInt16 => primitive::<UInt16Type>(array, hashes, u64::from),
        DataType::UInt32 => primitive::<UInt32Type>(array, hashes, u64::from),
        DataType::UInt64 => primitive::<UInt64Type>(array, hashes, |v| v),
        DataType::Date32 => primitive::<Date32Type>(array, hashes, |v| v as u64),
        DataType::Date64 => primitive::<Date64Type>(array, hashes, |v| v as u64),
        DataType::Timestamp(TimeUnit::Second, _) => primitive::<TimestampSecondType>(array, hashes, |v| v as u64),
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            primitive::<TimestampMillisecondType>(array, hashes, |v| v as u64)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            primitive::<TimestampMicrosecondType>(array, hashes, |v| v as u64)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitive::<TimestampNanosecondType>(array, hashes, |v| v as u64)
        }
        DataType::Decimal128(..) => primitive::<Decimal128Type>(array, hashes, |v| v as u64 ^ (v >> 64) as u64),
        DataType::Utf8 => bytes(array.as_string::<i32>().iter().map(|v| v.map(str::as_bytes)), hashes),
        DataType::LargeUtf8 => bytes(array.as_string::<i64>().iter().map(|v| v.map(str::as_bytes)), hashes),
        DataType::Utf8View => bytes(array.as_string_view().iter().map(|v| v.map(str::as_bytes)), hashes),
        DataType::Binary => bytes(array.as_binary::<i32>().iter(), hashes),
        _ => return None,
    }
    Some(())
}

fn mix(hash: &mut u64, value: u64) {
    let mixed = (hash.rotate_left(23) ^ value).wrapping_mul(0x9fb2_1c65_1e98_df25);
    *hash = mixed ^ (mixed >> 32);
}

fn primitive<T: ArrowPrimitiveType>(array: &ArrayRef, hashes: &mut [u64], word: impl Fn(T::Native) -> u64) {
    let array = array.as_primitive::<T>();
    for (row, (hash, value)) in hashes.iter_mut().zip(array.values()).enumerate() {
        mix(hash, if array.is_null(row) { NULL } else { word(*value) });
    }
}

fn bytes<'a>(values: impl Iterator<Item = Option<&'a [u8]>>, hashes: &mut [u64]) {
    let seeded = seeded();
    for (hash, value) in hashes.iter_mut().zip(values) {
        mix(hash, value.map_or(NULL, |bytes| seeded.hash_one(bytes)));
    }
}
