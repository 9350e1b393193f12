//! Merges types and schemas into those that hold the values of both.

use std::sync::Arc;

use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Field, Fields, Schema, TimeUnit};

/// Returns the type that holds the values of both; `None` if there is none. With `text`, it falls back to text: where
/// types were inferred from text, text is always correct.
fn merge_types(a: &DataType, b: &DataType, text: bool) -> Option<DataType> {
    use DataType::{Date32, Date64, Decimal128, Float64, List, Null, Struct, Timestamp, Utf8};
    let merged = match (a, b) {
        (a, b) if a == b => Some(a.clone()),
        (Null, other) | (other, Null) => Some(other.clone()),
        (a, b) if a.is_integer() && b.is_integer() => merge_integers(a, b),
        (Decimal128(precision, scale), other) | (other, Decimal128(precision, scale))
            if other.is_integer() && (0..=18).contains(scale) =>
        {
            // 64-bit integers have up to twenty digits before the decimal point.
            Some(Decimal128((*precision).max(20 + scale.unsigned_abs()), *scale))
        }
        (a, b) if a.is_decimal() && b.is_decimal() => merge_decimals(a, b),
        (a, b) if a.is_numeric() && b.is_numeric() && (a.is_floating() || b.is_floating()) => Some(Float64),
        (Timestamp(a, x), Timestamp(b, y)) if x == y => Some(Timestamp(*a.max(b), x.clone())),
        (Date32 | Date64, Timestamp(unit, None)) | (Timestamp(unit, None), Date32 | Date64) => {
            Some(Timestamp(*unit.max(&TimeUnit::Microsecond), None))
        }
        (Date32, Date64) | (Date64, Date32) => Some(Date64),
        (Struct(a), Struct(b)) => merge_fields(a, b, text).map(Struct),
        (List(a), List(b)) => merge_types(a.data_type(), b.data_type(), text)
            .map(|item| List(Arc::new(Field::new(a.name(), item, a.is_nullable() || b.is_nullable())))),
        // Text, bytes and lists have several encodings that hold the same values.
        (a, b) if plain(a) != *a || plain(b) != *b => merge_types(&plain(a), &plain(b), false),
        _ => None,
    };
    merged.or_else(|| text.then_some(Utf8))
}

/// Returns the decimal with the digits before and behind the point of both; `None` if there is no type with so many.
fn merge_decimals(a: &DataType, b: &DataType) -> Option<DataType> {
    let (a, b) = (digits(a)?, digits(b)?);
    let (whole, scale) = (a.0.max(b.0), a.1.max(b.1));
    let precision = u8::try_from(whole + i16::from(scale)).ok()?.max(1);
    if precision <= DECIMAL128_MAX_PRECISION {
        Some(DataType::Decimal128(precision, scale))
    } else {
        (precision <= DECIMAL256_MAX_PRECISION).then_some(DataType::Decimal256(precision, scale))
    }
}

/// Returns how many digits a decimal has before the point, and behind it.
fn digits(of: &DataType) -> Option<(i16, i8)> {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256};
    match of {
        Decimal32(precision, scale)
        | Decimal64(precision, scale)
        | Decimal128(precision, scale)
        | Decimal256(precision, scale) => Some((i16::from(*precision) - i16::from(*scale), *scale)),
        _ => None,
    }
}

fn merge_integers(a: &DataType, b: &DataType) -> Option<DataType> {
    let bits = |data_type: &DataType| data_type.primitive_width().unwrap_or(8) * 8;
    if a.is_unsigned_integer() == b.is_unsigned_integer() {
        return Some(if bits(a) >= bits(b) { a.clone() } else { b.clone() });
    }
    let (unsigned, signed) = if a.is_unsigned_integer() { (a, b) } else { (b, a) };
    Some(match bits(unsigned) {
        8 if bits(signed) < 16 => DataType::Int16,
        16 if bits(signed) < 32 => DataType::Int32,
        32 if bits(signed) < 64 => DataType::Int64,
        // A float would round 64-bit integers.
        64 => DataType::Decimal128(20, 0),
        _ => signed.clone(),
    })
}

fn merge_fields(a: &Fields, b: &Fields, text: bool) -> Option<Fields> {
    let mut fields: Vec<Arc<Field>> = Vec::with_capacity(a.len());
    for left in a {
        let Some((_, right)) = b.find(left.name()) else {
            fields.push(Arc::new(left.as_ref().clone().with_nullable(true)));
            continue;
        };
        let merged = merge_types(left.data_type(), right.data_type(), text)?;
        fields.push(Arc::new(Field::new(left.name(), merged, left.is_nullable() || right.is_nullable())));
    }
    for right in b {
        if a.find(right.name()).is_none() {
            fields.push(Arc::new(right.as_ref().clone().with_nullable(true)));
        }
    }
    Some(fields.into())
}

/// Merges the columns of both by name, in order of first appearance.
///
/// # Errors
/// The name of the first column whose types can't be merged, and the two types.
pub(crate) fn merge_schemas(a: &Schema, b: &Schema, text: bool) -> Result<Schema, (String, DataType, DataType)> {
    for left in a.fields() {
        if let Some((_, right)) = b.fields().find(left.name())
            && merge_types(left.data_type(), right.data_type(), text).is_none()
        {
            return Err((left.name().clone(), left.data_type().clone(), right.data_type().clone()));
        }
    }
    let fields = merge_fields(a.fields(), b.fields(), text).unwrap_or_default();
    Ok(Schema::new(fields))
}

/// Returns the type that a column is stored with: one encoding each for text and bytes, and no dictionaries, so that
/// code over resident rows handles few types. Columns with only nulls are text.
pub(crate) fn plain(data_type: &DataType) -> DataType {
    use DataType::{
        Binary, BinaryView, Dictionary, FixedSizeBinary, FixedSizeList, LargeBinary, LargeList, LargeListView,
        LargeUtf8, List, ListView, Null, RunEndEncoded, Struct, Utf8, Utf8View,
    };
    let item = |field: &Arc<Field>| Arc::new(Field::new(field.name(), plain(field.data_type()), field.is_nullable()));
    match data_type {
        Null | LargeUtf8 | Utf8View => Utf8,
        // The values of a fixed size of no bytes can't be written as Parquet, nor counted by everything.
        LargeBinary | BinaryView | FixedSizeBinary(0) => Binary,
        Dictionary(_, value) => plain(value),
        RunEndEncoded(_, value) => plain(value.data_type()),
        List(field) | LargeList(field) | ListView(field) | LargeListView(field) => List(item(field)),
        FixedSizeList(field, size) => FixedSizeList(item(field), *size),
        Struct(fields) => Struct(fields.iter().map(item).collect()),
        other => other.clone(),
    }
}

/// Returns whether `held` has exactly the columns of `own`, with the types they are stored with, and is nullable where
/// `own` is.
pub(crate) fn is_plain_form(held: &Schema, own: &Schema) -> bool {
    let is_same = |held: &Field, own: &Field| {
        held.name() == own.name()
            && (held.is_nullable() || !own.is_nullable())
            && *held.data_type() == plain(own.data_type())
    };
    held.fields().len() == own.fields().len() && held.fields().iter().zip(own.fields()).all(|(a, b)| is_same(a, b))
}
