//! Sorts by one column whose values map to a 64-bit word of the same order: numbers, dates, timestamps. No row is
//! copied; the first rows of the order are kept in a small buffer.

use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray};
use arrow::datatypes::{
    DataType, Date32Type, Date64Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};

use super::chunk_column;
use crate::direct::Resident;
use crate::direct::select::{Matches, Pick};
use crate::resolve::SortKey;

/// The rank of null or not null, the value as a word, and the position; entries are sorted ascending.
type Entry = (bool, u64, u32);

/// Returns the positions of the first `wanted` rows, or of those after the row at `last`; `None` if the key is not one
/// word.
pub(super) fn sorted(
    resident: &Resident,
    keys: &[SortKey],
    seen: &Matches,
    wanted: usize,
    last: Option<u64>,
) -> Option<Vec<u32>> {
    let [key] = keys else { return None };
    if !is_word(key.place.field.data_type()) {
        return None;
    }
    let after = match last {
        Some(position) => {
            let (chunk, row) = Resident::locate(position);
            let mut entry = None;
            let pick = Pick::Range { chunk, start: row, len: 1 };
            visit(&chunk_column(resident, key, chunk), &pick, key, |found| entry = Some(found))?;
            entry
        }
        None => None,
    };
    let mut best = Best { entries: Vec::new(), wanted, bound: None };
    for pick in &seen.picks {
        let (Pick::Range { chunk, .. } | Pick::Rows { chunk, .. }) = pick;
        visit(&chunk_column(resident, key, *chunk), pick, key, |entry| {
            if after.is_none_or(|after| entry > after) {
                best.push(entry);
            }
        })?;
    }
    Some(best.into_positions())
}

/// The smallest entries seen so far.
struct Best {
    entries: Vec<Entry>,
    wanted: usize,
    /// Exclusive upper bound of entries that can still be among the smallest.
    bound: Option<Entry>,
}

impl Best {
    #[inline]
    fn push(&mut self, entry: Entry) {
        if self.bound.is_some_and(|bound| entry >= bound) {
            return;
        }
        self.entries.push(entry);
        if self.entries.len() >= self.wanted.saturating_mul(2).max(1024) {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        if self.wanted == 0 {
            self.entries.clear();
        } else if self.entries.len() > self.wanted {
            self.bound = Some(*self.entries.select_nth_unstable(self.wanted - 1).1);
            self.entries.truncate(self.wanted);
        }
    }

    fn into_positions(mut self) -> Vec<u32> {
        self.entries.sort_unstable();
        self.entries.truncate(self.wanted);
        self.entries.into_iter().map(|(_, _, position)| position).collect()
    }
}

fn is_word(data_type: &DataType) -> bool {
    use DataType::{
        Date32, Date64, Float32, Float64, Int8, Int16, Int32, Int64, Timestamp, UInt8, UInt16, UInt32, UInt64,
    };
    matches!(
        data_type,
        Int8 | Int16
            | Int32
            | Int64
            | UInt8
            | UInt16
            | UInt32
            | UInt64
            | Float32
            | Float64
            | Date32
            | Date64
            | Timestamp(..)
    )
}

/// Maps a signed number to a word of the same order.
fn signed(number: i64) -> u64 {
    (number as u64) ^ (1 << 63)
}

/// Maps a float to a word of the same order: every NaN is greater than any number, and the two zeros are equal.
fn float(x: f64) -> u64 {
    if x.is_nan() {
        return u64::MAX;
    }
    // Adding `0.0` turns `-0.0` into `0.0`.
    let bits = (x + 0.0).to_bits() as i64;
    signed(bits ^ (((bits >> 63) as u64) >> 1) as i64)
}

fn visit(values: &ArrayRef, pick: &Pick, key: &SortKey, sink: impl FnMut(Entry)) -> Option<()> {
    match values.data_type() {
        DataType::Int8 => each::<Int8Type>(values, pick, key, |v| signed(v.into()), sink),
        DataType::Int16 => each::<Int16Type>(values, pick, key, |v| signed(v.into()), sink),
        DataType::Int32 => each::<Int32Type>(values, pick, key, |v| signed(v.into()), sink),
        DataType::Int64 => each::<Int64Type>(values, pick, key, signed, sink),
        DataType::UInt8 => each::<UInt8Type>(values, pick, key, u64::from, sink),
        DataType::UInt16 => each::<UInt16Type>(values, pick, key, u64::from, sink),
        DataType::UInt32 => each::<UInt32Type>(values, pick, key, u64::from, sink),
        DataType::UInt64 => each::<UInt64Type>(values, pick, key, |v| v, sink),
        DataType::Float32 => each::<Float32Type>(values, pick, key, float32, sink),
        DataType::Float64 => each::<Float64Type>(values, pick, key, float, sink),
        DataType::Date32 => each::<Date32Type>(values, pick, key, |v| signed(v.into()), sink),
        DataType::Date64 => each::<Date64Type>(values, pick, key, signed, sink),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => each::<TimestampSecondType>(values, pick, key, signed, sink),
            TimeUnit::Millisecond => each::<TimestampMillisecondType>(values, pick, key, signed, sink),
            TimeUnit::Microsecond => each::<TimestampMicrosecondType>(values, pick, key, signed, sink),
            TimeUnit::Nanosecond => each::<TimestampNanosecondType>(values, pick, key, signed, sink),
        },
        _ => return None,
    }
    Some(())
}

/// Maps a single-precision float to a word of the same order.
fn float32(x: f32) -> u64 {
    float(f64::from(x))
}

fn each<T: ArrowPrimitiveType>(
    values: &ArrayRef,
    pick: &Pick,
    key: &SortKey,
    word: impl Fn(T::Native) -> u64,
    mut sink: impl FnMut(Entry),
) {
    let array = values.as_primitive::<T>();
    let flip = if key.options.descending { u64::MAX } else { 0 };
    let nulls_first = key.options.nulls_first;
    let raw = array.values();
    let mut row = |chunk: u32, row: u32| {
        let position = Resident::position(chunk, row) as u32;
        // Nulls are all equal, and are ranked before or after all values.
        sink(if array.is_null(row as usize) {
            (!nulls_first, 0, position)
        } else {
            (nulls_first, word(raw[row as usize]) ^ flip, position)
        });
    };
    match pick {
        Pick::Range { chunk, start, len } => (*start..start + len).for_each(|r| row(*chunk, r)),
        Pick::Rows { chunk, rows } => rows.iter().for_each(|r| row(*chunk, *r)),
    }
}
