//! Encodes bound values for a statement.
//!
//! The server infers the types of placeholders. A value whose binary form is simple is sent in binary; every other is
//! sent as text, which the server parses like a literal of the type. So every type can be written, including those
//! unknown to this crate, and the server rejects what does not fit.

use bytes::{BufMut, BytesMut};
use tokio_postgres::types::{Format, IsNull, ToSql, Type};

use crate::cell::OwnedCell;
use crate::statement::Bind;

/// A value in the form that the driver takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire<'a>(pub(super) &'a Bind);

/// Error of a value that can't be encoded, which can only be an unresolved reference.
type EncodeError = Box<dyn std::error::Error + Sync + Send>;

/// Returns whether the value is sent in binary as `to`. A number that does not fit a small integer is sent as text, so
/// that the server reports it.
fn binary(bind: &Bind, to: &Type) -> bool {
    match bind {
        Bind::Bool(_) => *to == Type::BOOL,
        Bind::Int(value) => match *to {
            Type::INT8 => true,
            Type::INT4 => i32::try_from(*value).is_ok(),
            Type::INT2 => i16::try_from(*value).is_ok(),
            _ => false,
        },
        Bind::Float(_) => *to == Type::FLOAT8,
        Bind::Bytes(_) => *to == Type::BYTEA,
        Bind::Null | Bind::Text(_) | Bind::Back { .. } | Bind::BackKey { .. } | Bind::BackOr { .. } => false,
    }
}

impl ToSql for Wire<'_> {
    fn to_sql(&self, to: &Type, out: &mut BytesMut) -> Result<IsNull, EncodeError> {
        if binary(self.0, to) {
            put_binary(self.0, to, out);
            return Ok(IsNull::No);
        }
        match self.0 {
            Bind::Null => return Ok(IsNull::Yes),
            Bind::Bool(value) => out.put_slice(if *value { b"true" } else { b"false" }),
            Bind::Int(value) => out.put_slice(itoa::Buffer::new().format(*value).as_bytes()),
            Bind::Float(value) => out.put_slice(float_text(*value, &mut zmij::Buffer::new()).as_bytes()),
            Bind::Text(text) => out.put_slice(text.as_bytes()),
            Bind::Bytes(bytes) => out.put_slice(bytes),
            Bind::Back { .. } | Bind::BackKey { .. } | Bind::BackOr { .. } => {
                return Err("a back reference without its value".into());
            }
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn to_sql_checked(&self, to: &Type, out: &mut BytesMut) -> Result<IsNull, EncodeError> {
        self.to_sql(to, out)
    }

    fn encode_format(&self, to: &Type) -> Format {
        if binary(self.0, to) { Format::Binary } else { Format::Text }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "`binary` looked whether it fits")]
fn put_binary(bind: &Bind, to: &Type, out: &mut BytesMut) {
    match bind {
        Bind::Bool(value) => out.put_u8(u8::from(*value)),
        Bind::Int(value) => match *to {
            Type::INT8 => out.put_i64(*value),
            Type::INT4 => out.put_i32(*value as i32),
            _ => out.put_i16(*value as i16),
        },
        Bind::Float(value) => out.put_f64(*value),
        Bind::Bytes(bytes) => out.put_slice(bytes),
        Bind::Null | Bind::Text(_) | Bind::Back { .. } | Bind::BackKey { .. } | Bind::BackOr { .. } => {}
    }
}

/// Returns the text of a float, with PostgreSQL's words for NaN and the infinities.
pub(super) fn float_text(value: f64, buffer: &mut zmij::Buffer) -> &str {
    if value.is_nan() {
        "NaN"
    } else if value == f64::INFINITY {
        "Infinity"
    } else if value == f64::NEG_INFINITY {
        "-Infinity"
    } else {
        buffer.format_finite(value)
    }
}

/// Converts a cell returned by an earlier statement to a value for a later one.
pub(super) fn from_cell(cell: &OwnedCell) -> Bind {
    match cell {
        OwnedCell::Null => Bind::Null,
        OwnedCell::Bool(value) => Bind::Bool(*value),
        OwnedCell::Int(value) => Bind::Int(*value),
        OwnedCell::UInt(value) => Bind::Text(value.to_string()),
        OwnedCell::Float(value) => Bind::Float(*value),
        // Text keeps the few digits of its own precision.
        OwnedCell::Single(value) => Bind::Text(value.to_string()),
        OwnedCell::Text(value) => Bind::Text(value.clone()),
        OwnedCell::Bytes(value) => Bind::Bytes(value.clone()),
    }
}
