//! Single values in binary.

use bytes::Buf;
use salver_model::pg_parameter::{Element, PgDatum};
use salver_model::pg_type::Scalar;

use super::super::refusal::Refusal;
use super::{datetime, number, text};

/// Reads a value; `None` if its bytes are none of the type.
///
/// # Errors
/// Those of a value that has no place here.
pub(super) fn value(bytes: &[u8], element: Element) -> Option<Result<PgDatum, Refusal>> {
    let scalar = match element {
        Element::Of(scalar) => scalar,
        Element::Uuid => return <[u8; 16]>::try_from(bytes).ok().map(|bytes| Ok(text::uuid(bytes))),
        Element::Jsonb => return Some(text_of(bytes.strip_prefix(&[1])?, element)),
    };
    let datum = match scalar {
        Scalar::Bool => PgDatum::Bool(<[u8; 1]>::try_from(bytes).ok()? != [0]),
        Scalar::Int2 => PgDatum::Int(i16::from_be_bytes(bytes.try_into().ok()?).into()),
        Scalar::Int4 => PgDatum::Int(i32::from_be_bytes(bytes.try_into().ok()?).into()),
        Scalar::Int8 => PgDatum::Int(i64::from_be_bytes(bytes.try_into().ok()?)),
        Scalar::Float4 => PgDatum::Float(f32::from_be_bytes(bytes.try_into().ok()?).into()),
        Scalar::Float8 => PgDatum::Float(f64::from_be_bytes(bytes.try_into().ok()?)),
        Scalar::Numeric => return number::of_binary(bytes),
        Scalar::Text | Scalar::Json => return Some(text_of(bytes, element)),
        Scalar::Bytea => PgDatum::Bytes(bytes.to_vec()),
        Scalar::Date => return Some(datetime::date_of_binary(i32::from_be_bytes(bytes.try_into().ok()?))),
        Scalar::Time => return Some(datetime::time_of_binary(i64::from_be_bytes(bytes.try_into().ok()?))),
        Scalar::Timestamp | Scalar::TimestampTz => {
            return Some(datetime::moment_of_binary(i64::from_be_bytes(bytes.try_into().ok()?)));
        }
        Scalar::Interval => return interval(bytes).map(Ok),
        Scalar::Oid => PgDatum::Int(u32::from_be_bytes(bytes.try_into().ok()?).into()),
    };
    Some(Ok(datum))
}

fn text_of(bytes: &[u8], element: Element) -> Result<PgDatum, Refusal> {
    text::value(text::decoded(bytes)?, element)
}

fn interval(bytes: &[u8]) -> Option<PgDatum> {
    let mut rest = bytes;
    let (micros, days, months) = (rest.try_get_i64().ok()?, rest.try_get_i32().ok()?, rest.try_get_i32().ok()?);
    rest.is_empty().then_some(PgDatum::Interval { months, days, micros })
}
