//! The Arrow types of Avro's.

use std::sync::Arc;

use arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DataType, Field, FieldRef, Fields, IntervalUnit, TimeUnit, UnionFields, UnionMode,
};

use super::schema::Type;

/// Returns the column of a type.
pub(super) fn field(name: &str, of: &Type) -> Field {
    let is_nullable = match of {
        Type::Null | Type::Nullable(..) => true,
        Type::Union(branches) => branches.iter().any(|(_, branch)| *branch == Type::Null),
        _ => false,
    };
    Field::new(name, data_type(of), is_nullable)
}

/// Returns the fields of a record.
pub(super) fn fields(columns: &[(String, Type)]) -> Fields {
    columns.iter().map(|(name, of)| field(name, of)).collect()
}

/// Returns the item of an array.
pub(super) fn item(of: &Type) -> FieldRef {
    Arc::new(field(Field::LIST_FIELD_DEFAULT_NAME, of))
}

/// Returns the key and the value of a map.
pub(super) fn entry(of: &Type) -> Fields {
    Fields::from(vec![Field::new("key", DataType::Utf8, false), field("value", of)])
}

/// Returns the entries of a map.
pub(super) fn entries(of: &Type) -> FieldRef {
    Arc::new(Field::new("entries", DataType::Struct(entry(of)), false))
}

/// Returns the types of a union, which are at most 127.
pub(super) fn branches(branches: &[(String, Type)]) -> UnionFields {
    let fields = branches.iter().map(|(name, of)| Arc::new(Field::new(name, data_type(of), false)));
    (0..=i8::MAX).zip(fields).collect()
}

fn data_type(of: &Type) -> DataType {
    match of {
        Type::Null => DataType::Null,
        Type::Boolean => DataType::Boolean,
        Type::Int => DataType::Int32,
        Type::Long => DataType::Int64,
        Type::Float => DataType::Float32,
        Type::Double => DataType::Float64,
        // Arrow can't count the values of a fixed size of no bytes.
        Type::Bytes | Type::Fixed(0) => DataType::Binary,
        Type::String | Type::Uuid => DataType::Utf8,
        Type::Date => DataType::Date32,
        Type::TimeMillis => DataType::Time32(TimeUnit::Millisecond),
        Type::TimeMicros => DataType::Time64(TimeUnit::Microsecond),
        Type::Timestamp(unit, is_instant) => DataType::Timestamp(*unit, is_instant.then(|| "+00:00".into())),
        Type::Decimal(precision, scale, _) if *precision <= DECIMAL128_MAX_PRECISION => {
            DataType::Decimal128(*precision, *scale)
        }
        Type::Decimal(precision, scale, _) => DataType::Decimal256(*precision, *scale),
        Type::Duration => DataType::Interval(IntervalUnit::MonthDayNano),
        Type::Fixed(size) => DataType::FixedSizeBinary(i32::try_from(*size).unwrap_or(i32::MAX)),
        Type::Enum(_) => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        Type::Array(of) => DataType::List(item(of)),
        Type::Map(of) => DataType::Map(entries(of), false),
        Type::Record(columns) => DataType::Struct(fields(columns)),
        Type::Nullable(of, _) => data_type(of),
        Type::Union(types) => DataType::Union(branches(types), UnionMode::Dense),
    }
}
