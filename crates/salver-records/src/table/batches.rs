//! Builds record batches from rows of cells.

use std::sync::Arc;

use arrow::array::{
    ArrayBuilder, ArrayRef, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Decimal256Builder,
    Float32Builder, Float64Builder, Int32Builder, Int64Builder, StringBuilder, TimestampMicrosecondBuilder,
    UInt64Builder,
};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use salver_model::limits::READ_BYTES_MAX;
use salver_model::{Code, Error, Result, memory};

use super::decimal;
use super::select::Selected;
use crate::buffered_rows::Gathered;
use crate::calendar;
use crate::cell::{Cell, RowSink};

/// Rows per streamed batch.
pub(super) const BATCH_ROWS: usize = 4_096;
/// Bytes of variable-length values per streamed batch.
const BATCH_BYTES: usize = 1024 * 1024;

/// Builds batches. Rows of read 0 are rows of the result; the one row of read 1 is their number.
pub(super) struct BatchSink {
    schema: SchemaRef,
    columns: Vec<ColumnBuilder>,
    rows: usize,
    /// Bytes of text and other variable-length values.
    bytes: usize,
    gathered: Gathered,
    batch_rows: usize,
    total: Option<u64>,
    counts: usize,
}

impl BatchSink {
    /// Creates a sink that gives batches of so many rows; `usize::MAX` keeps all rows to the end.
    pub(super) fn new(selected: &Selected, batch_rows: usize) -> Self {
        Self::of(Arc::clone(&selected.fetched), batch_rows, 1)
    }

    /// Creates the sink of a read that only counts.
    pub(super) fn counting() -> Self {
        Self::of(Arc::new(arrow::datatypes::Schema::empty()), usize::MAX, 0)
    }

    fn of(schema: SchemaRef, batch_rows: usize, counts: usize) -> Self {
        let columns = schema.fields().iter().map(|field| ColumnBuilder::new(field.data_type())).collect();
        let gathered = Gathered::within(READ_BYTES_MAX);
        Self { schema, columns, rows: 0, bytes: 0, gathered, batch_rows, total: None, counts }
    }

    pub(super) fn total(&self) -> Option<u64> {
        self.total
    }

    /// Returns the rows that were not taken as pieces.
    pub(super) fn finish(mut self) -> Result<RecordBatch> {
        self.batch()
    }

    fn batch(&mut self) -> Result<RecordBatch> {
        let arrays: Vec<ArrayRef> = self.columns.iter_mut().map(ColumnBuilder::finish).collect();
        self.bytes = 0;
        let options = RecordBatchOptions::new().with_row_count(Some(std::mem::take(&mut self.rows)));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
            .map_err(|error| Error::internal("rows of a database don't fit their schema").with_source(error))
    }
}

impl RowSink for BatchSink {
    type Piece = RecordBatch;

    fn row(&mut self, read: usize, cells: &[Cell<'_>]) -> Result<()> {
        if read == self.counts {
            self.total = match cells.first() {
                Some(Cell::Int(count)) => u64::try_from(*count).ok(),
                Some(Cell::UInt(count)) => Some(*count),
                _ => None,
            };
            return Ok(());
        }
        let before = self.bytes;
        for (index, (column, cell)) in self.columns.iter_mut().zip(cells).enumerate() {
            self.bytes += cell.varying_bytes();
            if !column.push(*cell) {
                return Err(unfit(self.schema.field(index), *cell));
            }
        }
        self.rows += 1;
        memory::room_for(self.bytes - before)?;
        if self.batch_rows == usize::MAX {
            self.gathered.add(self.bytes - before).map_err(|error| error.with_hint("ask for fewer with `limit`"))?;
        }
        Ok(())
    }

    fn piece(&mut self) -> Option<RecordBatch> {
        let is_due = self.rows >= self.batch_rows || self.batch_rows < usize::MAX && self.bytes >= BATCH_BYTES;
        if is_due { self.batch().ok() } else { None }
    }
}

pub(super) fn unfit(field: &arrow::datatypes::Field, cell: Cell<'_>) -> Error {
    let shown: String = format!("{cell:?}").chars().take(80).collect();
    Error::new(Code::Execution, format!("`{}` has a value that is no {}: {shown}", field.name(), field.data_type()))
        .with_hint("mend the row, or read the table through /api/records, which takes values as they are")
}

/// One column under construction.
pub(super) enum ColumnBuilder {
    Boolean(BooleanBuilder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    UInt64(UInt64Builder),
    Float32(Float32Builder),
    Float64(Float64Builder),
    Decimal(Decimal128Builder, u8, i8),
    WideDecimal(Decimal256Builder, u8, i8),
    Date(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder),
    Text(StringBuilder),
    Binary(BinaryBuilder),
}

macro_rules! each {
    ($self:expr, $builder:ident => $call:expr) => {
        match $self {
            ColumnBuilder::Boolean($builder) => $call,
            ColumnBuilder::Int32($builder) => $call,
            ColumnBuilder::Int64($builder) => $call,
            ColumnBuilder::UInt64($builder) => $call,
            ColumnBuilder::Float32($builder) => $call,
            ColumnBuilder::Float64($builder) => $call,
            ColumnBuilder::Decimal($builder, _, _) => $call,
            ColumnBuilder::WideDecimal($builder, _, _) => $call,
            ColumnBuilder::Date($builder) => $call,
            ColumnBuilder::Timestamp($builder) => $call,
            ColumnBuilder::Text($builder) => $call,
            ColumnBuilder::Binary($builder) => $call,
        }
    };
}

impl ColumnBuilder {
    pub(super) fn new(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Boolean(BooleanBuilder::new()),
            DataType::Int32 => Self::Int32(Int32Builder::new()),
            DataType::Int64 => Self::Int64(Int64Builder::new()),
            DataType::UInt64 => Self::UInt64(UInt64Builder::new()),
            DataType::Float32 => Self::Float32(Float32Builder::new()),
            DataType::Float64 => Self::Float64(Float64Builder::new()),
            DataType::Decimal128(precision, scale) => {
                Self::Decimal(Decimal128Builder::new().with_data_type(data_type.clone()), *precision, *scale)
            }
            DataType::Decimal256(precision, scale) => {
                Self::WideDecimal(Decimal256Builder::new().with_data_type(data_type.clone()), *precision, *scale)
            }
            DataType::Date32 => Self::Date(Date32Builder::new()),
            DataType::Timestamp(..) => {
                Self::Timestamp(TimestampMicrosecondBuilder::new().with_data_type(data_type.clone()))
            }
            DataType::Binary => Self::Binary(BinaryBuilder::new()),
            _ => Self::Text(StringBuilder::new()),
        }
    }

    pub(super) fn finish(&mut self) -> ArrayRef {
        each!(self, builder => ArrayBuilder::finish(builder))
    }

    /// Appends a value; returns `false` when it is not a value of this column.
    #[inline]
    pub(super) fn push(&mut self, cell: Cell<'_>) -> bool {
        match (&mut *self, cell) {
            // Most values are of their column's own type.
            (Self::Int64(builder), Cell::Int(value)) => builder.append_value(value),
            (Self::Text(builder), Cell::Text(text)) => builder.append_value(text),
            (Self::Float64(builder), Cell::Float(value)) => builder.append_value(value),
            (_, Cell::Null) => each!(self, builder => builder.append_null()),
            (_, cell) => return self.push_converted(cell),
        }
        true
    }

    /// Appends a value of another type, as far as it can be a value of this column.
    fn push_converted(&mut self, cell: Cell<'_>) -> bool {
        let appended = match self {
            Self::Boolean(builder) => boolean(cell).map(|value| builder.append_value(value)),
            Self::Int32(builder) => integer(cell).map(|value| builder.append_value(value)),
            Self::Int64(builder) => integer(cell).map(|value| builder.append_value(value)),
            Self::UInt64(builder) => integer(cell).map(|value| builder.append_value(value)),
            Self::Float32(builder) => float(cell).map(|value| builder.append_value(value as f32)),
            Self::Float64(builder) => float(cell).map(|value| builder.append_value(value)),
            Self::Decimal(builder, precision, scale) => written(cell)
                .and_then(|text| decimal::narrow(&text, *precision, *scale))
                .map(|value| builder.append_value(value)),
            Self::WideDecimal(builder, precision, scale) => written(cell)
                .and_then(|text| decimal::wide(&text, *precision, *scale))
                .map(|value| builder.append_value(value)),
            Self::Date(builder) => {
                written(cell).and_then(|text| calendar::day(&text)).map(|day| builder.append_value(day))
            }
            Self::Timestamp(builder) => written(cell)
                .and_then(|text| calendar::moment(&text))
                .filter(|moment| !moment.beyond)
                .map(|moment| builder.append_value(moment.micros)),
            Self::Text(builder) => written(cell).map(|text| builder.append_value(text)),
            Self::Binary(builder) => match cell {
                Cell::Bytes(bytes) => {
                    builder.append_value(bytes);
                    Some(())
                }
                other => written(other).map(|text| builder.append_value(text.as_bytes())),
            },
        };
        appended.is_some()
    }
}

fn boolean(cell: Cell<'_>) -> Option<bool> {
    match cell {
        Cell::Bool(value) => Some(value),
        Cell::Int(value) => Some(value != 0),
        Cell::UInt(value) => Some(value != 0),
        _ => None,
    }
}

fn integer<T: TryFrom<i64> + TryFrom<u64> + std::str::FromStr>(cell: Cell<'_>) -> Option<T> {
    match cell {
        Cell::Int(value) => value.try_into().ok(),
        Cell::UInt(value) => value.try_into().ok(),
        Cell::Bool(value) => i64::from(value).try_into().ok(),
        Cell::Text(text) => text.parse().ok(),
        Cell::Float(value) if value.fract() == 0.0 && value.abs() < 9e15 => (value as i64).try_into().ok(),
        _ => None,
    }
}

fn float(cell: Cell<'_>) -> Option<f64> {
    match cell {
        Cell::Float(value) => Some(value),
        Cell::Single(value) => Some(f64::from(value)),
        // SQLite may store an integer where a decimal is declared; one that a float can't represent is rejected, not
        // rounded.
        Cell::Int(value) => Some(value as f64).filter(|float| *float as i128 == i128::from(value)),
        Cell::UInt(value) => Some(value as f64).filter(|float| *float as u128 == u128::from(value)),
        Cell::Text(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Returns the value as text; `None` for bytes that are not UTF-8.
fn written(cell: Cell<'_>) -> Option<std::borrow::Cow<'_, str>> {
    Some(match cell {
        Cell::Text(text) => text.into(),
        Cell::Bytes(bytes) => std::str::from_utf8(bytes).ok()?.into(),
        Cell::Int(value) => value.to_string().into(),
        Cell::UInt(value) => value.to_string().into(),
        Cell::Bool(value) => value.to_string().into(),
        Cell::Float(value) => value.to_string().into(),
        Cell::Single(value) => value.to_string().into(),
        Cell::Null => return None,
    })
}
