//! Hash join of the rows of a level with those of a relation, which are read at once with all keys of the level. Knows
//! arrays, not documents.

use std::sync::Arc;

use ahash::AHashMap;
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Decimal128Array, Float64Array, Int64Array, StringArray,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type};
use salver_model::{Error, Result, Value};

/// Marks a row without a group: a key that contains a null matches nothing.
const NONE: u32 = u32::MAX;

/// The distinct keys of a level's rows.
#[derive(Debug)]
pub(crate) struct JoinKeys {
    columns: Vec<KeyColumn>,
    groups: AHashMap<Vec<u8>, u32>,
    /// Group of each row, `NONE` when it has none.
    of_rows: Vec<u32>,
    /// First row of each group.
    first: Vec<usize>,
}

/// The matching rows of each group.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    of_rows: Vec<u32>,
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Matches {
    /// Returns the rows that match `row` of the level above.
    pub(crate) fn of(&self, row: usize) -> &[u32] {
        match self.of_rows.get(row) {
            Some(&group) if group != NONE && !self.starts.is_empty() => {
                let group = group as usize;
                &self.rows[self.starts[group] as usize..self.starts[group + 1] as usize]
            }
            _ => &[],
        }
    }
}

impl JoinKeys {
    /// Collects the keys in `columns`, converted for comparison with columns of the types `others`.
    pub(crate) fn of(columns: &[ArrayRef], others: &[DataType]) -> Result<Self> {
        let columns = key_columns(columns, others)?;
        let rows = columns.first().map_or(0, KeyColumn::len);
        let mut keys = Self { columns, groups: AHashMap::new(), of_rows: Vec::with_capacity(rows), first: Vec::new() };
        let mut key = Vec::new();
        for row in 0..rows {
            let group = if !encode(&keys.columns, row, &mut key) {
                NONE
            } else if let Some(group) = keys.groups.get(&key) {
                *group
            } else {
                let group = u32::try_from(keys.first.len()).unwrap_or(NONE);
                keys.groups.insert(key.clone(), group);
                keys.first.push(row);
                group
            };
            keys.of_rows.push(group);
        }
        Ok(keys)
    }

    /// Returns the number of distinct keys.
    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }

    /// Returns the values of column `column` in the groups `range`.
    pub(crate) fn values(&self, column: usize, range: std::ops::Range<usize>) -> Vec<Value> {
        let mut values: Vec<Value> = self.first[range].iter().map(|row| self.columns[column].value(*row)).collect();
        if self.columns.len() > 1 {
            // In a composite key, the values of a single column repeat.
            values.sort_by_cached_key(ToString::to_string);
            values.dedup();
        }
        values
    }

    /// Returns the rows of the other side that match each group, at most `limit` per group; `columns` are their key
    /// columns.
    pub(crate) fn match_rows(self, columns: &[ArrayRef], limit: usize) -> Result<Matches> {
        let types: Vec<DataType> = self.columns.iter().map(|column| column.data_type().clone()).collect();
        let others = key_columns(columns, &types)?;
        let rows = others.first().map_or(0, KeyColumn::len);
        let mut group_of = Vec::with_capacity(rows);
        let mut counts = vec![0_u32; self.first.len()];
        let mut key = Vec::new();
        for row in 0..rows {
            let group = if encode(&others, row, &mut key) { self.groups.get(&key).copied() } else { None };
            let group = group.filter(|group| (counts[*group as usize] as usize) < limit);
            if let Some(group) = group {
                counts[group as usize] += 1;
            }
            group_of.push(group.unwrap_or(NONE));
        }
        let mut starts = Vec::with_capacity(counts.len() + 1);
        let mut total = 0;
        for count in &counts {
            starts.push(total);
            total += count;
        }
        starts.push(total);
        let mut next = starts.clone();
        let mut placed = vec![0_u32; total as usize];
        for (row, group) in group_of.into_iter().enumerate() {
            if group != NONE {
                let at = &mut next[group as usize];
                placed[*at as usize] = u32::try_from(row).unwrap_or(NONE);
                *at += 1;
            }
        }
        Ok(Matches { of_rows: self.of_rows, starts, rows: placed })
    }
}

/// A key column, in the type that both sides are compared in.
#[derive(Debug)]
enum KeyColumn {
    Bool(BooleanArray),
    Int(Int64Array),
    Wide(Decimal128Array),
    Float(Float64Array),
    Text(StringArray),
    Bytes(BinaryArray),
}

fn key_columns(columns: &[ArrayRef], others: &[DataType]) -> Result<Vec<KeyColumn>> {
    columns.iter().zip(others).map(|(column, other)| KeyColumn::of(column, other)).collect()
}

/// Returns the type in which values of both types are compared.
fn common(one: &DataType, other: &DataType) -> DataType {
    let plain = |t: &DataType| match t {
        DataType::Dictionary(_, value) => (**value).clone(),
        DataType::RunEndEncoded(_, value) => value.data_type().clone(),
        t => t.clone(),
    };
    let (one, other) = (plain(one), plain(other));
    // The widest type maps to itself, so that matching the second side against the first stays in it.
    let wide = |t: &DataType| matches!(t, DataType::UInt64 | DataType::Decimal128(20, 0));
    let whole = |t: &DataType| t.is_integer() || wide(t);
    if whole(&one) && whole(&other) {
        return if wide(&one) || wide(&other) { DataType::Decimal128(20, 0) } else { DataType::Int64 };
    }
    if (one.is_floating() && (other.is_floating() || whole(&other))) || (other.is_floating() && whole(&one)) {
        return DataType::Float64;
    }
    let bytes = |t: &DataType| {
        matches!(t, DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_))
    };
    match (&one, &other) {
        (DataType::Boolean, DataType::Boolean) => DataType::Boolean,
        (one, other) if bytes(one) && bytes(other) => DataType::Binary,
        _ => DataType::Utf8,
    }
}

impl KeyColumn {
    fn of(column: &ArrayRef, other: &DataType) -> Result<Self> {
        let to = common(column.data_type(), other);
        let column = if *column.data_type() == to { Arc::clone(column) } else { cast(column, &to).map_err(refused)? };
        Ok(match to {
            DataType::Boolean => Self::Bool(column.as_boolean().clone()),
            DataType::Int64 => Self::Int(column.as_primitive::<Int64Type>().clone()),
            DataType::Decimal128(..) => Self::Wide(column.as_primitive::<Decimal128Type>().clone()),
            DataType::Float64 => Self::Float(column.as_primitive::<Float64Type>().clone()),
            DataType::Binary => Self::Bytes(column.as_binary::<i32>().clone()),
            _ => Self::Text(column.as_string::<i32>().clone()),
        })
    }

    fn array(&self) -> &dyn Array {
        match self {
            Self::Bool(a) => a,
            Self::Int(a) => a,
            Self::Wide(a) => a,
            Self::Float(a) => a,
            Self::Text(a) => a,
            Self::Bytes(a) => a,
        }
    }

    fn len(&self) -> usize {
        self.array().len()
    }

    fn data_type(&self) -> &DataType {
        self.array().data_type()
    }

    fn value(&self, row: usize) -> Value {
        match self {
            Self::Bool(a) => Value::Bool(a.value(row)),
            Self::Int(a) => Value::Int(a.value(row)),
            Self::Wide(a) => match (i64::try_from(a.value(row)), u64::try_from(a.value(row))) {
                (Ok(value), _) => Value::Int(value),
                (_, Ok(value)) => Value::UInt(value),
                _ => Value::Null,
            },
            Self::Float(a) => Value::Float(a.value(row)),
            Self::Text(a) => Value::Text(a.value(row).to_owned()),
            Self::Bytes(a) => Value::Text(a.value(row).iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }
}

/// Writes the key of `row` into `key`; returns false when a part of it is null.
fn encode(columns: &[KeyColumn], row: usize, key: &mut Vec<u8>) -> bool {
    key.clear();
    for column in columns {
        if column.array().is_null(row) {
            return false;
        }
        match column {
            KeyColumn::Bool(a) => key.push(u8::from(a.value(row))),
            KeyColumn::Int(a) => key.extend(a.value(row).to_le_bytes()),
            KeyColumn::Wide(a) => key.extend(a.value(row).to_le_bytes()),
            // Adding zero turns negative zero into positive zero.
            KeyColumn::Float(a) => key.extend((a.value(row) + 0.0).to_bits().to_le_bytes()),
            KeyColumn::Text(a) => sized(a.value(row).as_bytes(), key),
            KeyColumn::Bytes(a) => sized(a.value(row), key),
        }
    }
    true
}

fn sized(bytes: &[u8], key: &mut Vec<u8>) {
    key.extend(bytes.len().to_le_bytes());
    key.extend(bytes);
}

fn refused(error: arrow::error::ArrowError) -> Error {
    Error::internal("the columns of a relation can't be compared").with_source(error)
}
