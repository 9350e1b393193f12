//! Nested cells: lists, structs and maps. They are JSON in every dialect.

use arrow::array::{Array, AsArray, MapArray, OffsetSizeTrait, StructArray};
use arrow::datatypes::{DataType, FieldRef, Fields};
use salver_model::Result;

use super::{Column, Dialect};
use crate::in_place::Spare;
use crate::short_copy::WrittenToken;
use crate::style::Nulls;
use crate::{escape, slice_write};

/// Field names as they are written in objects, prepared once for a schema: `,"name":`, and the first with `{` for `,`.
#[derive(Clone, Debug)]
pub(crate) struct FieldKeys {
    tokens: Box<[WrittenToken]>,
    nulls: Nulls,
}

impl FieldKeys {
    pub(crate) fn new(fields: &Fields, nulls: Nulls) -> Self {
        let mut bytes = Vec::with_capacity(64);
        let token = |(i, field): (usize, &FieldRef)| {
            // If fields may be omitted, the first one depends on the row; see `object`.
            let first = i == 0 && nulls == Nulls::Write;
            bytes.clear();
            bytes.push(if first { b'{' } else { b',' });
            escape::json_string(field.name(), &mut bytes);
            bytes.push(b':');
            WrittenToken::new(&bytes)
        };
        Self { tokens: fields.iter().enumerate().map(token).collect(), nulls }
    }

    pub(crate) fn nulls(&self) -> Nulls {
        self.nulls
    }

    /// Returns the number of bytes that the keys add to every row.
    pub(crate) fn row_bytes(&self) -> usize {
        self.tokens.iter().map(WrittenToken::len).sum::<usize>() + 2
    }

    /// Writes one object.
    #[inline(always)]
    pub(crate) fn object(&self, columns: &[Column<'_>], row: usize, out: &mut Vec<u8>) {
        match self.nulls {
            Nulls::Write if columns.is_empty() => out.push(b'{'),
            Nulls::Write => {
                for (key, column) in self.tokens.iter().zip(columns) {
                    key.put(out);
                    column.json(row, out);
                }
            }
            Nulls::Omit => self.open_without_nulls(columns, row, out),
        }
        out.push(b'}');
    }

    /// Writes one object at an offset in a slice; see [`crate::place`].
    #[inline(always)]
    pub(crate) fn place_object(
        &self,
        columns: &[Column<'_>],
        row: usize,
        bytes: &mut [u8],
        start: usize,
        spare: &mut Spare,
    ) -> Option<usize> {
        let mut at = start;
        match self.nulls {
            Nulls::Write if columns.is_empty() => at = slice_write::byte(bytes, at, b'{')?,
            Nulls::Write => {
                for (key, column) in self.tokens.iter().zip(columns) {
                    at = key.place(bytes, at)?;
                    at = column.place_json(row, bytes, at, spare)?;
                }
            }
            Nulls::Omit => {
                for (key, column) in self.tokens.iter().zip(columns) {
                    if !column.is_null(row) {
                        at = key.place(bytes, at)?;
                        at = column.place_json(row, bytes, at, spare)?;
                    }
                }
                // The comma before the first written field becomes the brace.
                at = at.max(slice_write::byte(bytes, start, b'{')?);
            }
        }
        slice_write::byte(bytes, at, b'}')
    }

    fn open_without_nulls(&self, columns: &[Column<'_>], row: usize, out: &mut Vec<u8>) {
        let start = out.len();
        for (key, column) in self.tokens.iter().zip(columns) {
            if !column.is_null(row) {
                key.put(out);
                column.json(row, out);
            }
        }
        // The comma before the first written field becomes the brace.
        match out.get_mut(start) {
            Some(comma) => *comma = b'{',
            None => out.push(b'{'),
        }
    }
}

/// The ranges of lists in their values.
#[derive(Debug)]
enum Ranges<'a> {
    Offsets(&'a [i32]),
    LargeOffsets(&'a [i64]),
    Views(&'a [i32], &'a [i32]),
    LargeViews(&'a [i64], &'a [i64]),
    Fixed(usize),
}

impl Ranges<'_> {
    #[inline]
    fn get(&self, row: usize) -> (usize, usize) {
        fn range<O: OffsetSizeTrait>(start: O, end: O) -> (usize, usize) {
            (start.as_usize(), end.as_usize())
        }
        match self {
            Self::Offsets(offsets) => range(offsets[row], offsets[row + 1]),
            Self::LargeOffsets(offsets) => range(offsets[row], offsets[row + 1]),
            Self::Views(offsets, sizes) => range(offsets[row], offsets[row] + sizes[row]),
            Self::LargeViews(offsets, sizes) => range(offsets[row], offsets[row] + sizes[row]),
            Self::Fixed(len) => (row * len, (row + 1) * len),
        }
    }

    /// Returns the total number of values in the lists, if their ends determine it.
    fn values(&self, lists: usize) -> usize {
        match self {
            Self::Offsets(_) | Self::LargeOffsets(_) if lists > 0 => self.get(lists - 1).1 - self.get(0).0,
            Self::Fixed(len) => lists * len,
            _ => 0,
        }
    }
}

#[derive(Debug)]
pub(crate) struct List<'a> {
    ranges: Ranges<'a>,
    values: Column<'a>,
}

impl<'a> List<'a> {
    pub(super) fn resolve(array: &'a dyn Array, dialect: Dialect) -> Result<Self> {
        let (ranges, values) = match array.data_type() {
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                (Ranges::Offsets(list.value_offsets()), list.values())
            }
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                (Ranges::LargeOffsets(list.value_offsets()), list.values())
            }
            DataType::ListView(_) => {
                let list = array.as_list_view::<i32>();
                (Ranges::Views(list.value_offsets(), list.value_sizes()), list.values())
            }
            DataType::LargeListView(_) => {
                let list = array.as_list_view::<i64>();
                (Ranges::LargeViews(list.value_offsets(), list.value_sizes()), list.values())
            }
            _ => {
                let list = array.as_fixed_size_list();
                (Ranges::Fixed(usize::try_from(list.value_length()).unwrap_or(0)), list.values())
            }
        };
        let rows = ranges.values(array.len());
        Ok(Self { ranges, values: Column::resolve(values.as_ref(), Dialect::Json(dialect.nulls()), rows)? })
    }

    pub(super) fn json(&self, row: usize, out: &mut Vec<u8>) {
        let (start, end) = self.ranges.get(row);
        out.push(b'[');
        for i in start..end {
            if i > start {
                out.push(b',');
            }
            self.values.json(i, out);
        }
        out.push(b']');
    }
}

#[derive(Debug)]
pub(crate) struct Struct<'a> {
    keys: FieldKeys,
    columns: Vec<Column<'a>>,
}

impl<'a> Struct<'a> {
    pub(super) fn resolve(array: &'a StructArray, dialect: Dialect, rows: usize) -> Result<Self> {
        let dialect = Dialect::Json(dialect.nulls());
        let columns = array.columns().iter().map(|column| Column::resolve(column.as_ref(), dialect, rows));
        Ok(Self { keys: FieldKeys::new(array.fields(), dialect.nulls()), columns: columns.collect::<Result<_>>()? })
    }

    pub(super) fn json(&self, row: usize, out: &mut Vec<u8>) {
        self.keys.object(&self.columns, row, out);
    }
}

#[derive(Debug)]
pub(crate) struct Map<'a> {
    offsets: &'a [i32],
    keys: Column<'a>,
    values: Column<'a>,
    nulls: Nulls,
}

impl<'a> Map<'a> {
    pub(super) fn resolve(array: &'a MapArray, dialect: Dialect) -> Result<Self> {
        let dialect = Dialect::Json(dialect.nulls());
        let offsets = array.value_offsets();
        let rows = Ranges::Offsets(offsets).values(array.len());
        Ok(Self {
            offsets,
            keys: Column::resolve(array.keys().as_ref(), dialect, rows)?,
            values: Column::resolve(array.values().as_ref(), dialect, rows)?,
            nulls: dialect.nulls(),
        })
    }

    /// Writes an object; keys that are not text are written as their text.
    pub(super) fn json(&self, row: usize, out: &mut Vec<u8>) {
        let (start, end) = Ranges::Offsets(self.offsets).get(row);
        out.push(b'{');
        let mut any = false;
        for i in start..end {
            if self.nulls == Nulls::Omit && self.values.is_null(i) {
                continue;
            }
            if any {
                out.push(b',');
            }
            any = true;
            self.key(i, out);
            out.push(b':');
            self.values.json(i, out);
        }
        out.push(b'}');
    }
    fn key(&self, i: usize, out: &mut Vec<u8>) {
        let mut text = Vec::new();
        if self.keys.is_null(i) {
            text.extend_from_slice(b"null");
        } else {
            self.keys.plain(i, &mut text);
        }
        out.push(b'"');
        escape::json_text(&text, out);
        out.push(b'"');
    }
}
