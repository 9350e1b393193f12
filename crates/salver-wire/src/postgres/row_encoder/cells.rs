//! One column of one batch, downcast once, and its values in both formats.

use arrow::array::cast::AsArray;
use arrow::array::types::{
    Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, UInt32Type,
    UInt64Type,
};
use arrow::array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, LargeBinaryArray, LargeListArray, LargeStringArray,
    StringArray, StringViewArray,
};
use arrow::datatypes::{DataType, i256};
use salver_formats::json::ColumnWriter;
use salver_model::{Code, Error, Result};

use super::array::{self, Elements};
use super::datetime::{self, Instants};
use super::interval::{self, Intervals};
use super::number;
use crate::postgres::message::Format;
use salver_model::pg_type::{PgType, Scalar};

/// Length of a value that is null.
const NULL: [u8; 4] = (-1_i32).to_be_bytes();
/// Bytes of a length.
const LENGTH_BYTES: usize = 4;

/// The values of a column.
pub(super) struct Cells<'a> {
    array: &'a dyn Array,
    values: Values<'a>,
}

enum Values<'a> {
    Null,
    Bool(&'a BooleanArray),
    Int2(&'a [i16]),
    Int4(&'a [i32]),
    Int8(&'a [i64]),
    Oid(&'a [u32]),
    Unsigned(&'a [u64]),
    Float4(&'a [f32]),
    Float8(&'a [f64]),
    Decimal(&'a [i128], i8),
    LongDecimal(&'a [i256], i8),
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
    Bytes(&'a BinaryArray),
    LargeBytes(&'a LargeBinaryArray),
    BytesView(&'a BinaryViewArray),
    Date(&'a [i32]),
    Instants(Instants<'a>),
    Intervals(Intervals<'a>),
    List(&'a LargeListArray, Box<Cells<'a>>, Scalar),
    Json(ColumnWriter<'a>),
}

impl<'a> Cells<'a> {
    /// Resolves a column that is written as `pg_type`.
    ///
    /// # Errors
    /// `Execution` if a timestamp's zone does not exist.
    pub(super) fn of(array: &'a ArrayRef, pg_type: PgType) -> Result<Self> {
        use DataType as D;
        let values = match array.data_type() {
            _ if pg_type.scalar == Scalar::Json => Values::Json(ColumnWriter::new(array.as_ref())?),
            D::Null => Values::Null,
            D::Boolean => Values::Bool(array.as_boolean()),
            D::Int16 => Values::Int2(array.as_primitive::<Int16Type>().values()),
            D::Int32 => Values::Int4(array.as_primitive::<Int32Type>().values()),
            D::Int64 => Values::Int8(array.as_primitive::<Int64Type>().values()),
            D::UInt32 => Values::Oid(array.as_primitive::<UInt32Type>().values()),
            D::UInt64 => Values::Unsigned(array.as_primitive::<UInt64Type>().values()),
            D::Float32 => Values::Float4(array.as_primitive::<Float32Type>().values()),
            D::Float64 => Values::Float8(array.as_primitive::<Float64Type>().values()),
            D::Decimal128(_, scale) => Values::Decimal(array.as_primitive::<Decimal128Type>().values(), *scale),
            D::Decimal256(_, scale) => Values::LongDecimal(array.as_primitive::<Decimal256Type>().values(), *scale),
            D::Utf8 => Values::Text(array.as_string()),
            D::LargeUtf8 => Values::LargeText(array.as_string()),
            D::Utf8View => Values::TextView(array.as_string_view()),
            D::Binary => Values::Bytes(array.as_binary()),
            D::LargeBinary => Values::LargeBytes(array.as_binary()),
            D::BinaryView => Values::BytesView(array.as_binary_view()),
            D::Date32 => Values::Date(array.as_primitive::<Date32Type>().values()),
            D::Date64 | D::Time32(_) | D::Time64(_) | D::Timestamp(..) => Values::Instants(Instants::of(array)?),
            D::Duration(_) | D::Interval(_) => Values::Intervals(Intervals::of(array)?),
            D::LargeList(_) => {
                let list = array.as_list();
                let element = PgType { is_array: false, ..pg_type };
                Values::List(list, Box::new(Self::of(list.values(), element)?), pg_type.scalar)
            }
            other => return Err(Error::internal(format!("values of {other} can't be written"))),
        };
        Ok(Self { array: array.as_ref(), values })
    }

    /// Writes a value with its length.
    ///
    /// # Errors
    /// `Execution` for a value that the type does not have, `AnswerTooLarge` for one that is too long to be said.
    pub(super) fn value(&self, row: usize, format: Format, out: &mut Vec<u8>) -> Result<()> {
        if self.is_null(row) {
            out.extend(NULL);
            return Ok(());
        }
        let begin = out.len();
        out.extend([0; LENGTH_BYTES]);
        match format {
            Format::Text => self.text(row, out)?,
            Format::Binary => self.binary(row, out)?,
        }
        // It does not count itself.
        let length = i32::try_from(out.len() - begin - LENGTH_BYTES)
            .map_err(|_| Error::new(Code::AnswerTooLarge, "a value is longer than PostgreSQL's protocol can say"))?;
        out[begin..begin + LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }

    /// Returns whether a value is null.
    pub(super) fn is_null(&self, row: usize) -> bool {
        match &self.values {
            Values::Null => true,
            Values::Json(writer) => writer.is_null(row),
            _ => self.array.is_null(row),
        }
    }

    /// Writes a value that is not null, as text (<https://www.postgresql.org/docs/16/datatype.html>).
    ///
    /// # Errors
    /// `Execution` for a value that the type does not have.
    pub(super) fn text(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        match &self.values {
            Values::Bool(array) => out.push(if array.value(row) { b't' } else { b'f' }),
            Values::Int2(values) => out.extend(itoa::Buffer::new().format(values[row]).as_bytes()),
            Values::Int4(values) => out.extend(itoa::Buffer::new().format(values[row]).as_bytes()),
            Values::Int8(values) => out.extend(itoa::Buffer::new().format(values[row]).as_bytes()),
            Values::Oid(values) => out.extend(itoa::Buffer::new().format(values[row]).as_bytes()),
            Values::Unsigned(values) => out.extend(itoa::Buffer::new().format(values[row]).as_bytes()),
            Values::Float4(values) => number::float4_text(values[row], out),
            Values::Float8(values) => number::float8_text(values[row], out),
            Values::Decimal(values, scale) => number::decimal_text(values[row], *scale, out),
            Values::LongDecimal(values, scale) => number::decimal_text(values[row], *scale, out),
            Values::Bytes(_) | Values::LargeBytes(_) | Values::BytesView(_) => {
                out.extend(b"\\x");
                self.bytes(row).iter().for_each(|byte| out.extend(HEX[usize::from(*byte)]));
            }
            Values::Date(values) => datetime::date_text(i64::from(values[row]), out),
            Values::Instants(instants) => instants.text(row, out),
            Values::Intervals(intervals) => interval::text(intervals.at(row)?, out),
            Values::List(list, element, _) => array::text(list, &**element, row, out)?,
            Values::Json(writer) => writer.write(row, out),
            Values::Null | Values::Text(_) | Values::LargeText(_) | Values::TextView(_) => out.extend(self.bytes(row)),
        }
        Ok(())
    }

    /// Writes a value that is not null, in the type's binary form (its `send` function in PostgreSQL's sources).
    ///
    /// # Errors
    /// `Execution` for a value that the type does not have.
    fn binary(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        match &self.values {
            Values::Bool(array) => out.push(u8::from(array.value(row))),
            Values::Int2(values) => out.extend(values[row].to_be_bytes()),
            Values::Int4(values) => out.extend(values[row].to_be_bytes()),
            Values::Int8(values) => out.extend(values[row].to_be_bytes()),
            Values::Float4(values) => out.extend(values[row].to_be_bytes()),
            Values::Float8(values) => out.extend(values[row].to_be_bytes()),
            Values::Oid(values) => out.extend(values[row].to_be_bytes()),
            Values::Unsigned(values) => number::numeric_binary(values[row], 0, out),
            Values::Decimal(values, scale) => number::numeric_binary(values[row], *scale, out),
            Values::LongDecimal(values, scale) => number::numeric_binary(values[row], *scale, out),
            Values::Date(values) => out.extend(datetime::date_binary(values[row])?.to_be_bytes()),
            Values::Instants(instants) => out.extend(instants.binary(row)?.to_be_bytes()),
            Values::Intervals(intervals) => interval::binary(intervals.at(row)?, out),
            Values::List(list, element, scalar) => array::binary(list, &**element, *scalar, row, out)?,
            Values::Json(writer) => writer.write(row, out),
            _ => out.extend(self.bytes(row)),
        }
        Ok(())
    }

    /// Returns the bytes of a text or of bytes.
    fn bytes(&self, row: usize) -> &'a [u8] {
        match &self.values {
            Values::Text(array) => array.value(row).as_bytes(),
            Values::LargeText(array) => array.value(row).as_bytes(),
            Values::TextView(array) => array.value(row).as_bytes(),
            Values::Bytes(array) => array.value(row),
            Values::LargeBytes(array) => array.value(row),
            Values::BytesView(array) => array.value(row),
            _ => &[],
        }
    }
}

impl Elements for Cells<'_> {
    fn is_null(&self, at: usize) -> bool {
        Cells::is_null(self, at)
    }

    fn text(&self, at: usize, out: &mut Vec<u8>) -> Result<()> {
        Cells::text(self, at, out)
    }

    fn value(&self, at: usize, out: &mut Vec<u8>) -> Result<()> {
        Cells::value(self, at, Format::Binary, out)
    }
}

/// The digits of each byte.
const HEX: [[u8; 2]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let (mut all, mut byte) = ([[0; 2]; 256], 0);
    while byte < 256 {
        all[byte] = [DIGITS[byte / 16], DIGITS[byte % 16]];
        byte += 1;
    }
    all
};
