//! Columns of a database as columns of Arrow.

use arrow::datatypes::{DataType, Field, TimeUnit};
use salver_model::records::{ColumnInfo, ColumnKind};

use crate::dialect::Dialect;

/// The Arrow field of a column. SQLite holds what was put in, so that its dates are text, its decimals floats and its
/// integers of any size.
pub(super) fn field(column: &ColumnInfo, dialect: Dialect) -> Field {
    Field::new(&column.name, data_type(column, dialect), true)
}

fn data_type(column: &ColumnInfo, dialect: Dialect) -> DataType {
    let sqlite = dialect == Dialect::Sqlite;
    match column.kind {
        ColumnKind::Boolean => DataType::Boolean,
        ColumnKind::Integer if !sqlite => DataType::Int32,
        ColumnKind::BigInt if column.native.contains("unsigned") && column.native.starts_with("bigint") => {
            DataType::UInt64
        }
        ColumnKind::Integer | ColumnKind::BigInt => DataType::Int64,
        ColumnKind::Float if !sqlite => DataType::Float32,
        ColumnKind::Float | ColumnKind::Double => DataType::Float64,
        ColumnKind::Decimal if sqlite => DataType::Float64,
        ColumnKind::Decimal => decimal(column),
        ColumnKind::Date if !sqlite => DataType::Date32,
        ColumnKind::Timestamp if !sqlite => DataType::Timestamp(TimeUnit::Microsecond, None),
        ColumnKind::Varbinary | ColumnKind::Blob => DataType::Binary,
        ColumnKind::Varchar
        | ColumnKind::Clob
        | ColumnKind::Date
        | ColumnKind::Time
        | ColumnKind::Timestamp
        | ColumnKind::Geometry
        | ColumnKind::Json
        | ColumnKind::Uuid => DataType::Utf8,
    }
}

/// Without a declared precision any number of digits may come, which only text can hold exactly.
fn decimal(column: &ColumnInfo) -> DataType {
    match (column.precision.map(u8::try_from), column.scale.map(i8::try_from)) {
        (Some(Ok(precision @ 1..=38)), Some(Ok(scale))) if i16::from(scale) <= i16::from(precision) => {
            DataType::Decimal128(precision, scale)
        }
        _ => DataType::Utf8,
    }
}

/// The kind the driver is asked to hand a column of this type over as.
pub(super) fn kind(data_type: &DataType) -> ColumnKind {
    match data_type {
        DataType::Boolean => ColumnKind::Boolean,
        DataType::Int32 => ColumnKind::Integer,
        DataType::Int64 | DataType::UInt64 => ColumnKind::BigInt,
        DataType::Float32 => ColumnKind::Float,
        DataType::Float64 => ColumnKind::Double,
        DataType::Decimal128(..) => ColumnKind::Decimal,
        DataType::Date32 => ColumnKind::Date,
        DataType::Timestamp(..) => ColumnKind::Timestamp,
        DataType::Binary => ColumnKind::Blob,
        _ => ColumnKind::Clob,
    }
}
