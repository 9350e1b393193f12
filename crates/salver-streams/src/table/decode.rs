//! JSON text into Arrow arrays, by the type a column has. What does not fit becomes null, in a text column its JSON
//! text: rows can always be read, whatever was appended.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, ListArray, StringArray};
use arrow::array::{BooleanBufferBuilder, NullBufferBuilder, new_null_array};
use arrow::buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, FieldRef};
use salver_model::{Error, Result};

use super::members::Members;
use crate::event::reader::Reader;
use crate::event::{LARGE_WHOLE, WHOLE_DIGITS_MAX};

/// Values of one place of many events.
#[derive(Debug)]
pub(super) struct Column {
    kind: Kind,
    nulls: NullBufferBuilder,
}

#[derive(Debug)]
enum Kind {
    Bool(BooleanBufferBuilder),
    Int(Vec<i64>),
    Large(Vec<i128>),
    Float(Vec<f64>),
    Text(Texts),
    Struct(Box<Members>),
    List {
        item: FieldRef,
        ends: Vec<i32>,
        values: Box<Column>,
    },
    /// A type no shape has.
    Other(DataType),
}

/// Texts one after the other.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// Where each ends.
    ends: Vec<i32>,
    bytes: Vec<u8>,
}

impl Column {
    pub(super) fn new(data_type: &DataType) -> Self {
        let kind = match data_type {
            DataType::Boolean => Kind::Bool(BooleanBufferBuilder::new(0)),
            DataType::Int64 => Kind::Int(Vec::new()),
            DataType::Decimal128(WHOLE_DIGITS_MAX, 0) => Kind::Large(Vec::new()),
            DataType::Float64 => Kind::Float(Vec::new()),
            DataType::Utf8 => Kind::Text(Texts::default()),
            DataType::Struct(fields) => Kind::Struct(Box::new(Members::new(fields, |_| true))),
            DataType::List(item) => {
                let values = Box::new(Self::new(item.data_type()));
                Kind::List { item: Arc::clone(item), ends: Vec::new(), values }
            }
            other => Kind::Other(other.clone()),
        };
        Self { kind, nulls: NullBufferBuilder::new(0) }
    }

    pub(super) fn len(&self) -> usize {
        self.nulls.len()
    }

    /// Adds the value that comes.
    pub(super) fn push(&mut self, reader: &mut Reader<'_>) {
        let first = reader.peek();
        let is_valid = match (&mut self.kind, first) {
            (Kind::Text(texts), Some(b'"')) => match reader.string() {
                Some(text) => {
                    if text.is_escaped {
                        text.unescape_into(&mut texts.bytes)
                    } else {
                        texts.bytes.extend(text.raw)
                    }
                    texts.end();
                    true
                }
                None => false,
            },
            (Kind::Text(texts), Some(_)) => match reader.skip() {
                None | Some(b"null") => false,
                Some(raw) => {
                    texts.bytes.extend(raw);
                    texts.end();
                    true
                }
            },
            (Kind::Int(values), Some(b'-' | b'0'..=b'9')) => {
                reader.skip().and_then(int).inspect(|value| values.push(*value)).is_some()
            }
            (Kind::Large(values), Some(b'-' | b'0'..=b'9')) => {
                reader.skip().and_then(large).inspect(|value| values.push(*value)).is_some()
            }
            (Kind::Float(values), Some(b'-' | b'0'..=b'9')) => {
                reader.skip().and_then(float).inspect(|value| values.push(*value)).is_some()
            }
            (Kind::Bool(values), Some(first @ (b't' | b'f'))) => {
                reader.skip();
                values.append(first == b't');
                true
            }
            (Kind::Struct(members), Some(b'{')) => {
                members.push(reader);
                true
            }
            (Kind::List { ends, values, .. }, Some(b'[')) => {
                reader.enter();
                let mut is_first = true;
                while reader.element(&mut is_first) {
                    values.push(reader);
                }
                ends.push(end_of(values.len()));
                true
            }
            _ => {
                reader.skip();
                false
            }
        };
        if is_valid { self.nulls.append_non_null() } else { self.push_nulls(1) }
    }

    /// Adds nulls.
    pub(super) fn push_nulls(&mut self, count: usize) {
        let length = self.nulls.len() + count;
        match &mut self.kind {
            Kind::Bool(values) => values.append_n(count, false),
            Kind::Int(values) => values.resize(length, 0),
            Kind::Large(values) => values.resize(length, 0),
            Kind::Float(values) => values.resize(length, 0.0),
            Kind::Text(texts) => texts.ends.resize(length, end_of(texts.bytes.len())),
            Kind::Struct(members) => members.push_nulls(count),
            Kind::List { ends, values, .. } => ends.resize(length, end_of(values.len())),
            Kind::Other(_) => {}
        }
        self.nulls.append_n_nulls(count);
    }

    /// Adds a text.
    pub(super) fn push_text(&mut self, text: &[u8]) {
        if let Kind::Text(texts) = &mut self.kind {
            texts.bytes.extend(text);
            texts.end();
            self.nulls.append_non_null();
        } else {
            self.push_nulls(1);
        }
    }

    /// Takes away the last values.
    pub(super) fn truncate(&mut self, length: usize) {
        match &mut self.kind {
            Kind::Bool(values) => values.truncate(length),
            Kind::Int(values) => values.truncate(length),
            Kind::Large(values) => values.truncate(length),
            Kind::Float(values) => values.truncate(length),
            Kind::Text(texts) => {
                texts.ends.truncate(length);
                texts.bytes.truncate(texts.ends.last().map_or(0, |end| *end as usize));
            }
            Kind::Struct(members) => members.truncate(length),
            Kind::List { ends, values, .. } => {
                ends.truncate(length);
                values.truncate(ends.last().map_or(0, |end| *end as usize));
            }
            Kind::Other(_) => {}
        }
        self.nulls.truncate(length);
    }

    /// The values as an array; the column is empty after that.
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        let length = self.nulls.len();
        let nulls = self.nulls.finish();
        Ok(match &mut self.kind {
            Kind::Bool(values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Kind::Int(values) => Arc::new(Int64Array::new(std::mem::take(values).into(), nulls)),
            Kind::Large(values) => {
                let array = Decimal128Array::new(std::mem::take(values).into(), nulls);
                Arc::new(array.with_data_type(LARGE_WHOLE))
            }
            Kind::Float(values) => Arc::new(Float64Array::new(std::mem::take(values).into(), nulls)),
            Kind::Text(texts) => {
                let texts = std::mem::take(texts);
                let (offsets, bytes) = (offsets(&texts.ends), Buffer::from_vec(texts.bytes));
                match StringArray::try_new(offsets.clone(), bytes.clone(), nulls.clone()) {
                    Ok(array) => Arc::new(array),
                    // Not all that streams carry was checked.
                    Err(_) => Arc::new(lossy(&offsets, &bytes, |row| nulls.as_ref().is_none_or(|n| n.is_valid(row)))),
                }
            }
            Kind::Struct(members) => Arc::new(members.finish(length, nulls)?),
            Kind::List { item, ends, values } => {
                let array = ListArray::try_new(Arc::clone(item), offsets(ends), values.finish()?, nulls);
                ends.clear();
                Arc::new(array.map_err(|error| Error::internal("events do not make a list").with_source(error))?)
            }
            Kind::Other(data_type) => new_null_array(data_type, length),
        })
    }
}

impl Texts {
    fn end(&mut self) {
        self.ends.push(end_of(self.bytes.len()));
    }
}

/// A length as an offset of Arrow; a batch is made of few bytes, so that it fits.
fn end_of(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

fn offsets(ends: &[i32]) -> OffsetBuffer<i32> {
    let all: Vec<i32> = std::iter::once(0).chain(ends.iter().copied()).collect();
    OffsetBuffer::new(ScalarBuffer::from(all))
}

fn lossy(offsets: &OffsetBuffer<i32>, bytes: &Buffer, is_valid: impl Fn(usize) -> bool) -> StringArray {
    let texts = offsets.windows(2).enumerate().map(|(row, ends)| {
        let text = bytes.get(ends[0] as usize..ends[1] as usize)?;
        is_valid(row).then(|| String::from_utf8_lossy(text))
    });
    texts.collect()
}

/// A whole number of the range of `i64`.
fn int(text: &[u8]) -> Option<i64> {
    if text.len() < 18 && text[0] != b'-' {
        return text.iter().try_fold(0_i64, |value, byte| {
            let digit = byte.wrapping_sub(b'0');
            (digit < 10).then(|| value * 10 + i64::from(digit))
        });
    }
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// A whole number of the range of [`LARGE_WHOLE`].
fn large(text: &[u8]) -> Option<i128> {
    let value: i128 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (value.unsigned_abs() < 10_u128.pow(u32::from(WHOLE_DIGITS_MAX))).then_some(value)
}

/// A number that a float can come near.
fn float(text: &[u8]) -> Option<f64> {
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}
