//! Maps columns of a database to Arrow columns.

use arrow::datatypes::{DataType, Field, TimeUnit};
use salver_model::decimal::UNDECLARED_DECIMAL;
use salver_model::records::{ColumnInfo, ColumnKind};

use super::compare::Peculiar;
use crate::dialect::{self, Dialect};

/// Returns the Arrow field of a column. SQLite stores any value as it is, so that its dates are text, its decimals
/// floats and its integers of any size.
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
        ColumnKind::BigInt if column.native == "bit(64)" && !sqlite => DataType::UInt64,
        ColumnKind::Integer | ColumnKind::BigInt => DataType::Int64,
        ColumnKind::Float if !sqlite => DataType::Float32,
        ColumnKind::Float | ColumnKind::Double => DataType::Float64,
        ColumnKind::Decimal if sqlite => DataType::Float64,
        ColumnKind::Decimal => decimal(column),
        ColumnKind::Date if !sqlite => DataType::Date32,
        // Sessions are in UTC, in which moments come out.
        ColumnKind::Timestamp if is_moment(column, dialect) => {
            DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
        }
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

/// Returns whether the values of a column are points in time, and not local times.
fn is_moment(column: &ColumnInfo, dialect: Dialect) -> bool {
    dialect.has_zone(column) || dialect == Dialect::Mysql && column.own_type().starts_with("timestamp")
}

/// Returns the type of a decimal. Without a declared precision any number of digits may come: the widest decimal covers
/// those in use.
fn decimal(column: &ColumnInfo) -> DataType {
    let (Some(precision), Some(scale)) = (column.precision, column.scale) else { return UNDECLARED_DECIMAL };
    // PostgreSQL allows a scale larger than the precision.
    match (u8::try_from(precision.max(scale)), i8::try_from(scale)) {
        (Ok(precision @ 1..=38), Ok(scale)) => DataType::Decimal128(precision, scale),
        (Ok(precision @ 39..=76), Ok(scale)) => DataType::Decimal256(precision, scale),
        (_, Ok(scale @ 0..=38)) => DataType::Decimal256(76, scale),
        _ => UNDECLARED_DECIMAL,
    }
}

/// Returns whether SQLite makes numbers of texts in the column. Dates are left as the database orders them: a column
/// of dates that are numbers has the order of the numbers.
pub(super) fn makes_numbers(dialect: Dialect, column: &ColumnInfo) -> bool {
    let is_text = matches!(
        column.kind,
        ColumnKind::Varchar | ColumnKind::Clob | ColumnKind::Json | ColumnKind::Uuid | ColumnKind::Geometry
    );
    dialect == Dialect::Sqlite && is_text && dialect::makes_numbers(&column.native)
}

/// Returns what is peculiar to values that are compared with a column.
pub(super) fn peculiar(dialect: Dialect, column: &ColumnInfo) -> Option<Peculiar> {
    let is_date = matches!(column.kind, ColumnKind::Date | ColumnKind::Time | ColumnKind::Timestamp);
    match dialect {
        Dialect::Sqlite => (is_date && dialect::makes_numbers(&column.native)).then_some(Peculiar::Date),
        Dialect::Postgres => (column.own_type() == "oid").then_some(Peculiar::ObjectIdentifier),
        Dialect::Mysql => dialect.is_year(column).then_some(Peculiar::Year),
    }
}

/// Returns the type of a sum over a decimal column, which has more digits before the point.
pub(super) fn sum_of_decimals(dialect: Dialect, precision: u8, scale: i8) -> DataType {
    match precision {
        0..=28 => DataType::Decimal128(38, scale),
        _ if dialect == Dialect::Mysql => DataType::Decimal256(65, scale),
        _ => DataType::Decimal256(76, scale),
    }
}

/// Returns the kind in which the driver returns a column of this type.
pub(super) fn kind(data_type: &DataType) -> ColumnKind {
    match data_type {
        DataType::Boolean => ColumnKind::Boolean,
        DataType::Int32 => ColumnKind::Integer,
        DataType::Int64 | DataType::UInt64 => ColumnKind::BigInt,
        DataType::Float32 => ColumnKind::Float,
        DataType::Float64 => ColumnKind::Double,
        DataType::Decimal128(..) | DataType::Decimal256(..) => ColumnKind::Decimal,
        DataType::Date32 => ColumnKind::Date,
        DataType::Timestamp(..) => ColumnKind::Timestamp,
        DataType::Binary => ColumnKind::Blob,
        _ => ColumnKind::Clob,
    }
}
