//! Converts JSON values to their column's type without loss. The decoder rounds decimals, truncates integers, accepts
//! any number as a date and turns large numbers into infinities, so values of these types are decoded as text first.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, FixedSizeListArray, GenericListArray, MapArray, OffsetSizeTrait,
    StringArray, StructArray,
};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{CastOptions, cast_with_options, is_null};
use arrow::datatypes::{DataType, Field, FieldRef, Fields, Float64Type};

use salver_model::hexadecimal;

use super::super::declared_type;
use super::decimal;

/// Returns the type to request from the decoder.
pub(super) fn as_decoded(data_type: &DataType, is_declared: bool) -> DataType {
    let field = |field: &FieldRef| Arc::new(field_as_decoded(field, is_declared));
    match data_type {
        own if is_read_from_text(own, is_declared) => DataType::Utf8,
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        DataType::List(item) => DataType::List(field(item)),
        DataType::LargeList(item) => DataType::LargeList(field(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(field(item), *size),
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        other => other.clone(),
    }
}

/// Returns whether the decoder loses information for values of a type. It is exact for 64-bit floats, except that text
/// of a number out of range, which only a declared column accepts, becomes infinite; see [`exactly`].
fn is_read_from_text(data_type: &DataType, is_declared: bool) -> bool {
    use DataType::{Binary, Date32, Date64, Duration, Float16, Float32, Float64, Interval, Time32, Time64, Timestamp};
    data_type.is_integer()
        || (*data_type == Float64 && is_declared)
        || decimal::scale_of(data_type).is_some()
        || matches!(
            data_type,
            Float16
                | Float32
                | Date32
                | Date64
                | Timestamp(..)
                | Time32(_)
                | Time64(_)
                | Duration(_)
                | Interval(_)
                | Binary
        )
}

pub(super) fn field_as_decoded(field: &Field, is_declared: bool) -> Field {
    field.clone().with_data_type(as_decoded(field.data_type(), is_declared))
}

/// Converts what was decoded to the wanted type; `None` if a value does not fit. If a column `is_declared`, integers
/// may be written with a point or an exponent (`1.0`, `1e3`); otherwise these would have changed the column's inferred
/// type.
pub(super) fn exactly(decoded: &ArrayRef, wanted: &DataType, is_declared: bool) -> Option<ArrayRef> {
    if decoded.data_type() == wanted {
        // While inferring the schema, a number larger than any float is an error.
        let has_overflown = !is_declared
            && decoded
                .as_primitive_opt::<Float64Type>()
                .is_some_and(|floats| floats.values().iter().any(|f| f.is_infinite()));
        return (!has_overflown).then(|| Arc::clone(decoded));
    }
    let inner = |decoded: &ArrayRef, field: &FieldRef| exactly(decoded, field.data_type(), is_declared);
    Some(match (wanted, decoded.data_type()) {
        (own, DataType::Utf8) if own.is_integer() => whole(decoded.as_string(), own, is_declared)?,
        (DataType::Timestamp(..), DataType::Utf8) => {
            let texts = decoded.as_string();
            declared_type::from_text(texts, wanted).ok().or_else(|| counted(texts, wanted))?
        }
        // Hexadecimal text of odd length is invalid.
        (DataType::Binary, DataType::Utf8) => {
            let bytes = |text: Option<&str>| text.map(|text| hexadecimal::decode(text).ok_or(())).transpose();
            let all = decoded.as_string::<i32>().iter().map(bytes).collect::<Result<Vec<_>, ()>>().ok()?;
            Arc::new(all.iter().map(Option::as_deref).collect::<BinaryArray>())
        }
        (own, DataType::Utf8) if is_read_from_text(own, is_declared) => {
            declared_type::from_text(decoded.as_string(), own).ok()?
        }
        (DataType::Struct(fields), DataType::Struct(_)) => Arc::new(members(decoded.as_struct(), fields, is_declared)?),
        (DataType::List(item), DataType::List(_)) => Arc::new(items(decoded.as_list::<i32>(), item, &inner)?),
        (DataType::LargeList(item), DataType::LargeList(_)) => Arc::new(items(decoded.as_list::<i64>(), item, &inner)?),
        (DataType::FixedSizeList(item, size), DataType::FixedSizeList(..)) => {
            let (_, _, values, nulls) = decoded.as_fixed_size_list().clone().into_parts();
            Arc::new(FixedSizeListArray::try_new(Arc::clone(item), *size, inner(&values, item)?, nulls).ok()?)
        }
        (DataType::Map(field, sorted), DataType::Map(..)) => {
            let (_, offsets, entries, nulls, _) = decoded.as_map().clone().into_parts();
            let DataType::Struct(fields) = field.data_type() else { return None };
            let entries = members(&entries, fields, is_declared)?;
            Arc::new(MapArray::try_new(Arc::clone(field), offsets, entries, nulls, *sorted).ok()?)
        }
        _ => return None,
    })
}

fn items<O: OffsetSizeTrait>(
    list: &GenericListArray<O>,
    item: &FieldRef,
    inner: &dyn Fn(&ArrayRef, &FieldRef) -> Option<ArrayRef>,
) -> Option<GenericListArray<O>> {
    let (_, offsets, values, nulls) = list.clone().into_parts();
    GenericListArray::try_new(Arc::clone(item), offsets, inner(&values, item)?, nulls).ok()
}

fn members(decoded: &StructArray, fields: &Fields, is_declared: bool) -> Option<StructArray> {
    let (_, columns, nulls) = decoded.clone().into_parts();
    let own = columns.iter().zip(fields).map(|(column, field)| exactly(column, field.data_type(), is_declared));
    StructArray::try_new(fields.clone(), own.collect::<Option<_>>()?, nulls).ok()
}

/// Parses integers that are written as such, or with a fraction of zero.
fn whole(texts: &StringArray, data_type: &DataType, is_declared: bool) -> Option<ArrayRef> {
    let read = |texts: &StringArray| {
        let cast = cast_with_options(texts, data_type, &CastOptions { safe: true, ..CastOptions::default() }).ok()?;
        (cast.null_count() == texts.null_count()).then_some(cast)
    };
    read(texts).or_else(|| {
        // Without a declaration, only a negative zero may have a fraction.
        let is_read = |text: &str| is_declared || text.parse::<f64>().is_ok_and(|number| number == 0.0);
        let plain = |text| if is_read(text) { without_fraction(text) } else { Cow::Borrowed(text) };
        read(&texts.iter().map(|text| text.map(plain)).collect::<StringArray>())
    })
}

/// Parses timestamps, some of which are integers: counts of the type's unit since 1970.
fn counted(texts: &StringArray, wanted: &DataType) -> Option<ArrayRef> {
    let numbers =
        cast_with_options(texts, &DataType::Int64, &CastOptions { safe: true, ..CastOptions::default() }).ok()?;
    let is_other = |row: usize| numbers.is_null(row) && texts.is_valid(row);
    let rest: StringArray = (0..texts.len()).map(|row| is_other(row).then(|| texts.value(row))).collect();
    let moments = declared_type::from_text(&rest, wanted).ok()?;
    let counted = cast_with_options(&numbers, wanted, &CastOptions::default()).ok()?;
    zip(&is_null(&counted).ok()?, &moments, &counted).ok()
}

/// Rewrites `1.0` and `10e-1` as `1`; returns a number with a fraction unchanged.
fn without_fraction(text: &str) -> Cow<'_, str> {
    let whole = |text: &str| {
        let (whole, fraction) = text.split_once('.')?;
        fraction.bytes().all(|digit| digit == b'0').then(|| whole.to_owned())
    };
    let plain = decimal::without_exponent(text);
    match whole(&plain) {
        Some(whole) => Cow::Owned(whole),
        None => plain,
    }
}
