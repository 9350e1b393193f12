//! Values of parameters, from the bytes of clients: as text, or in the binary form of their type (its `in` and `recv`
//! functions in PostgreSQL's sources). What is no value of its type is refused as PostgreSQL refuses it.

mod array;
mod binary;
mod datetime;
mod number;
mod text;

use salver_model::PgValue;
use salver_model::limits::PARAMETER_ELEMENTS_MAX;
use salver_model::pg_parameter::{PgContent, PgParameter};
use salver_model::pg_type::UNSPECIFIED;

use super::message::{Bind, Format};
use super::refusal::{LIMIT_EXCEEDED, NOT_SUPPORTED, Refusal};

/// Returns the type of this number, which a client gives a parameter; `None` if it says nothing of the type.
///
/// # Errors
/// `0A000` for a type that no parameter can have.
pub(super) fn declared(oid: u32) -> Result<Option<PgParameter>, Refusal> {
    if UNSPECIFIED.contains(&oid) {
        return Ok(None);
    }
    PgParameter::of_oid(oid).map(Some).ok_or_else(|| {
        let message = format!("parameters of the type with the number {oid} are not supported");
        Refusal::new(NOT_SUPPORTED, message).with_hint("send the value as text")
    })
}

/// Reads the values of a portal for parameters of these types.
///
/// # Errors
/// `08P01` for another number of values, and the refusals of what is no value of its type.
pub(super) fn values(bind: &Bind, types: &[(u32, PgParameter)]) -> Result<Vec<PgValue>, Refusal> {
    if !bind.formats.fit(bind.values.len()) {
        let message = format!(
            "bind message has another number of parameter formats than of its {} parameters",
            bind.values.len()
        );
        return Err(Refusal::new("08P01", message));
    }
    if bind.values.len() != types.len() {
        let message = format!(
            "bind message supplies {} parameters, but prepared statement \"{}\" requires {}",
            bind.values.len(),
            bind.statement,
            types.len()
        );
        return Err(Refusal::new("08P01", message));
    }
    let given = bind.values.iter().zip(types).enumerate();
    let read = given.map(|(at, (bytes, (_, kind)))| {
        let content = bytes.as_ref().map(|bytes| content(bytes, *kind, (bind.formats.at(at), at)));
        Ok(PgValue { kind: *kind, content: content.transpose()? })
    });
    read.collect()
}

/// Reads the value of the parameter at this place.
fn content(bytes: &[u8], kind: PgParameter, (format, at): (Format, usize)) -> Result<PgContent, Refusal> {
    match format {
        Format::Text => {
            let text = text::decoded(bytes)?;
            if !kind.is_array {
                return text::value(text, kind.element).map(PgContent::One);
            }
            let elements = array::texts(text)?;
            let value = |text: Option<String>| text.map(|text| text::value(&text, kind.element)).transpose();
            elements.into_iter().map(value).collect::<Result<_, _>>().map(PgContent::Array)
        }
        Format::Binary => {
            let value = |bytes: &[u8]| match binary::value(bytes, kind.element) {
                Some(read) => read,
                None => Err(malformed(at)),
            };
            if !kind.is_array {
                return value(bytes).map(PgContent::One);
            }
            let elements = array::binaries(bytes, kind.element).ok_or_else(|| malformed(at))??;
            let value = |bytes: Option<&[u8]>| bytes.map(value).transpose();
            elements.into_iter().map(value).collect::<Result<_, _>>().map(PgContent::Array)
        }
    }
}

fn malformed(at: usize) -> Refusal {
    Refusal::new("22P03", format!("incorrect binary data format in bind parameter {}", at + 1))
}

fn too_many_elements() -> Refusal {
    let message = format!("an array has more than {PARAMETER_ELEMENTS_MAX} elements");
    Refusal::new(LIMIT_EXCEEDED, message).with_hint("send fewer at a time")
}

/// Returns the refusal of a text that is no value of a type.
fn invalid(text: &str, sql_name: &str) -> Refusal {
    Refusal::new("22P02", format!("invalid input syntax for type {sql_name}: \"{text}\""))
}

#[cfg(test)]
mod tests;
