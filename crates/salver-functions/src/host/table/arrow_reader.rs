//! Reads an Arrow stream into the few column types that R's vectors have. Nothing here uses R.

use std::collections::HashMap;
use std::panic;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BooleanArray, Float64Array, Int32Array, LargeBinaryArray, LargeStringArray, RecordBatch,
};
use arrow::buffer::Buffer;
use arrow::compute::{CastOptions, cast, cast_with_options, min};
use arrow::datatypes::{DataType, Field, Float64Type, Int32Type, Int64Type, SchemaRef, TimeUnit};
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;

use crate::host::value::MISSING;

/// Decoded stream.
#[derive(Debug)]
pub(in crate::host) struct ArrowTable {
    pub(super) rows: i32,
    pub(super) columns: Vec<ArrowColumn>,
}

/// Column of the table.
#[derive(Debug)]
pub(super) struct ArrowColumn {
    pub(super) name: String,
    pub(super) values: ArrowValues,
}

/// Values of a column, batch by batch.
#[derive(Debug)]
pub(super) enum ArrowValues {
    Logicals(Vec<BooleanArray>),
    /// Integers, none of which is the one that means missing.
    Integers(Vec<Int32Array>),
    Doubles(Vec<Float64Array>),
    Texts(Vec<LargeStringArray>),
    /// Index of each value among the levels, from one; and whether the levels are ordered.
    Factor(Vec<Int32Array>, Vec<String>, bool),
    /// Days since 1970.
    Dates(Vec<Float64Array>),
    /// Seconds since 1970, and the time zone for display.
    Times(Vec<Float64Array>, String),
    Bytes(Vec<LargeBinaryArray>),
}

/// Reason why bytes are not a table.
#[derive(Debug)]
pub(in crate::host) enum Fault {
    /// Out of memory.
    Memory,
    /// Malformed, with a description.
    Unfit(String),
}

impl From<ArrowError> for Fault {
    fn from(error: ArrowError) -> Self {
        Self::Unfit(format!("it can't be read as an Arrow stream: {error}"))
    }
}

/// Decodes a stream.
///
/// # Errors
/// Returns the problem with the stream, or the column whose type R has no vectors for.
pub(in crate::host) fn read(bytes: &[u8]) -> Result<ArrowTable, Fault> {
    // The reader needs its own memory, which is then aligned as well.
    let mut own = Vec::new();
    own.try_reserve_exact(bytes.len()).map_err(|_| Fault::Memory)?;
    own.extend_from_slice(bytes);
    // The reader panics on some invalid lengths and offsets.
    let (schema, batches) = panic::catch_unwind(|| batches(own))
        .unwrap_or_else(|_| Err(Fault::Unfit("it is a damaged Arrow stream".to_owned())))?;
    let rows = batches.iter().try_fold(0_usize, |rows, batch| rows.checked_add(batch.num_rows()));
    let rows = rows.and_then(|rows| i32::try_from(rows).ok());
    let rows = rows.ok_or_else(|| Fault::Unfit("it has more rows than a data frame".to_owned()))?;
    let columns = schema.fields().iter().enumerate().map(|(index, field)| {
        let parts: Vec<ArrayRef> = batches.iter().map(|batch| Arc::clone(batch.column(index))).collect();
        Ok(ArrowColumn { name: field.name().replace('\0', ""), values: values(field, field.data_type(), &parts)? })
    });
    Ok(ArrowTable { rows, columns: columns.collect::<Result<_, Fault>>()? })
}

fn batches(bytes: Vec<u8>) -> Result<(SchemaRef, Vec<RecordBatch>), Fault> {
    let (mut decoder, mut rest) = (StreamDecoder::new(), Buffer::from_vec(bytes));
    let mut batches = Vec::new();
    while !rest.is_empty() {
        batches.extend(decoder.decode(&mut rest)?);
    }
    decoder.finish()?;
    let schema = decoder.schema().ok_or_else(|| Fault::Unfit("it is an Arrow stream without a schema".to_owned()))?;
    Ok((schema, batches))
}

/// Converts the column `field`, whose chunks have this type.
fn values(field: &Field, data_type: &DataType, parts: &[ArrayRef]) -> Result<ArrowValues, Fault> {
    Ok(match data_type {
        DataType::Null | DataType::Boolean => {
            ArrowValues::Logicals(as_type(parts, &DataType::Boolean, |part| part.as_boolean().clone())?)
        }
        data_type if data_type.is_integer() => whole_numbers(parts)?,
        data_type if data_type.is_floating() || data_type.is_decimal() => ArrowValues::Doubles(doubles(parts)?),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ArrowValues::Texts(texts(field, parts)?),
        DataType::Dictionary(_, value) if value.is_string() => factor(field, parts)?,
        DataType::Dictionary(_, value) => {
            let parts: Result<Vec<_>, _> = parts.iter().map(|part| cast(part, value)).collect();
            values(field, value, &parts?)?
        }
        DataType::Date32 | DataType::Date64 => {
            let days: Result<Vec<_>, _> = parts.iter().map(|part| cast(part, &DataType::Date32)).collect();
            let days = as_type(&days?, &DataType::Int32, |part| {
                part.as_primitive::<Int32Type>().unary::<_, Float64Type>(f64::from)
            });
            ArrowValues::Dates(days?)
        }
        DataType::Timestamp(unit, zone) => ArrowValues::Times(times(parts, *unit)?, shown_in(zone.as_deref())),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            ArrowValues::Bytes(as_type(parts, &DataType::LargeBinary, |part| part.as_binary::<i64>().clone())?)
        }
        other => {
            let message = format!("R has no vectors for the column `{}`, whose type is {other}", field.name());
            return Err(Fault::Unfit(message));
        }
    })
}

/// Casts the chunks to one of the supported types.
fn as_type<T>(parts: &[ArrayRef], wanted: &DataType, read: impl Fn(&ArrayRef) -> T) -> Result<Vec<T>, Fault> {
    parts.iter().map(|part| Ok(read(&cast(part, wanted)?))).collect()
}

/// Converts integers, to R's if these hold all of them, else to doubles.
fn whole_numbers(parts: &[ArrayRef]) -> Result<ArrowValues, Fault> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let integers: Result<Vec<Int32Array>, ArrowError> = parts
        .iter()
        .map(|part| Ok(cast_with_options(part, &DataType::Int32, &strict)?.as_primitive::<Int32Type>().clone()))
        .collect();
    match integers {
        Ok(integers) if integers.iter().all(|part| min(part) != Some(MISSING)) => Ok(ArrowValues::Integers(integers)),
        _ => Ok(ArrowValues::Doubles(doubles(parts)?)),
    }
}

fn doubles(parts: &[ArrayRef]) -> Result<Vec<Float64Array>, Fault> {
    as_type(parts, &DataType::Float64, |part| part.as_primitive::<Float64Type>().clone())
}

/// Converts texts, which must not contain a zero byte.
fn texts(field: &Field, parts: &[ArrayRef]) -> Result<Vec<LargeStringArray>, Fault> {
    let texts = as_type(parts, &DataType::LargeUtf8, |part| part.as_string::<i64>().clone())?;
    // Check all bytes at once first, since there is almost never one.
    let has_zero = |part: &LargeStringArray| {
        part.value_data().contains(&0) && part.iter().flatten().any(|text| text.as_bytes().contains(&0))
    };
    if texts.iter().any(has_zero) {
        let message = format!("a text in the column `{}` has a zero byte, which R does not allow", field.name());
        return Err(Fault::Unfit(message));
    }
    Ok(texts)
}

/// Converts a dictionary to levels, merged over all batches: each may have its own dictionary.
fn factor(field: &Field, parts: &[ArrayRef]) -> Result<ArrowValues, Fault> {
    let (mut levels, mut numbers) = (Vec::new(), HashMap::new());
    let mut codes = Vec::with_capacity(parts.len());
    for part in parts {
        let dictionary = part.as_any_dictionary();
        let own = texts(field, &[Arc::clone(dictionary.values())])?;
        let own: Vec<Option<i32>> = own[0]
            .iter()
            .map(|text| {
                let text = text?;
                let next = i32::try_from(levels.len()).ok()? + 1;
                Some(*numbers.entry(text.to_owned()).or_insert_with(|| {
                    levels.push(text.to_owned());
                    next
                }))
            })
            .collect();
        let keys = cast(dictionary.keys(), &DataType::Int64)?;
        let code = |key: Option<i64>| own.get(usize::try_from(key?).ok()?).copied().flatten();
        codes.push(keys.as_primitive::<Int64Type>().iter().map(code).collect());
    }
    Ok(ArrowValues::Factor(codes, levels, field.dict_is_ordered().unwrap_or_default()))
}

fn times(parts: &[ArrayRef], unit: TimeUnit) -> Result<Vec<Float64Array>, Fault> {
    let in_second = match unit {
        TimeUnit::Second => 1.0,
        TimeUnit::Millisecond => 1e3,
        TimeUnit::Microsecond => 1e6,
        TimeUnit::Nanosecond => 1e9,
    };
    as_type(parts, &DataType::Int64, |part| {
        #[expect(clippy::cast_precision_loss, reason = "R's times are doubles")]
        part.as_primitive::<Int64Type>().unary::<_, Float64Type>(|time| time as f64 / in_second)
    })
}

/// Returns the time zone for display in R, which supports names but no offsets.
fn shown_in(zone: Option<&str>) -> String {
    zone.filter(|zone| !zone.starts_with(['+', '-']) && !zone.contains('\0')).unwrap_or("UTC").to_owned()
}
