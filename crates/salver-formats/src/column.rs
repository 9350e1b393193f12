//! One column of one batch, downcast once, so that writing a cell takes one jump and no virtual call.

mod cell;
mod in_place;
mod indirect;
mod nested;
mod resolve;
mod sheet_cell;

use arrow::array::{ArrowPrimitiveType, BinaryViewArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray};
use arrow::array::{BinaryArray, OffsetSizeTrait, StringArray, StringViewArray};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{Float16Type, IntervalDayTime, IntervalMonthDayNano, TimeUnit, i256};

use crate::calendar::Zone;
use crate::style::Nulls;
pub(crate) use nested::FieldKeys;
pub(crate) use sheet_cell::{Look, SheetCell};

/// The text format that cells are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// JSON values; nulls in the objects of nested values are written or omitted.
    Json(Nulls),
    /// Fields of delimited text.
    Delimited(u8),
    /// The content of HTML elements.
    Html,
}

impl Dialect {
    /// Returns how nulls are written in objects inside a cell.
    pub(crate) fn nulls(self) -> Nulls {
        match self {
            Self::Json(nulls) => nulls,
            Self::Delimited(_) | Self::Html => Nulls::Write,
        }
    }
}

/// A resolved column.
#[derive(Debug)]
pub(crate) struct Column<'a> {
    /// Whether no cell is null, so that none needs to be checked.
    full: bool,
    nulls: Option<&'a NullBuffer>,
    cells: Cells<'a>,
}

/// The values, by layout and notation. Those of null cells are never accessed.
#[derive(Debug)]
enum Cells<'a> {
    Null,
    Bool(&'a BooleanBuffer),
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    UInt8(&'a [u8]),
    UInt16(&'a [u16]),
    UInt32(&'a [u32]),
    UInt64(&'a [u64]),
    Float16(&'a [<Float16Type as ArrowPrimitiveType>::Native]),
    Float32(&'a [f32]),
    Float64(&'a [f64]),
    Decimal32(&'a [i32], i8),
    Decimal64(&'a [i64], i8),
    Decimal128(&'a [i128], i8),
    Decimal256(&'a [i256], i8),
    /// Decimals without a declared scale.
    FreeDecimal(&'a [i256], i8),
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
    Binary(&'a BinaryArray),
    LargeBinary(&'a LargeBinaryArray),
    BinaryView(&'a BinaryViewArray),
    FixedBinary(&'a FixedSizeBinaryArray),
    Date32(&'a [i32]),
    Date64(&'a [i64]),
    Time32(&'a [i32], TimeUnit),
    Time64(&'a [i64], TimeUnit),
    Timestamp(&'a [i64], TimeUnit, Zone),
    Duration(&'a [i64], TimeUnit),
    YearMonth(&'a [i32]),
    DayTime(&'a [IntervalDayTime]),
    MonthDayNano(&'a [IntervalMonthDayNano]),
    List(Box<nested::List<'a>>),
    Struct(Box<nested::Struct<'a>>),
    Map(Box<nested::Map<'a>>),
    Dictionary(Box<indirect::Dictionary<'a>>),
    Runs(Box<indirect::Runs<'a>>),
    Union(Box<indirect::Union<'a>>),
}

/// Kind of a cell's text, which determines its quoting and escaping in a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Digits and the like, unquoted in JSON.
    Bare,
    /// The same, but quoted in JSON.
    Plain,
    /// Any text.
    Text,
    /// A JSON array or object.
    Nested,
}

impl Column<'_> {
    /// Returns a column in which every cell is null.
    fn nothing() -> Self {
        Self { full: false, nulls: None, cells: Cells::Null }
    }

    /// Returns whether the cell is null, directly or through a dictionary, a run or a union.
    #[inline(always)]
    pub(crate) fn is_null(&self, row: usize) -> bool {
        !self.full && self.is_null_by_parts(row)
    }

    #[inline]
    fn is_null_by_parts(&self, row: usize) -> bool {
        if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
            return true;
        }
        match &self.cells {
            Cells::Null => true,
            _ => self.target(row).is_some_and(|(column, at)| column.is_null(at)),
        }
    }

    /// Returns whether the cells are numbers, which are right-aligned.
    pub(crate) fn is_numeric(&self) -> bool {
        matches!(
            self.cells,
            Cells::Int8(_)
                | Cells::Int16(_)
                | Cells::Int32(_)
                | Cells::Int64(_)
                | Cells::UInt8(_)
                | Cells::UInt16(_)
                | Cells::UInt32(_)
                | Cells::UInt64(_)
                | Cells::Float16(_)
                | Cells::Float32(_)
                | Cells::Float64(_)
                | Cells::Decimal32(..)
                | Cells::Decimal64(..)
                | Cells::Decimal128(..)
                | Cells::Decimal256(..)
                | Cells::FreeDecimal(..)
        )
    }

    /// Estimates the size of all cells in bytes, to reserve memory.
    pub(crate) fn bytes(&self, rows: usize) -> usize {
        let text = |bytes: usize| bytes + bytes / 16 + 4 * rows;
        match &self.cells {
            Cells::Null | Cells::Bool(_) | Cells::Int8(_) | Cells::UInt8(_) => 5 * rows,
            Cells::Text(array) => text(span(array.value_offsets())),
            Cells::LargeText(array) => text(span(array.value_offsets())),
            Cells::TextView(array) => text(array.lengths().map(|length| length as usize).sum()),
            Cells::Timestamp(..) | Cells::Date64(_) => 26 * rows,
            _ => 16 * rows,
        }
    }
}

/// Returns the number of bytes between the first offset and the last.
fn span<O: OffsetSizeTrait>(offsets: &[O]) -> usize {
    offsets.first().zip(offsets.last()).map_or(0, |(first, last)| last.as_usize() - first.as_usize())
}
