//! Resolves an array to a [`Column`].

use arrow::array::{Array, ArrowPrimitiveType, AsArray};
use arrow::datatypes::*;
use salver_model::decimal::UNDECLARED_DECIMAL;
use salver_model::{Code, Error, Result};

use super::indirect::{Dictionary, Runs, Union};
use super::nested::{List, Map, Struct};
use super::{Cells, Column, Dialect};
use crate::calendar::Zone;

impl<'a> Column<'a> {
    /// Resolves a column of which about `rows` cells will be written. The number decides whether the values of a
    /// dictionary are written once in advance.
    ///
    /// # Errors
    /// `Execution` if a timestamp's zone does not exist.
    pub(crate) fn resolve(array: &'a dyn Array, dialect: Dialect, rows: usize) -> Result<Self> {
        let cells = cells(array, dialect, rows)?;
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        let indirect = matches!(cells, Cells::Null | Cells::Dictionary(_) | Cells::Runs(_) | Cells::Union(_));
        Ok(Self { full: nulls.is_none() && !indirect, nulls, cells })
    }
}

fn values<T: ArrowPrimitiveType>(array: &dyn Array) -> &[T::Native] {
    array.as_primitive::<T>().values()
}

fn cells<'a>(array: &'a dyn Array, dialect: Dialect, rows: usize) -> Result<Cells<'a>> {
    use DataType as D;
    Ok(match array.data_type() {
        D::Null => Cells::Null,
        D::Boolean => Cells::Bool(array.as_boolean().values()),
        D::Int8 => Cells::Int8(values::<Int8Type>(array)),
        D::Int16 => Cells::Int16(values::<Int16Type>(array)),
        D::Int32 => Cells::Int32(values::<Int32Type>(array)),
        D::Int64 => Cells::Int64(values::<Int64Type>(array)),
        D::UInt8 => Cells::UInt8(values::<UInt8Type>(array)),
        D::UInt16 => Cells::UInt16(values::<UInt16Type>(array)),
        D::UInt32 => Cells::UInt32(values::<UInt32Type>(array)),
        D::UInt64 => Cells::UInt64(values::<UInt64Type>(array)),
        D::Float16 => Cells::Float16(values::<Float16Type>(array)),
        D::Float32 => Cells::Float32(values::<Float32Type>(array)),
        D::Float64 => Cells::Float64(values::<Float64Type>(array)),
        D::Decimal32(_, scale) => Cells::Decimal32(values::<Decimal32Type>(array), *scale),
        D::Decimal64(_, scale) => Cells::Decimal64(values::<Decimal64Type>(array), *scale),
        D::Decimal128(_, scale) => Cells::Decimal128(values::<Decimal128Type>(array), *scale),
        D::Decimal256(_, scale) if *array.data_type() == UNDECLARED_DECIMAL => {
            Cells::FreeDecimal(values::<Decimal256Type>(array), *scale)
        }
        D::Decimal256(_, scale) => Cells::Decimal256(values::<Decimal256Type>(array), *scale),
        D::Utf8 => Cells::Text(array.as_string()),
        D::LargeUtf8 => Cells::LargeText(array.as_string()),
        D::Utf8View => Cells::TextView(array.as_string_view()),
        D::Binary => Cells::Binary(array.as_binary()),
        D::LargeBinary => Cells::LargeBinary(array.as_binary()),
        D::BinaryView => Cells::BinaryView(array.as_binary_view()),
        D::FixedSizeBinary(_) => Cells::FixedBinary(array.as_fixed_size_binary()),
        D::Struct(_) => Cells::Struct(Box::new(Struct::resolve(array.as_struct(), dialect, rows)?)),
        D::Map(..) => Cells::Map(Box::new(Map::resolve(array.as_map(), dialect)?)),
        D::Dictionary(..) => {
            Cells::Dictionary(Box::new(Dictionary::resolve(array.as_any_dictionary(), dialect, rows)?))
        }
        D::RunEndEncoded(..) => Cells::Runs(Box::new(Runs::resolve(array, dialect, rows)?)),
        D::Union(..) => Cells::Union(Box::new(Union::resolve(array.as_union(), dialect, rows)?)),
        D::List(_) | D::LargeList(_) | D::ListView(_) | D::LargeListView(_) | D::FixedSizeList(..) => {
            Cells::List(Box::new(List::resolve(array, dialect)?))
        }
        temporal => temporal_cells(array, temporal)?,
    })
}

fn temporal_cells<'a>(array: &'a dyn Array, data_type: &DataType) -> Result<Cells<'a>> {
    use DataType as D;
    Ok(match data_type {
        D::Date32 => Cells::Date32(values::<Date32Type>(array)),
        D::Date64 => Cells::Date64(values::<Date64Type>(array)),
        D::Time32(unit @ TimeUnit::Second) => Cells::Time32(values::<Time32SecondType>(array), *unit),
        D::Time32(unit) => Cells::Time32(values::<Time32MillisecondType>(array), *unit),
        D::Time64(unit @ TimeUnit::Microsecond) => Cells::Time64(values::<Time64MicrosecondType>(array), *unit),
        D::Time64(unit) => Cells::Time64(values::<Time64NanosecondType>(array), *unit),
        D::Timestamp(unit, zone) => {
            let zone = Zone::parse(zone.as_deref()).map_err(|cause| {
                Error::new(Code::Execution, format!("there is no time zone `{}`", zone.as_deref().unwrap_or_default()))
                    .with_hint("cast the column to another zone, or to a timestamp without one")
                    .with_source(cause)
            })?;
            Cells::Timestamp(timestamps(array, *unit), *unit, zone)
        }
        D::Duration(unit) => Cells::Duration(durations(array, *unit), *unit),
        D::Interval(IntervalUnit::YearMonth) => Cells::YearMonth(values::<IntervalYearMonthType>(array)),
        D::Interval(IntervalUnit::DayTime) => Cells::DayTime(values::<IntervalDayTimeType>(array)),
        D::Interval(IntervalUnit::MonthDayNano) => Cells::MonthDayNano(values::<IntervalMonthDayNanoType>(array)),
        other => return Err(Error::internal(format!("no encoder knows the type {other}"))),
    })
}

fn timestamps(array: &dyn Array, unit: TimeUnit) -> &[i64] {
    match unit {
        TimeUnit::Second => values::<TimestampSecondType>(array),
        TimeUnit::Millisecond => values::<TimestampMillisecondType>(array),
        TimeUnit::Microsecond => values::<TimestampMicrosecondType>(array),
        TimeUnit::Nanosecond => values::<TimestampNanosecondType>(array),
    }
}

fn durations(array: &dyn Array, unit: TimeUnit) -> &[i64] {
    match unit {
        TimeUnit::Second => values::<DurationSecondType>(array),
        TimeUnit::Millisecond => values::<DurationMillisecondType>(array),
        TimeUnit::Microsecond => values::<DurationMicrosecondType>(array),
        TimeUnit::Nanosecond => values::<DurationNanosecondType>(array),
    }
}
