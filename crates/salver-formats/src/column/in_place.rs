//! Writes one cell at an offset in a slice; see [`crate::place`].

use arrow::array::OffsetSizeTrait;
use arrow::datatypes::TimeUnit;

use super::{Cells, Column};
use crate::calendar::Zone;
use crate::in_place::text::{self, Text};
use crate::in_place::{Spare, calendar, number};
use crate::slice_write::{block, byte, run};

impl Column<'_> {
    /// Writes a JSON value, as [`Column::json`] does.
    #[inline(always)]
    pub(crate) fn place_json(&self, row: usize, bytes: &mut [u8], at: usize, spare: &mut Spare) -> Option<usize> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return block(bytes, at, b"null", 4);
        }
        match &self.cells {
            Cells::Float64(values) if !values[row].is_finite() => block(bytes, at, b"null", 4),
            Cells::Text(array) => json_string(bytes, at, slice(array.value_data(), array.value_offsets(), row)),
            Cells::LargeText(array) => json_string(bytes, at, slice(array.value_data(), array.value_offsets(), row)),
            Cells::TextView(array) => {
                let buffer = array.value(row).as_bytes();
                json_string(bytes, at, Text { buffer, start: 0, len: buffer.len() })
            }
            Cells::Date32(_) | Cells::Timestamp(_, _, Zone::None | Zone::Fixed(0)) => {
                let at = byte(bytes, at, b'"')?;
                let at = self.place_bare(row, bytes, at, spare)?;
                byte(bytes, at, b'"')
            }
            cells if cells.is_bare() => self.place_bare(row, bytes, at, spare),
            _ => {
                spare.text.clear();
                self.json(row, &mut spare.text);
                run(bytes, at, &spare.text)
            }
        }
    }

    /// Writes a field of delimited text, as [`Column::delimited`] does.
    #[inline(always)]
    pub(crate) fn place_delimited(
        &self,
        row: usize,
        delimiter: u8,
        bytes: &mut [u8],
        at: usize,
        spare: &mut Spare,
    ) -> Option<usize> {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return Some(at);
        }
        match &self.cells {
            Cells::Text(array) => {
                text::delimited(bytes, at, slice(array.value_data(), array.value_offsets(), row), delimiter)
            }
            Cells::LargeText(array) => {
                text::delimited(bytes, at, slice(array.value_data(), array.value_offsets(), row), delimiter)
            }
            Cells::TextView(array) => {
                let buffer = array.value(row).as_bytes();
                text::delimited(bytes, at, Text { buffer, start: 0, len: buffer.len() }, delimiter)
            }
            Cells::Date32(_) | Cells::Timestamp(_, _, Zone::None | Zone::Fixed(0)) => {
                self.place_bare(row, bytes, at, spare)
            }
            cells if cells.is_bare() => self.place_bare(row, bytes, at, spare),
            _ => {
                spare.text.clear();
                self.delimited(row, delimiter, &mut spare.text);
                run(bytes, at, &spare.text)
            }
        }
    }

    /// Writes a cell of one of the types with a fast path here, without quotes.
    #[inline(always)]
    fn place_bare(&self, row: usize, bytes: &mut [u8], at: usize, spare: &mut Spare) -> Option<usize> {
        match &self.cells {
            Cells::Bool(values) => {
                // A table avoids a branch that is mispredicted half of the time.
                const WORDS: [&[u8; 8]; 2] = [b"false   ", b"true    "];
                let is_true = usize::from(values.value(row));
                block(bytes, at, WORDS[is_true], 5 - is_true)
            }
            Cells::Int8(values) => number::signed(bytes, at, values[row].into()),
            Cells::Int16(values) => number::signed(bytes, at, values[row].into()),
            Cells::Int32(values) => number::signed(bytes, at, values[row].into()),
            Cells::Int64(values) => number::signed(bytes, at, values[row]),
            Cells::UInt8(values) => number::unsigned(bytes, at, values[row].into()),
            Cells::UInt16(values) => number::unsigned(bytes, at, values[row].into()),
            Cells::UInt32(values) => number::unsigned(bytes, at, values[row].into()),
            Cells::UInt64(values) => number::unsigned(bytes, at, values[row]),
            Cells::Float64(values) => number::float(bytes, at, values[row]),
            Cells::Date32(values) => calendar::date(bytes, at, values[row], &mut spare.day),
            Cells::Timestamp(values, unit, zone) => match unit {
                TimeUnit::Second => calendar::timestamp::<1>(bytes, at, values[row], *zone, &mut spare.day),
                TimeUnit::Millisecond => calendar::timestamp::<1_000>(bytes, at, values[row], *zone, &mut spare.day),
                TimeUnit::Microsecond => {
                    calendar::timestamp::<1_000_000>(bytes, at, values[row], *zone, &mut spare.day)
                }
                TimeUnit::Nanosecond => {
                    calendar::timestamp::<1_000_000_000>(bytes, at, values[row], *zone, &mut spare.day)
                }
            },
            _ => None,
        }
    }
}

impl Cells<'_> {
    /// Returns whether the cells are unquoted in JSON and have a fast path here.
    #[inline(always)]
    fn is_bare(&self) -> bool {
        matches!(
            self,
            Self::Bool(_)
                | Self::Int8(_)
                | Self::Int16(_)
                | Self::Int32(_)
                | Self::Int64(_)
                | Self::UInt8(_)
                | Self::UInt16(_)
                | Self::UInt32(_)
                | Self::UInt64(_)
                | Self::Float64(_)
        )
    }
}

#[inline(always)]
fn json_string(bytes: &mut [u8], at: usize, text: Text<'_>) -> Option<usize> {
    let at = byte(bytes, at, b'"')?;
    let at = text::json(bytes, at, text)?;
    byte(bytes, at, b'"')
}

#[inline(always)]
fn slice<'a, O: OffsetSizeTrait>(buffer: &'a [u8], offsets: &[O], row: usize) -> Text<'a> {
    let start = offsets[row].as_usize();
    Text { buffer, start, len: offsets[row + 1].as_usize() - start }
}
