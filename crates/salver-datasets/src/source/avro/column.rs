//! Decodes the values of a column into Arrow arrays.

use std::mem::take;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, BooleanBufferBuilder, DictionaryArray, FixedSizeBinaryArray,
    Int32Array, IntervalMonthDayNanoArray, ListArray, MapArray, NullArray, NullBufferBuilder, PrimitiveArray,
    StringArray, StructArray, UnionArray, make_array,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowNativeType, ArrowPrimitiveType, DataType, Decimal128Type, Decimal256Type, FieldRef, Fields, Float32Type,
    Float64Type, Int32Type, Int64Type, IntervalMonthDayNano, UnionFields, i256,
};
use arrow::error::ArrowError;

use super::arrow_type;
use super::cursor::{Cursor, Fault, fault};
use super::number::{decimal128, decimal256, duration, uuid};
use super::schema::Type;

/// A column whose values are being read.
#[derive(Debug)]
pub(super) struct Column {
    values: Values,
    /// The type, as Arrow has it.
    data_type: DataType,
    /// How many values without a byte one of these has at most.
    width: u64,
}

#[derive(Debug)]
enum Values {
    Null(usize),
    Boolean(BooleanBufferBuilder),
    Int(Vec<i32>),
    Long(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Varying),
    String(Varying),
    /// Bytes of a fixed number, and how many values there are.
    Fixed(usize, Vec<u8>),
    EmptyFixed(Varying),
    Uuid(Varying),
    Decimal128(Option<usize>, Vec<i128>),
    Decimal256(Option<usize>, Vec<i256>),
    Duration(Vec<IntervalMonthDayNano>),
    Enum(Arc<[String]>, Vec<i32>),
    Array(FieldRef, Offsets, Box<Column>),
    Map(Fields, FieldRef, Offsets, Varying, Box<Column>),
    Record(Fields, Vec<Column>, usize),
    /// Whether null is the first type of the union, which values are not null, and the values.
    Nullable(bool, NullBufferBuilder, Box<Column>),
    Union(UnionFields, Vec<i8>, Vec<i32>, Vec<(Column, i32)>),
}

/// The ends of values of different lengths.
#[derive(Debug)]
struct Offsets(Vec<i32>);

impl Offsets {
    fn new() -> Self {
        Self(vec![0])
    }

    fn end_at(&mut self, end: usize) -> Result<(), Fault> {
        self.0.push(i32::try_from(end).map_err(|_| fault("a column has more than 2 GiB in few rows"))?);
        Ok(())
    }

    /// Ends a value where the one before ended.
    fn push_empty(&mut self) {
        self.0.push(self.0.last().copied().unwrap_or(0));
    }

    fn finish(&mut self) -> OffsetBuffer<i32> {
        OffsetBuffer::new(std::mem::replace(&mut self.0, vec![0]).into())
    }
}

/// Texts or bytes.
#[derive(Debug)]
struct Varying(Offsets, Vec<u8>);

impl Varying {
    fn new() -> Self {
        Self(Offsets::new(), Vec::new())
    }

    fn push(&mut self, value: &[u8]) -> Result<(), Fault> {
        self.1.extend_from_slice(value);
        self.0.end_at(self.1.len())
    }

    fn finish(&mut self) -> (OffsetBuffer<i32>, Buffer) {
        (self.0.finish(), take(&mut self.1).into())
    }

    fn texts(&mut self, nulls: Option<NullBuffer>) -> Result<StringArray, ArrowError> {
        let (offsets, bytes) = self.finish();
        StringArray::try_new(offsets, bytes, nulls)
    }
}

impl Column {
    /// Returns an empty column of a type.
    pub(super) fn new(of: &Type) -> Self {
        let (values, width) = match of {
            Type::Null => (Values::Null(0), 1),
            Type::Boolean => (Values::Boolean(BooleanBufferBuilder::new(0)), 1),
            Type::Int | Type::Date | Type::TimeMillis => (Values::Int(Vec::new()), 1),
            Type::Long | Type::TimeMicros | Type::Timestamp(..) => (Values::Long(Vec::new()), 1),
            Type::Float => (Values::Float(Vec::new()), 1),
            Type::Double => (Values::Double(Vec::new()), 1),
            Type::Bytes => (Values::Bytes(Varying::new()), 1),
            Type::String => (Values::String(Varying::new()), 1),
            Type::Uuid => (Values::Uuid(Varying::new()), 1),
            Type::Decimal(..) => (Values::decimal(of), 1),
            Type::Duration => (Values::Duration(Vec::new()), 1),
            Type::Fixed(0) => (Values::EmptyFixed(Varying::new()), 1),
            Type::Fixed(size) => (Values::Fixed(*size, Vec::new()), 1),
            Type::Enum(symbols) => (Values::Enum(Arc::clone(symbols), Vec::new()), 1),
            Type::Array(item) => (Values::Array(arrow_type::item(item), Offsets::new(), Box::new(Self::new(item))), 1),
            Type::Map(value) => {
                let (entry, entries) = (arrow_type::entry(value), arrow_type::entries(value));
                (Values::Map(entry, entries, Offsets::new(), Varying::new(), Box::new(Self::new(value))), 1)
            }
            Type::Record(columns) => {
                let parts: Vec<Self> = columns.iter().map(|(_, of)| Self::new(of)).collect();
                let width = parts.iter().map(|part| part.width).sum::<u64>().max(1);
                (Values::Record(arrow_type::fields(columns), parts, 0), width)
            }
            Type::Nullable(inner, null_first) => {
                (Values::Nullable(*null_first, NullBufferBuilder::new(0), Box::new(Self::new(inner))), 1)
            }
            Type::Union(branches) => {
                let parts = branches.iter().map(|(_, of)| (Self::new(of), 0)).collect();
                (Values::Union(arrow_type::branches(branches), Vec::new(), Vec::new(), parts), 1)
            }
        };
        Self { values, data_type: arrow_type::field("", of).data_type().clone(), width }
    }

    /// Returns how many values without a byte one of these has at most.
    pub(super) fn width(&self) -> u64 {
        self.width
    }

    /// Reads the next value. Returns an error if it is none of the type.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        match &mut self.values {
            Values::Null(count) => *count += 1,
            Values::Boolean(values) => match cursor.array::<1>()? {
                [byte @ (0 | 1)] => values.append(byte == 1),
                [byte] => return Err(fault(format!("`{byte}` is not a `boolean`"))),
            },
            Values::Int(values) => values.push(cursor.int()?),
            Values::Long(values) => values.push(cursor.long()?),
            Values::Float(values) => values.push(f32::from_le_bytes(cursor.array()?)),
            Values::Double(values) => values.push(f64::from_le_bytes(cursor.array()?)),
            Values::Bytes(values) | Values::String(values) => values.push(cursor.bytes()?)?,
            Values::Fixed(size, values) => values.extend_from_slice(cursor.take(*size)?),
            Values::EmptyFixed(values) => values.push(&[])?,
            Values::Uuid(values) => values.push(uuid(cursor.array()?).as_bytes())?,
            Values::Decimal128(size, values) => values.push(decimal128(sized(cursor, *size)?)?),
            Values::Decimal256(size, values) => values.push(decimal256(sized(cursor, *size)?)?),
            Values::Duration(values) => values.push(duration(cursor.array()?)?),
            Values::Enum(symbols, keys) => {
                let index = cursor.index(symbols.len(), "symbols of an enum")?;
                keys.push(i32::try_from(index).map_err(|_| fault("an enum has too many symbols"))?);
            }
            Values::Array(_, offsets, items) => {
                cursor.items(|cursor| items.read_counted(cursor))?;
                offsets.end_at(items.len())?;
            }
            Values::Map(_, _, offsets, keys, values) => {
                cursor.items(|cursor| {
                    keys.push(cursor.bytes()?)?;
                    values.read(cursor)
                })?;
                offsets.end_at(values.len())?;
            }
            Values::Record(_, columns, count) => {
                columns.iter_mut().try_for_each(|column| column.read(cursor))?;
                *count += 1;
            }
            Values::Nullable(null_first, valid, values) => {
                if (cursor.index(2, "types of a union")? == 0) == *null_first {
                    valid.append_null();
                    values.push_null()?;
                } else {
                    valid.append_non_null();
                    values.read(cursor)?;
                }
            }
            Values::Union(_, ids, offsets, branches) => {
                let index = cursor.index(branches.len(), "types of a union")?;
                let (branch, count) = &mut branches[index];
                branch.read(cursor)?;
                push_branch(ids, offsets, index, count)?;
            }
        }
        Ok(())
    }

    /// Reads the next value, and counts it if it takes no byte.
    pub(super) fn read_counted(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        let before = cursor.len();
        self.read(cursor)?;
        if cursor.len() == before { cursor.count_empty(self.width) } else { Ok(()) }
    }

    /// Adds a value that nobody sees, below a null.
    fn push_null(&mut self) -> Result<(), Fault> {
        match &mut self.values {
            Values::Null(count) => *count += 1,
            Values::Boolean(values) => values.append(false),
            Values::Int(values) | Values::Enum(_, values) => values.push(0),
            Values::Long(values) => values.push(0),
            Values::Float(values) => values.push(0.0),
            Values::Double(values) => values.push(0.0),
            Values::Bytes(values) | Values::String(values) | Values::EmptyFixed(values) | Values::Uuid(values) => {
                values.0.push_empty();
            }
            Values::Fixed(size, values) => values.resize(values.len() + *size, 0),
            Values::Decimal128(_, values) => values.push(0),
            Values::Decimal256(_, values) => values.push(i256::ZERO),
            Values::Duration(values) => values.push(IntervalMonthDayNano::ZERO),
            Values::Array(_, offsets, _) | Values::Map(_, _, offsets, _, _) => offsets.push_empty(),
            Values::Record(_, columns, count) => {
                columns.iter_mut().try_for_each(Self::push_null)?;
                *count += 1;
            }
            Values::Nullable(_, valid, values) => {
                valid.append_null();
                values.push_null()?;
            }
            Values::Union(_, ids, offsets, branches) => {
                if let Some((branch, count)) = branches.first_mut() {
                    branch.push_null()?;
                    push_branch(ids, offsets, 0, count)?;
                }
            }
        }
        Ok(())
    }

    fn len(&self) -> usize {
        match &self.values {
            Values::Null(count) | Values::Record(_, _, count) => *count,
            Values::Boolean(values) => values.len(),
            Values::Int(values) | Values::Enum(_, values) => values.len(),
            Values::Long(values) => values.len(),
            Values::Float(values) => values.len(),
            Values::Double(values) => values.len(),
            Values::Bytes(Varying(offsets, _))
            | Values::String(Varying(offsets, _))
            | Values::EmptyFixed(Varying(offsets, _))
            | Values::Uuid(Varying(offsets, _))
            | Values::Array(_, offsets, _)
            | Values::Map(_, _, offsets, _, _) => offsets.0.len() - 1,
            Values::Fixed(size, values) => values.len() / size,
            Values::Decimal128(_, values) => values.len(),
            Values::Decimal256(_, values) => values.len(),
            Values::Duration(values) => values.len(),
            Values::Nullable(_, _, values) => values.len(),
            Values::Union(_, ids, _, _) => ids.len(),
        }
    }

    /// Returns the values, and empties the column.
    pub(super) fn finish(&mut self) -> Result<ArrayRef, ArrowError> {
        self.finish_with(None)
    }

    fn finish_with(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, ArrowError> {
        let data_type = &self.data_type;
        Ok(match &mut self.values {
            Values::Null(count) => Arc::new(NullArray::new(take(count))),
            Values::Boolean(values) => Arc::new(BooleanArray::new(values.finish(), nulls)),
            Values::Int(values) => primitive::<Int32Type>(values, data_type, nulls)?,
            Values::Long(values) => primitive::<Int64Type>(values, data_type, nulls)?,
            Values::Float(values) => primitive::<Float32Type>(values, data_type, nulls)?,
            Values::Double(values) => primitive::<Float64Type>(values, data_type, nulls)?,
            Values::Bytes(values) | Values::EmptyFixed(values) => {
                let (offsets, bytes) = values.finish();
                Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?)
            }
            Values::String(values) | Values::Uuid(values) => Arc::new(values.texts(nulls)?),
            Values::Fixed(size, values) => {
                let size = i32::try_from(*size).map_err(|cause| ArrowError::ExternalError(Box::new(cause)))?;
                Arc::new(FixedSizeBinaryArray::try_new(size, take(values).into(), nulls)?)
            }
            Values::Decimal128(_, values) => primitive::<Decimal128Type>(values, data_type, nulls)?,
            Values::Decimal256(_, values) => primitive::<Decimal256Type>(values, data_type, nulls)?,
            Values::Duration(values) => Arc::new(IntervalMonthDayNanoArray::try_new(take(values).into(), nulls)?),
            Values::Enum(symbols, keys) => {
                let keys = Int32Array::try_new(take(keys).into(), nulls)?;
                let symbols = StringArray::from_iter_values(symbols.iter());
                Arc::new(DictionaryArray::try_new(keys, Arc::new(symbols))?)
            }
            Values::Array(item, offsets, items) => {
                Arc::new(ListArray::try_new(Arc::clone(item), offsets.finish(), items.finish()?, nulls)?)
            }
            Values::Map(entry, entries, offsets, keys, values) => {
                let columns: Vec<ArrayRef> = vec![Arc::new(keys.texts(None)?), values.finish()?];
                let pairs = StructArray::try_new(entry.clone(), columns, None)?;
                Arc::new(MapArray::try_new(Arc::clone(entries), offsets.finish(), pairs, nulls, false)?)
            }
            Values::Record(fields, columns, count) => {
                let columns = columns.iter_mut().map(Self::finish).collect::<Result<Vec<_>, _>>()?;
                Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, take(count))?)
            }
            Values::Nullable(_, valid, values) => values.finish_with(valid.finish())?,
            Values::Union(fields, ids, offsets, branches) => {
                let finished = |(branch, count): &mut (Self, i32)| {
                    *count = 0;
                    branch.finish()
                };
                let columns = branches.iter_mut().map(finished).collect::<Result<Vec<_>, _>>()?;
                let (ids, offsets) = (ScalarBuffer::from(take(ids)), ScalarBuffer::from(take(offsets)));
                Arc::new(UnionArray::try_new(fields.clone(), ids, Some(offsets), columns)?)
            }
        })
    }
}

impl Values {
    fn decimal(of: &Type) -> Self {
        match (arrow_type::field("", of).data_type(), of) {
            (DataType::Decimal256(..), Type::Decimal(_, _, size)) => Self::Decimal256(*size, Vec::new()),
            (_, Type::Decimal(_, _, size)) => Self::Decimal128(*size, Vec::new()),
            _ => Self::Null(0),
        }
    }
}

/// Takes the bytes of a decimal: as many as its type has, or as many as it says.
fn sized<'a>(cursor: &mut Cursor<'a>, size: Option<usize>) -> Result<&'a [u8], Fault> {
    match size {
        Some(size) => cursor.take(size),
        None => cursor.bytes(),
    }
}

/// Notes that the next value of a union is the last one of this type.
fn push_branch(ids: &mut Vec<i8>, offsets: &mut Vec<i32>, index: usize, count: &mut i32) -> Result<(), Fault> {
    ids.push(i8::try_from(index).map_err(|_| fault("a union has too many types"))?);
    offsets.push(*count);
    *count = count.checked_add(1).ok_or_else(|| fault("a column has too many values in few rows"))?;
    Ok(())
}

/// Makes an array of numbers under the type of what they mean.
fn primitive<T: ArrowPrimitiveType>(
    values: &mut Vec<T::Native>,
    data_type: &DataType,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError>
where
    T::Native: ArrowNativeType,
{
    let array = PrimitiveArray::<T>::try_new(take(values).into(), nulls)?;
    Ok(make_array(array.into_data().into_builder().data_type(data_type.clone()).build()?))
}
