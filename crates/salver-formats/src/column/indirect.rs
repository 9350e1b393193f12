//! Dictionaries, runs and unions: columns whose cells refer to other columns.

use arrow::array::types::RunEndIndexType;
use arrow::array::{AnyDictionaryArray, Array, AsArray, RunArray, UnionArray};
use arrow::datatypes::*;
use salver_model::{Error, Result};

use super::{Column, Dialect};

/// Values shared by many rows. If there are at most as many values as rows, each is written once in advance, and
/// writing a row copies it.
#[derive(Debug)]
pub(crate) struct Dictionary<'a> {
    keys: Keys<'a>,
    values: Column<'a>,
    written: Option<CellTexts>,
}

#[derive(Debug)]
enum Keys<'a> {
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    UInt8(&'a [u8]),
    UInt16(&'a [u16]),
    UInt32(&'a [u32]),
    UInt64(&'a [u64]),
}

/// Concatenated cells, in the dialect of their column.
#[derive(Debug)]
struct CellTexts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl<'a> Dictionary<'a> {
    pub(super) fn resolve(array: &'a dyn AnyDictionaryArray, dialect: Dialect, rows: usize) -> Result<Self> {
        let cells = array.values().len();
        let values = Column::resolve(array.values().as_ref(), dialect, cells)?;
        let written = (cells <= rows).then(|| {
            let mut written = CellTexts { bytes: Vec::new(), ends: Vec::with_capacity(cells + 1) };
            written.ends.push(0);
            for cell in 0..cells {
                values.write(cell, dialect, &mut written.bytes);
                written.ends.push(written.bytes.len());
            }
            written
        });
        Ok(Self { keys: Keys::resolve(array.keys())?, values, written })
    }

    /// Returns the column of the values, and the index of the row's value in it.
    #[inline]
    pub(super) fn target(&self, row: usize) -> (&Column<'a>, usize) {
        (&self.values, self.keys.get(row))
    }

    /// Returns the row's cell in the dialect that the column was resolved for, if it was written in advance.
    #[inline]
    pub(super) fn written(&self, row: usize) -> Option<&[u8]> {
        let written = self.written.as_ref()?;
        let cell = self.keys.get(row);
        Some(&written.bytes[written.ends[cell]..written.ends[cell + 1]])
    }
}

impl<'a> Keys<'a> {
    fn resolve(keys: &'a dyn Array) -> Result<Self> {
        Ok(match keys.data_type() {
            DataType::Int8 => Self::Int8(keys.as_primitive::<Int8Type>().values()),
            DataType::Int16 => Self::Int16(keys.as_primitive::<Int16Type>().values()),
            DataType::Int32 => Self::Int32(keys.as_primitive::<Int32Type>().values()),
            DataType::Int64 => Self::Int64(keys.as_primitive::<Int64Type>().values()),
            DataType::UInt8 => Self::UInt8(keys.as_primitive::<UInt8Type>().values()),
            DataType::UInt16 => Self::UInt16(keys.as_primitive::<UInt16Type>().values()),
            DataType::UInt32 => Self::UInt32(keys.as_primitive::<UInt32Type>().values()),
            DataType::UInt64 => Self::UInt64(keys.as_primitive::<UInt64Type>().values()),
            other => return Err(Error::internal(format!("a dictionary can't have keys of type {other}"))),
        })
    }

    #[inline]
    fn get(&self, row: usize) -> usize {
        match self {
            Self::Int8(keys) => keys[row] as usize,
            Self::Int16(keys) => keys[row] as usize,
            Self::Int32(keys) => keys[row] as usize,
            Self::Int64(keys) => keys[row] as usize,
            Self::UInt8(keys) => usize::from(keys[row]),
            Self::UInt16(keys) => usize::from(keys[row]),
            Self::UInt32(keys) => keys[row] as usize,
            Self::UInt64(keys) => keys[row] as usize,
        }
    }
}

/// Values that each stand for a run of rows.
#[derive(Debug)]
pub(crate) struct Runs<'a> {
    /// The value of each row, found for all rows in one pass; looking up a single row takes a search.
    at: Vec<usize>,
    values: Column<'a>,
}

impl<'a> Runs<'a> {
    pub(super) fn resolve(array: &'a dyn Array, dialect: Dialect, rows: usize) -> Result<Self> {
        match array.data_type() {
            DataType::RunEndEncoded(ends, _) if ends.data_type() == &DataType::Int16 => {
                Self::walk(array.as_run::<Int16Type>(), dialect, rows)
            }
            DataType::RunEndEncoded(ends, _) if ends.data_type() == &DataType::Int32 => {
                Self::walk(array.as_run::<Int32Type>(), dialect, rows)
            }
            _ => Self::walk(array.as_run::<Int64Type>(), dialect, rows),
        }
    }

    fn walk<E: RunEndIndexType>(array: &'a RunArray<E>, dialect: Dialect, rows: usize) -> Result<Self> {
        let (ends, offset) = (array.run_ends(), array.run_ends().offset());
        let mut at = Vec::with_capacity(array.len());
        let mut run = if array.is_empty() { 0 } else { array.get_start_physical_index() };
        for row in offset..offset + array.len() {
            while ends.values()[run].to_usize().is_some_and(|end| end <= row) {
                run += 1;
            }
            at.push(run);
        }
        Ok(Self { at, values: Column::resolve(array.values().as_ref(), dialect, rows)? })
    }

    /// Returns the column of the values, and the index of the row's value in it.
    #[inline]
    pub(super) fn target(&self, row: usize) -> (&Column<'a>, usize) {
        (&self.values, self.at[row])
    }
}

/// One of several columns, row by row.
#[derive(Debug)]
pub(crate) struct Union<'a> {
    type_ids: &'a [i8],
    /// `None` for a sparse union, in which every column has every row.
    offsets: Option<&'a [i32]>,
    /// By type id.
    columns: Vec<Option<Column<'a>>>,
    /// Column for invalid type ids, which a valid array does not have.
    nothing: Column<'static>,
}

impl<'a> Union<'a> {
    pub(super) fn resolve(array: &'a UnionArray, dialect: Dialect, rows: usize) -> Result<Self> {
        let mut columns = Vec::new();
        for (id, _) in array.fields().iter() {
            let at = usize::try_from(id).unwrap_or(0);
            if columns.len() <= at {
                columns.resize_with(at + 1, || None);
            }
            columns[at] = Some(Column::resolve(array.child(id).as_ref(), dialect, rows)?);
        }
        let offsets = array.offsets().map(|offsets| &**offsets);
        Ok(Self { type_ids: array.type_ids(), offsets, columns, nothing: Column::nothing() })
    }

    /// Returns the column of the row's type, and the index of the row's value in it.
    #[inline]
    pub(super) fn target(&self, row: usize) -> (&Column<'a>, usize) {
        let column = usize::try_from(self.type_ids[row]).ok().and_then(|id| self.columns.get(id)?.as_ref());
        (column.unwrap_or(&self.nothing), self.offsets.map_or(row, |offsets| offsets[row] as usize))
    }
}
