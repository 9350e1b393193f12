//! Decoding of JSON text into Arrow arrays by column type. A value that does not fit becomes null, or its JSON text in
//! a text column, so that rows can be read whatever was appended.

use std::collections::HashMap;
use std::sync::Arc;

use ahash::RandomState;
use arrow::array::{ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int64Array, ListArray, StructArray};
use arrow::array::{BooleanBufferBuilder, NullBufferBuilder, new_null_array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, FieldRef, Fields};
use salver_model::{Error, Result};
use salver_text::json::{Reader, Text};

use super::numbers::{float, int, large};
use super::texts::{Texts, end_of, offsets};
use crate::event::{LARGE_WHOLE, UNNAMED, WHOLE_DIGITS};

/// Builder of a column from the values at one place of the events.
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
    /// Type that no shape produces.
    Other(DataType),
}

impl Column {
    pub(super) fn new(data_type: &DataType) -> Self {
        let kind = match data_type {
            DataType::Boolean => Kind::Bool(BooleanBufferBuilder::new(0)),
            DataType::Int64 => Kind::Int(Vec::new()),
            DataType::Decimal128(WHOLE_DIGITS, 0) => Kind::Large(Vec::new()),
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

    /// Appends the next value.
    pub(super) fn push(&mut self, reader: &mut Reader<'_>) {
        let first = reader.peek();
        let is_valid = match (&mut self.kind, first) {
            (Kind::Text(texts), Some(b'"')) => match reader.string() {
                Some(text) => {
                    texts.push_string(text);
                    true
                }
                None => false,
            },
            (Kind::Text(texts), Some(_)) => match reader.skip() {
                None | Some(b"null") => false,
                Some(raw) => {
                    texts.push(raw);
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

    /// Appends nulls.
    pub(super) fn push_nulls(&mut self, count: usize) {
        let length = self.nulls.len() + count;
        match &mut self.kind {
            Kind::Bool(values) => values.append_n(count, false),
            Kind::Int(values) => values.resize(length, 0),
            Kind::Large(values) => values.resize(length, 0),
            Kind::Float(values) => values.resize(length, 0.0),
            Kind::Text(texts) => texts.fill(length),
            Kind::Struct(members) => members.push_nulls(count),
            Kind::List { ends, values, .. } => ends.resize(length, end_of(values.len())),
            Kind::Other(_) => {}
        }
        self.nulls.append_n_nulls(count);
    }

    /// Appends a text.
    pub(super) fn push_text(&mut self, text: &[u8]) {
        if let Kind::Text(texts) = &mut self.kind {
            texts.push(text);
            self.nulls.append_non_null();
        } else {
            self.push_nulls(1);
        }
    }

    /// Removes the values behind `length`.
    pub(super) fn truncate(&mut self, length: usize) {
        match &mut self.kind {
            Kind::Bool(values) => values.truncate(length),
            Kind::Int(values) => values.truncate(length),
            Kind::Large(values) => values.truncate(length),
            Kind::Float(values) => values.truncate(length),
            Kind::Text(texts) => texts.truncate(length),
            Kind::Struct(members) => members.truncate(length),
            Kind::List { ends, values, .. } => {
                ends.truncate(length);
                values.truncate(ends.last().map_or(0, |end| *end as usize));
            }
            Kind::Other(_) => {}
        }
        self.nulls.truncate(length);
    }

    /// Returns the values as an array, and empties the column.
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
            Kind::Text(texts) => Arc::new(std::mem::take(texts).finish(nulls)),
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

/// Builder of the columns of objects, each of which is a row.
#[derive(Debug)]
pub(super) struct Members {
    fields: Fields,
    members: Vec<Member>,
    names: HashMap<Box<[u8]>, usize, RandomState>,
    rows: usize,
}

/// Known member.
#[derive(Debug)]
struct Member {
    /// `"name":`, the usual spelling in a text.
    lead: Box<[u8]>,
    /// Column; `None` if it is not projected.
    column: Option<Column>,
}

impl Members {
    /// Creates the columns for the projected `fields`. The others are only known so that they can be skipped quickly.
    pub(super) fn new(fields: &Fields, is_wanted: impl Fn(usize) -> bool) -> Self {
        let members = fields.iter().enumerate().map(|(index, field)| Member {
            lead: format!("{}:", serde_json::Value::from(field.name().as_str())).into_bytes().into_boxed_slice(),
            column: is_wanted(index).then(|| Column::new(field.data_type())),
        });
        let named = fields.iter().enumerate().map(|(index, field)| (field.name().as_str(), index));
        let mut names: HashMap<Box<[u8]>, usize, RandomState> =
            named.map(|(name, index)| (name.as_bytes().into(), index)).collect();
        if let Some(unnamed) = names.get(UNNAMED.as_bytes()).copied() {
            names.insert(Box::default(), unnamed);
        }
        Self { fields: fields.clone(), members: members.collect(), names, rows: 0 }
    }

    /// Appends the next value as a row; all columns are null when it is not an object.
    pub(super) fn push(&mut self, reader: &mut Reader<'_>) {
        if reader.peek() != Some(b'{') {
            reader.skip();
            return self.push_nulls(1);
        }
        reader.enter();
        let mut next = 0;
        let mut is_first = true;
        loop {
            // Events of a stream are alike, so this is mostly the expected member.
            let index = match self.members.get(next) {
                Some(member) if reader.member_is(&member.lead, is_first) => {
                    is_first = false;
                    Some(next)
                }
                _ => match reader.member(&mut is_first) {
                    Some(name) => self.find(name),
                    None => break,
                },
            };
            next = index.map_or(next, |index| index + 1);
            let Some(column) = index.and_then(|index| self.members[index].column.as_mut()) else {
                reader.skip();
                continue;
            };
            match self.rows.checked_sub(column.len()) {
                Some(0) => {}
                Some(missing) => column.push_nulls(missing),
                // The last of duplicate members wins.
                None => column.truncate(self.rows),
            }
            column.push(reader);
        }
        self.rows += 1;
    }

    fn find(&self, name: Text<'_>) -> Option<usize> {
        if name.is_escaped { self.names.get(&*name.unescaped()).copied() } else { self.names.get(name.raw).copied() }
    }

    /// Appends rows without values. Columns are padded at their next value, so that the cost of a row depends on the
    /// members it has and not on those it lacks.
    pub(super) fn push_nulls(&mut self, count: usize) {
        self.rows += count;
    }

    /// Removes the rows behind `rows`.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.rows = self.rows.min(rows);
        for column in self.members.iter_mut().filter_map(|member| member.column.as_mut()) {
            if column.len() > rows {
                column.truncate(rows);
            }
        }
    }

    /// Returns the rows as an array of structs; all members must be projected.
    pub(super) fn finish(&mut self, rows: usize, nulls: Option<NullBuffer>) -> Result<StructArray> {
        let columns = self.finish_columns()?.into_iter().flatten().collect();
        StructArray::try_new_with_length(self.fields.clone(), columns, nulls, rows)
            .map_err(|error| Error::internal("events do not make a struct").with_source(error))
    }

    /// Returns the columns, `None` for those not projected, and removes all rows.
    pub(super) fn finish_columns(&mut self) -> Result<Vec<Option<ArrayRef>>> {
        let rows = std::mem::take(&mut self.rows);
        let finish = |column: &mut Column| {
            column.push_nulls(rows.saturating_sub(column.len()));
            column.finish()
        };
        self.members.iter_mut().map(|member| member.column.as_mut().map(finish).transpose()).collect()
    }
}
