//! Writes rows as the messages that clients get: each value in the format that its client asked for, straight from the
//! columns of a batch into the bytes that are sent.

mod array;
mod cells;
mod datetime;
mod interval;
mod number;

use arrow::array::{Array, ArrayRef};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field};
use arrow::record_batch::RecordBatch;
use salver_model::{Code, Error, Result};

use self::cells::Cells;
use super::column::Column;
use super::copy::CopyWriter;
use super::message::{Format, Formats};
use super::outbox::{COPIED, Outbox, ROW};
use salver_model::pg_type::{PgType, Scalar};

/// The columns of one batch, ready to be written.
pub(super) struct EncodedBatch {
    arrays: Vec<ArrayRef>,
    types: Vec<PgType>,
    rows: usize,
}

impl EncodedBatch {
    /// Prepares a batch whose rows have these columns. A column of another type than was said is converted.
    ///
    /// # Errors
    /// `Execution` for a value that has no place in the type that was said.
    pub(super) fn new(batch: &RecordBatch, columns: &[Column]) -> Result<Self> {
        if batch.num_columns() != columns.len() {
            return Err(Error::internal("the rows have other columns than were said"));
        }
        let arrays = batch.columns().iter().zip(columns).map(|(array, column)| as_said(array, column));
        Ok(Self {
            arrays: arrays.collect::<Result<_>>()?,
            types: columns.iter().map(|column| column.pg_type).collect(),
            rows: batch.num_rows(),
        })
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Writes rows from `first` on, at most `most`, until `out` should be sent; returns how many.
    ///
    /// # Errors
    /// `Execution` for a value that PostgreSQL's types don't have.
    pub(super) fn write(&self, first: usize, most: usize, formats: &Formats, out: &mut Outbox) -> Result<usize> {
        let columns = self.cells()?;
        let columns: Vec<_> = columns.iter().enumerate().map(|(at, cells)| (cells, formats.at(at))).collect();
        let count = u16::try_from(columns.len()).unwrap_or(u16::MAX);
        self.write_each(first, most, (ROW, out), |row, bytes| {
            bytes.extend(count.to_be_bytes());
            columns.iter().try_for_each(|(cells, format)| cells.value(row, *format, bytes))
        })
    }

    /// Writes rows from `first` on as those of a copy, until `out` should be sent; returns how many.
    ///
    /// # Errors
    /// `Execution` for a value that PostgreSQL's types don't have.
    pub(super) fn write_copied(&self, first: usize, writer: &mut CopyWriter, out: &mut Outbox) -> Result<usize> {
        let columns = self.cells()?;
        self.write_each(first, usize::MAX, (COPIED, out), |row, bytes| {
            writer.begin_row(bytes);
            for (at, cells) in columns.iter().enumerate() {
                match writer.format() {
                    Format::Binary => cells.value(row, Format::Binary, bytes)?,
                    Format::Text if cells.is_null(row) => writer.null(at, bytes),
                    Format::Text => {
                        writer.begin_value(at, bytes);
                        let begin = bytes.len();
                        cells.text(row, bytes)?;
                        writer.end_value(at, begin, bytes);
                    }
                }
            }
            writer.end_row(bytes);
            Ok(())
        })
    }

    fn cells(&self) -> Result<Vec<Cells<'_>>> {
        self.arrays.iter().zip(&self.types).map(|(array, pg_type)| Cells::of(array, *pg_type)).collect()
    }

    /// Writes rows as messages of a kind, each by `write`.
    fn write_each(
        &self,
        first: usize,
        most: usize,
        (kind, out): (u8, &mut Outbox),
        mut write: impl FnMut(usize, &mut Vec<u8>) -> Result<()>,
    ) -> Result<usize> {
        let end = self.rows.min(first.saturating_add(most));
        for row in first..end {
            let begin = out.begin_row(kind);
            if let Err(error) = write(row, &mut out.bytes) {
                out.drop_row(begin);
                return Err(error);
            }
            out.end_row(begin);
            if out.is_full() {
                return Ok(row + 1 - first);
            }
        }
        Ok(end - first)
    }
}

/// Returns a column in the type that was said when the statement was described, and without what only stores it.
fn as_said(array: &ArrayRef, column: &Column) -> Result<ArrayRef> {
    let plain = match column.pg_type.scalar {
        Scalar::Oid => numbers(column.pg_type.is_array),
        _ => plain(array.data_type()),
    };
    let wanted = match PgType::of(array.data_type()) {
        _ if column.pg_type.scalar == Scalar::Oid => &plain,
        // A parameter without a type may have become one of another.
        own if (own.scalar, own.is_array) != (column.pg_type.scalar, column.pg_type.is_array) => &column.data_type,
        _ => &plain,
    };
    if array.data_type() == wanted {
        return Ok(ArrayRef::clone(array));
    }
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, wanted, &strict).map_err(|error| {
        Error::new(Code::Execution, format!("a value of `{}` is no {wanted}", column.name)).with_source(error)
    })
}

/// Returns the type that numbers of the catalog are written from.
fn numbers(are_in_arrays: bool) -> DataType {
    if are_in_arrays {
        DataType::LargeList(Field::new_list_field(DataType::UInt32, true).into())
    } else {
        DataType::UInt32
    }
}

/// Returns the type that the values of another are written from.
fn plain(data_type: &DataType) -> DataType {
    use DataType as D;
    match data_type {
        D::Dictionary(_, values) => plain(values),
        D::RunEndEncoded(_, values) => plain(values.data_type()),
        D::Int8 | D::UInt8 => D::Int16,
        D::UInt16 => D::Int32,
        D::UInt32 => D::Int64,
        D::Float16 => D::Float32,
        D::Decimal32(precision, scale) | D::Decimal64(precision, scale) => D::Decimal128(*precision, *scale),
        D::FixedSizeBinary(_) => D::Binary,
        D::List(field) | D::LargeList(field) | D::FixedSizeList(field, _)
            if PgType::of(data_type).scalar != Scalar::Json =>
        {
            let element = field.as_ref().clone().with_data_type(plain(field.data_type())).with_nullable(true);
            D::LargeList(element.into())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
