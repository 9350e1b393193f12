//! Decodes rows of `COPY ... (FORMAT binary)` straight into Arrow columns, without an allocation per row.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder, Decimal256Builder, Float32Builder,
    Float64Builder, Int32Builder, Int64Builder, StringArray, TimestampMicrosecondBuilder,
};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use bytes::Bytes;
use salver_model::{Code, Error, Result};

use super::numeric::{decimal, wide_decimal};
use crate::calendar;
use crate::cell::OwnedCell;
use crate::dialect::form::Form;

/// The start of the stream; flags and the length of an extension follow.
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
/// Days from 1970 to 2000.
const DAYS_2000: i64 = 10_957;
/// Microseconds from 1970 to 2000.
const MICROS_2000: i64 = 946_684_800_000_000;

/// Rows under construction, column by column.
#[derive(Debug)]
pub(crate) struct Copied {
    schema: SchemaRef,
    columns: Vec<Column>,
    /// Forms of the key columns behind those, of which only the last row's values are kept.
    keys: Vec<Form>,
    rows: usize,
    bytes: usize,
    bytes_max: usize,
    begun: bool,
    last: Bytes,
    last_key: usize,
}

impl Copied {
    /// Creates the builders for rows with the columns of `schema` in these forms, followed by `keys`. At `bytes_max` no
    /// more rows are taken.
    pub(crate) fn new(schema: &SchemaRef, forms: &[Form], keys: &[Form], rows: usize, bytes_max: usize) -> Self {
        let fields = schema.fields().iter().zip(forms);
        Self {
            columns: fields.map(|(field, form)| Column::new(field.data_type(), *form, rows)).collect(),
            schema: Arc::clone(schema),
            keys: keys.to_vec(),
            rows: 0,
            bytes: 0,
            bytes_max,
            begun: false,
            last: Bytes::new(),
            last_key: 0,
        }
    }

    /// Returns the size of all rows in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether rows may have been left out.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes >= self.bytes_max
    }

    /// Takes one message: whole rows, and before the first of them the header of the stream.
    pub(super) fn take(&mut self, message: Bytes) -> Result<()> {
        let (mut at, before) = (0, self.rows);
        if !self.begun {
            let head = message.strip_prefix(SIGNATURE).ok_or_else(damaged)?;
            let extension = head.get(4..8).ok_or_else(damaged)?;
            at = SIGNATURE.len() + 8 + length(extension)?;
            self.begun = true;
        }
        let mut row = message.get(at..).ok_or_else(damaged)?;
        while let Some((count, rest)) = row.split_first_chunk::<2>() {
            let count = i16::from_be_bytes(*count);
            // The end of the stream, or of the rows that are wanted.
            if count == -1 || self.is_full() {
                row = &[];
                break;
            }
            if usize::try_from(count) != Ok(self.columns.len() + self.keys.len()) {
                return Err(damaged());
            }
            row = self.row(rest, message.len())?;
            self.bytes += rest.len() - row.len();
        }
        if !row.is_empty() {
            return Err(damaged());
        }
        if self.rows > before {
            self.last = message;
        }
        Ok(())
    }

    fn row<'a>(&mut self, mut fields: &'a [u8], whole: usize) -> Result<&'a [u8]> {
        for (index, column) in self.columns.iter_mut().enumerate() {
            let (value, rest) = field(fields)?;
            if !column.push(value) {
                return Err(unfit(self.schema.field(index), value));
            }
            fields = rest;
        }
        self.last_key = whole - fields.len();
        for _ in &self.keys {
            fields = field(fields)?.1;
        }
        self.rows += 1;
        Ok(fields)
    }

    /// Returns the rows, and the key of the last one.
    pub(crate) fn finish(mut self) -> Result<(RecordBatch, Vec<OwnedCell>)> {
        let mut key = Vec::with_capacity(self.keys.len());
        if self.rows > 0 {
            let mut fields = self.last.get(self.last_key..).ok_or_else(damaged)?;
            for form in &self.keys {
                let (value, rest) = field(fields)?;
                key.push(kept(value, *form)?);
                fields = rest;
            }
        }
        let arrays = self.columns.iter_mut().map(Column::finish).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let batch = RecordBatch::try_new_with_options(self.schema, arrays, &options)
            .map_err(|error| Error::internal("rows of a database don't fit their schema").with_source(error))?;
        Ok((batch, key))
    }
}

/// Splits off one field.
#[inline]
fn field(bytes: &[u8]) -> Result<(Option<&[u8]>, &[u8])> {
    let (size, rest) = bytes.split_first_chunk::<4>().ok_or_else(damaged)?;
    let size = i32::from_be_bytes(*size);
    if size == -1 {
        return Ok((None, rest));
    }
    let size = usize::try_from(size).map_err(|_| damaged())?;
    let (value, rest) = rest.split_at_checked(size).ok_or_else(damaged)?;
    Ok((Some(value), rest))
}

fn length(bytes: &[u8]) -> Result<usize> {
    let bytes = bytes.try_into().map_err(|_| damaged())?;
    usize::try_from(u32::from_be_bytes(bytes)).map_err(|_| damaged())
}

/// Decodes a key's value, to be written into the next statement.
fn kept(value: Option<&[u8]>, form: Form) -> Result<OwnedCell> {
    let Some(value) = value else { return Ok(OwnedCell::Null) };
    let number = match form {
        Form::Int2 => value.try_into().ok().map(|raw| i64::from(i16::from_be_bytes(raw))),
        Form::Int4 => value.try_into().ok().map(|raw| i64::from(i32::from_be_bytes(raw))),
        Form::Int8 => value.try_into().ok().map(i64::from_be_bytes),
        _ => {
            let text = String::from_utf8(value.to_vec()).map_err(|_| damaged())?;
            return Ok(OwnedCell::Text(text));
        }
    };
    number.map(OwnedCell::Int).ok_or_else(damaged)
}

#[cold]
fn damaged() -> Error {
    Error::new(Code::Execution, "the answer of the database can't be read")
}

#[cold]
fn unfit(field: &arrow::datatypes::Field, value: Option<&[u8]>) -> Error {
    let shown: String = format!("{value:02x?}").chars().take(80).collect();
    Error::new(Code::Execution, format!("`{}` has a value that is no {}: {shown}", field.name(), field.data_type()))
        .with_hint("mend the row, or read the table through /api/records, which takes values as they are")
}

/// One column under construction.
#[derive(Debug)]
enum Column {
    Bool(BooleanBuilder),
    Int2(Int32Builder),
    Int4(Int32Builder),
    Int8(Int64Builder),
    Float4(Float32Builder),
    Float8(Float64Builder),
    Numeric(Decimal128Builder, u8, i8),
    WideNumeric(Decimal256Builder, u8, i8),
    Date(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder),
    TimestampText(TimestampMicrosecondBuilder),
    Uuid(BinaryBuilder),
    /// Text is validated as UTF-8 once per batch, not per value.
    Text(BinaryBuilder),
    Bytes(BinaryBuilder),
}

impl Column {
    fn new(data_type: &DataType, form: Form, rows: usize) -> Self {
        let moments = || TimestampMicrosecondBuilder::with_capacity(rows).with_data_type(data_type.clone());
        match form {
            Form::Bool => Self::Bool(BooleanBuilder::with_capacity(rows)),
            Form::Int2 => Self::Int2(Int32Builder::with_capacity(rows)),
            Form::Int4 => Self::Int4(Int32Builder::with_capacity(rows)),
            Form::Int8 => Self::Int8(Int64Builder::with_capacity(rows)),
            Form::Float4 => Self::Float4(Float32Builder::with_capacity(rows)),
            Form::Float8 => Self::Float8(Float64Builder::with_capacity(rows)),
            Form::Numeric => {
                let (precision, scale) = match data_type {
                    DataType::Decimal256(precision, scale) => {
                        let builder = Decimal256Builder::with_capacity(rows).with_data_type(data_type.clone());
                        return Self::WideNumeric(builder, *precision, *scale);
                    }
                    DataType::Decimal128(precision, scale) => (*precision, *scale),
                    _ => (38, 0),
                };
                let builder = Decimal128Builder::with_capacity(rows);
                Self::Numeric(builder.with_data_type(DataType::Decimal128(precision, scale)), precision, scale)
            }
            Form::Date => Self::Date(Date32Builder::with_capacity(rows)),
            Form::Timestamp => Self::Timestamp(moments()),
            Form::TimestampText => Self::TimestampText(moments()),
            Form::Uuid => Self::Uuid(BinaryBuilder::with_capacity(rows, 36 * rows)),
            Form::Text => Self::Text(BinaryBuilder::with_capacity(rows, 0)),
            Form::Bytes => Self::Bytes(BinaryBuilder::with_capacity(rows, 0)),
        }
    }

    /// Appends a value; returns `false` when it is not a value of this column.
    #[inline]
    fn push(&mut self, value: Option<&[u8]>) -> bool {
        let Some(value) = value else {
            self.push_null();
            return true;
        };
        let appended = match self {
            Self::Bool(builder) => value.first().map(|byte| builder.append_value(*byte != 0)),
            Self::Int2(builder) => {
                value.try_into().ok().map(|raw| builder.append_value(i32::from(i16::from_be_bytes(raw))))
            }
            Self::Int4(builder) => value.try_into().ok().map(|raw| builder.append_value(i32::from_be_bytes(raw))),
            Self::Int8(builder) => value.try_into().ok().map(|raw| builder.append_value(i64::from_be_bytes(raw))),
            Self::Float4(builder) => value.try_into().ok().map(|raw| builder.append_value(f32::from_be_bytes(raw))),
            Self::Float8(builder) => value.try_into().ok().map(|raw| builder.append_value(f64::from_be_bytes(raw))),
            Self::Numeric(builder, precision, scale) => {
                decimal(value, *precision, *scale).map(|number| builder.append_value(number))
            }
            Self::WideNumeric(builder, precision, scale) => {
                wide_decimal(value, *precision, *scale).map(|number| builder.append_value(number))
            }
            Self::Date(builder) => value.try_into().ok().and_then(day).map(|day| builder.append_value(day)),
            Self::Timestamp(builder) => value.try_into().ok().and_then(moment).map(|at| builder.append_value(at)),
            Self::TimestampText(builder) => std::str::from_utf8(value)
                .ok()
                .and_then(calendar::moment)
                .filter(|moment| !moment.beyond)
                .map(|moment| builder.append_value(moment.micros)),
            Self::Uuid(builder) => value.try_into().ok().map(|raw| builder.append_value(spelled(raw))),
            Self::Text(builder) | Self::Bytes(builder) => {
                builder.append_value(value);
                Some(())
            }
        };
        appended.is_some()
    }

    fn push_null(&mut self) {
        match self {
            Self::Bool(builder) => builder.append_null(),
            Self::Int2(builder) | Self::Int4(builder) => builder.append_null(),
            Self::Int8(builder) => builder.append_null(),
            Self::Float4(builder) => builder.append_null(),
            Self::Float8(builder) => builder.append_null(),
            Self::Numeric(builder, ..) => builder.append_null(),
            Self::WideNumeric(builder, ..) => builder.append_null(),
            Self::Date(builder) => builder.append_null(),
            Self::Timestamp(builder) | Self::TimestampText(builder) => builder.append_null(),
            Self::Uuid(builder) | Self::Text(builder) | Self::Bytes(builder) => builder.append_null(),
        }
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        Ok(match self {
            Self::Bool(builder) => Arc::new(builder.finish()),
            Self::Int2(builder) | Self::Int4(builder) => Arc::new(builder.finish()),
            Self::Int8(builder) => Arc::new(builder.finish()),
            Self::Float4(builder) => Arc::new(builder.finish()),
            Self::Float8(builder) => Arc::new(builder.finish()),
            Self::Numeric(builder, ..) => Arc::new(builder.finish()),
            Self::WideNumeric(builder, ..) => Arc::new(builder.finish()),
            Self::Date(builder) => Arc::new(builder.finish()),
            Self::Timestamp(builder) | Self::TimestampText(builder) => Arc::new(builder.finish()),
            Self::Uuid(builder) | Self::Text(builder) => {
                let text = StringArray::try_from_binary(builder.finish());
                Arc::new(text.map_err(|error| damaged().with_source(error))?)
            }
            Self::Bytes(builder) => Arc::new(builder.finish()),
        })
    }
}

fn day(raw: [u8; 4]) -> Option<i32> {
    calendar::day_within(i64::from(i32::from_be_bytes(raw)) + DAYS_2000)
}

fn moment(raw: [u8; 8]) -> Option<i64> {
    calendar::moment_within(i64::from_be_bytes(raw).checked_add(MICROS_2000)?)
}

/// Formats a UUID as `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`.
fn spelled(raw: [u8; 16]) -> [u8; 36] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'-'; 36];
    let mut at = 0;
    for (index, byte) in raw.into_iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            at += 1;
        }
        text[at] = DIGITS[usize::from(byte >> 4)];
        text[at + 1] = DIGITS[usize::from(byte & 15)];
        at += 2;
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::AsArray;
    use arrow::datatypes::{DataType, Field, Int32Type, Schema};
    use bytes::Bytes;

    use super::{Copied, SIGNATURE};
    use crate::cell::OwnedCell;
    use crate::dialect::form::Form;

    /// Encodes a row of a text, a number, and the number again as its key.
    fn row(text: &str, number: i32) -> Vec<u8> {
        let mut out = 3_i16.to_be_bytes().to_vec();
        out.extend(i32::try_from(text.len()).unwrap().to_be_bytes());
        out.extend(text.as_bytes());
        for _ in 0..2 {
            out.extend(4_i32.to_be_bytes());
            out.extend(number.to_be_bytes());
        }
        out
    }

    fn copied(bytes_max: usize) -> Copied {
        let fields = vec![Field::new("a", DataType::Utf8, true), Field::new("b", DataType::Int32, true)];
        Copied::new(&Arc::new(Schema::new(fields)), &[Form::Text, Form::Int4], &[Form::Int4], 4, bytes_max)
    }

    fn head() -> Vec<u8> {
        [SIGNATURE, &[0; 8]].concat()
    }

    #[test]
    fn messages_may_have_any_number_of_rows() {
        let end = (-1_i16).to_be_bytes().to_vec();
        for messages in [
            vec![[head(), row("x", 1)].concat(), row("é", 2), row("", 3), end.clone()],
            vec![[head(), row("x", 1), row("é", 2), row("", 3), end.clone()].concat()],
            vec![head(), [row("x", 1), row("é", 2)].concat(), [row("", 3), end.clone()].concat()],
        ] {
            let mut rows = copied(usize::MAX);
            for message in messages {
                rows.take(Bytes::from(message)).unwrap();
            }
            let (batch, key) = rows.finish().unwrap();
            assert_eq!(batch.column(0).as_string::<i32>().iter().flatten().collect::<Vec<_>>(), ["x", "é", ""]);
            assert_eq!(batch.column(1).as_primitive::<Int32Type>().values(), &[1, 2, 3]);
            assert_eq!(key, [OwnedCell::Int(3)]);
        }
    }

    #[test]
    fn no_more_are_taken_than_fit() {
        let mut rows = copied(30);
        rows.take(Bytes::from([head(), row("0123456789", 1), row("x", 2)].concat())).unwrap();
        rows.take(Bytes::from(row("y", 3))).unwrap();
        let (batch, key) = rows.finish().unwrap();
        assert_eq!((batch.num_rows(), key), (1, vec![OwnedCell::Int(1)]));
    }

    #[test]
    fn what_is_damaged_is_refused() {
        let whole = [head(), row("x", 1)].concat();
        for cut in [1, 12, 19, 20, 22, 26, 30, whole.len() - 1] {
            let taken = copied(usize::MAX).take(Bytes::from(whole[..cut].to_vec()));
            assert_eq!(taken.is_ok(), cut == head().len(), "cut at {cut}");
        }
        let mut rows = copied(usize::MAX);
        let mut spoiled = [head(), row("x", 1)].concat();
        if let Some(byte) = spoiled.iter_mut().find(|byte| **byte == b'x') {
            *byte = 0xff;
        }
        rows.take(Bytes::from(spoiled)).unwrap();
        assert!(rows.finish().is_err());
    }
}
