//! Numbers of JSON as their column has them, or not at all. The decoder rounds decimals and cuts whole numbers, so both
//! come from it as the text that was written.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, FixedSizeListArray, GenericListArray, MapArray, OffsetSizeTrait, StringArray, StructArray,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Field, FieldRef, Fields};

use super::decimal;

/// The type as the decoder is asked for it.
pub(super) fn as_decoded(data_type: &DataType) -> DataType {
    let field = |field: &FieldRef| Arc::new(field_as_decoded(field));
    match data_type {
        own if own.is_integer() || decimal::scale_of(own).is_some() => DataType::Utf8,
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(field).collect()),
        DataType::List(item) => DataType::List(field(item)),
        DataType::LargeList(item) => DataType::LargeList(field(item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(field(item), *size),
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        other => other.clone(),
    }
}

pub(super) fn field_as_decoded(field: &Field) -> Field {
    field.clone().with_data_type(as_decoded(field.data_type()))
}

/// What was decoded as the type that is wanted; nothing where a value does not fit. Where a column `is_declared` whole
/// numbers may be written with a point or an exponent (`1.0`, `1e3`); else these would have made another column of it.
pub(super) fn exactly(decoded: &ArrayRef, wanted: &DataType, is_declared: bool) -> Option<ArrayRef> {
    if decoded.data_type() == wanted {
        return Some(Arc::clone(decoded));
    }
    let inner = |decoded: &ArrayRef, field: &FieldRef| exactly(decoded, field.data_type(), is_declared);
    Some(match (wanted, decoded.data_type()) {
        (own, DataType::Utf8) if own.is_integer() => whole(decoded.as_string(), own, is_declared)?,
        (own, DataType::Utf8) if decimal::scale_of(own).is_some() => {
            decimal::decimals(decoded.as_string(), own).ok()?
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

/// Whole numbers that are written as such, or whose fraction is nought.
fn whole(texts: &StringArray, data_type: &DataType, is_declared: bool) -> Option<ArrayRef> {
    let read = |texts: &StringArray| {
        let cast = cast_with_options(texts, data_type, &CastOptions { safe: true, ..CastOptions::default() }).ok()?;
        (cast.null_count() == texts.null_count()).then_some(cast)
    };
    read(texts).or_else(|| {
        let plain = || texts.iter().map(|text| text.map(without_fraction)).collect::<StringArray>();
        if is_declared { read(&plain()) } else { None }
    })
}

/// `1.0` and `10e-1` as `1`; what has a fraction as it is.
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
