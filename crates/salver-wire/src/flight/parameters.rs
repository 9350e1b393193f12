//! Values of parameters, from the rows of Arrow that clients send.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema, TimeUnit, UInt64Type};
use arrow::ipc::reader::StreamReader;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use arrow_flight::FlightData;
use salver_formats::receive_arrow_stream;
use salver_model::{Code, Error, ParameterType, Result, TypedValue, Value};

/// Marker before the length of a message, and the alignment of what follows it.
const CONTINUATION: [u8; 4] = [0xff; 4];
const ALIGNMENT: usize = 8;

/// What a client sends of its values, as a stream of Arrow.
#[derive(Debug, Default)]
pub(super) struct ReceivedRows {
    bytes: Vec<u8>,
}

impl ReceivedRows {
    /// Adds a message.
    ///
    /// # Errors
    /// `BodyTooLarge` beyond `bytes_max`.
    pub(super) fn add(&mut self, message: &FlightData, bytes_max: usize) -> Result<()> {
        if message.data_header.is_empty() {
            return Ok(());
        }
        let added = message.data_header.len() + message.data_body.len() + 2 * ALIGNMENT;
        if self.bytes.len() + added > bytes_max {
            let message = format!("the values of the parameters have more than {bytes_max} bytes");
            return Err(Error::new(Code::BodyTooLarge, message).with_hint("the limit is `limits.body_bytes_max`"));
        }
        let header_bytes = message.data_header.len().next_multiple_of(ALIGNMENT);
        self.bytes.extend_from_slice(&CONTINUATION);
        self.bytes.extend_from_slice(&u32::try_from(header_bytes).unwrap_or(u32::MAX).to_le_bytes());
        self.bytes.extend_from_slice(&message.data_header);
        self.bytes.resize(self.bytes.len() + header_bytes - message.data_header.len(), 0);
        self.bytes.extend_from_slice(&message.data_body);
        Ok(())
    }

    /// Returns the one row that was sent.
    ///
    /// # Errors
    /// `InvalidBody` for what is no Arrow, `InvalidValue` for another number of rows.
    pub(super) fn row(mut self, bytes_max: usize) -> Result<RecordBatch> {
        // Readers of Arrow trust what they read; so what a client sends is checked first.
        self.bytes.extend_from_slice(&CONTINUATION);
        self.bytes.extend_from_slice(&[0; 4]);
        let checked = receive_arrow_stream(&self.bytes, bytes_max as u64)?;
        let read = StreamReader::try_new(checked.as_slice(), None).map_err(damaged)?;
        let batches = read.collect::<std::result::Result<Vec<_>, _>>().map_err(damaged)?;
        let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let first = batches.into_iter().find(|batch| batch.num_rows() > 0);
        first.filter(|_| rows == 1).ok_or_else(|| {
            Error::new(Code::InvalidValue, format!("{rows} rows of parameters were sent, and a statement takes one"))
                .with_hint("run the statement once for each row of values")
        })
    }
}

fn damaged(cause: arrow::error::ArrowError) -> Error {
    Error::new(Code::InvalidBody, "the values of the parameters can't be read").with_source(cause)
}

/// Returns the columns that parameters of these types have.
pub(super) fn schema(kinds: &[ParameterType]) -> Schema {
    let fields = kinds.iter().zip(1..).map(|(kind, number)| {
        let data_type = match kind {
            ParameterType::Text => DataType::Utf8,
            ParameterType::Integer => DataType::Int64,
            ParameterType::Number => DataType::Float64,
            ParameterType::Boolean => DataType::Boolean,
            ParameterType::Date => DataType::Date32,
            ParameterType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        };
        Field::new(format!("${number}"), data_type, true)
    });
    Schema::new(fields.collect::<Vec<_>>())
}

/// Returns the values of a row for parameters that the statement takes for `kinds`.
///
/// # Errors
/// `InvalidValue` for another number of values, or for types that no parameter can have.
pub(super) fn values(row: &RecordBatch, kinds: &[ParameterType]) -> Result<Vec<TypedValue>> {
    if row.num_columns() != kinds.len() {
        let message =
            format!("the statement has {} parameters, and {} values were sent", kinds.len(), row.num_columns());
        return Err(Error::new(Code::InvalidValue, message));
    }
    let given = row.columns().iter().zip(kinds).zip(1_usize..);
    given
        .map(|((column, told), number)| {
            let (kind, value) = value(column, *told).map_err(|error| unusable(number, column.data_type(), error))?;
            Ok(TypedValue { name: number.to_string(), kind, value })
        })
        .collect()
}

/// Returns the first value of a column, and its type. A client says the type of what it sends, but for a null without
/// one.
fn value(column: &ArrayRef, told: ParameterType) -> std::result::Result<(ParameterType, Option<Value>), String> {
    use DataType as D;
    // Without these options a value that its type does not have becomes null, or the text of an error.
    let strictly = CastOptions { safe: false, ..CastOptions::default() };
    let cast_to = |data_type: &DataType| cast_with_options(column, data_type, &strictly).map_err(|e| e.to_string());
    let text = |array: &ArrayRef| {
        let options = FormatOptions::default().with_display_error(false);
        let formatter = ArrayFormatter::try_new(array, &options).map_err(|error| error.to_string())?;
        formatter.value(0).try_to_string().map_err(|error| error.to_string())
    };
    let is_null = column.is_null(0) || matches!(column.data_type(), D::Null);
    let kind = match column.data_type() {
        D::Null => told,
        D::Dictionary(_, values) => return value(&cast_to(values)?, told),
        D::Boolean => ParameterType::Boolean,
        other if other.is_integer() => ParameterType::Integer,
        other if other.is_numeric() => ParameterType::Number,
        D::Date32 | D::Date64 => ParameterType::Date,
        D::Timestamp(_, None) => ParameterType::Timestamp,
        // As texts these are read by what they are compared with, a zone with its times.
        D::Timestamp(..) | D::Time32(_) | D::Time64(_) | D::Duration(_) | D::Interval(_) => ParameterType::Text,
        D::Utf8 | D::LargeUtf8 | D::Utf8View => ParameterType::Text,
        _ => return Err("send it as text".to_owned()),
    };
    if is_null {
        return Ok((kind, None));
    }
    let value = match column.data_type() {
        D::Boolean => Value::Bool(column.as_boolean().value(0)),
        D::UInt64 => {
            let number = column.as_primitive::<UInt64Type>().value(0);
            i64::try_from(number).map_or(Value::UInt(number), Value::Int)
        }
        other if other.is_integer() => Value::Int(cast_to(&D::Int64)?.as_primitive::<Int64Type>().value(0)),
        other if other.is_floating() => Value::Float(cast_to(&D::Float64)?.as_primitive::<Float64Type>().value(0)),
        D::Date32 | D::Date64 => Value::Text(text(&cast_to(&D::Date32)?)?),
        D::Timestamp(_, None) => {
            let written = text(column)?;
            kind.parse(&written).unwrap_or(Value::Text(written))
        }
        other if other.is_numeric() => {
            let written = text(column)?;
            kind.parse(&written).ok_or_else(|| format!("{written} is no number"))?
        }
        _ => Value::Text(text(column)?),
    };
    Ok((kind, Some(value)))
}

fn unusable(number: usize, data_type: &DataType, hint: String) -> Error {
    Error::new(Code::InvalidValue, format!("parameter {number} can't be a value of the type {data_type}"))
        .with_hint(hint)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float32Array, Int8Array, NullArray,
        RecordBatch, StringArray, Time32SecondArray, TimestampMillisecondArray, TimestampSecondArray, UInt64Array,
    };
    use salver_model::{ParameterType, Value};

    use super::values;

    fn one(array: ArrayRef, told: ParameterType) -> (ParameterType, Option<Value>) {
        let row = RecordBatch::try_from_iter_with_nullable([("a", array, true)]).unwrap();
        let typed = values(&row, &[told]).unwrap().remove(0);
        (typed.kind, typed.value)
    }

    #[test]
    fn values_keep_the_types_of_the_client() {
        use ParameterType as P;
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        let decimal = Decimal128Array::from(vec![-1_250]).with_precision_and_scale(9, 3).unwrap();
        let zoned = TimestampMillisecondArray::from(vec![1_500]).with_timezone("+00:00");
        for (array, told, expected) in [
            (Arc::new(BooleanArray::from(vec![true])) as ArrayRef, P::Text, (P::Boolean, Some(Value::Bool(true)))),
            (Arc::new(Int8Array::from(vec![-5])), P::Text, (P::Integer, Some(Value::Int(-5)))),
            (Arc::new(UInt64Array::from(vec![u64::MAX])), P::Text, (P::Integer, Some(Value::UInt(u64::MAX)))),
            (Arc::new(Float32Array::from(vec![0.5])), P::Text, (P::Number, Some(Value::Float(0.5)))),
            (Arc::new(Date32Array::from(vec![1])), P::Text, (P::Date, text("1970-01-02"))),
            (
                Arc::new(TimestampMillisecondArray::from(vec![1_500])),
                P::Text,
                (P::Timestamp, text("1970-01-01 00:00:01.500")),
            ),
            (Arc::new(zoned), P::Text, (P::Text, text("1970-01-01T00:00:01.500Z"))),
            (Arc::new(StringArray::from(vec!["a"])), P::Integer, (P::Text, text("a"))),
            (Arc::new(StringArray::from(vec![None::<&str>])), P::Integer, (P::Text, None)),
            (Arc::new(NullArray::new(1)), P::Date, (P::Date, None)),
        ] {
            assert_eq!(one(array, told), expected);
        }
        let (kind, number) = one(Arc::new(decimal), P::Text);
        assert_eq!(kind, P::Number);
        assert!(matches!(number, Some(Value::Float(_) | Value::Bare(_))), "{number:?}");
    }

    #[test]
    fn what_no_parameter_can_be_is_refused() {
        let bytes: ArrayRef = Arc::new(BinaryArray::from(vec![&b"a"[..]]));
        let row = RecordBatch::try_from_iter([("a", bytes)]).unwrap();
        assert!(values(&row, &[ParameterType::Text]).is_err());
        assert!(values(&row, &[]).is_err());
        for beyond in [
            Arc::new(Time32SecondArray::from(vec![100_000])) as ArrayRef,
            Arc::new(TimestampSecondArray::from(vec![i64::MAX / 2])),
        ] {
            let row = RecordBatch::try_from_iter([("a", beyond)]).unwrap();
            assert!(values(&row, &[ParameterType::Text]).is_err(), "{row:?}");
        }
    }
}
