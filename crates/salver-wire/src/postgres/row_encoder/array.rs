//! Values of arrays, of one dimension (<https://www.postgresql.org/docs/16/arrays.html#ARRAYS-IO>).

use arrow::array::{Array, LargeListArray};
use salver_model::{Code, Error, Result};

use salver_model::pg_type::Scalar;

/// The elements of arrays.
pub(super) trait Elements {
    /// Returns whether an element is null.
    fn is_null(&self, at: usize) -> bool;

    /// Writes an element that is not null, as text.
    fn text(&self, at: usize, out: &mut Vec<u8>) -> Result<()>;

    /// Writes an element in binary, with its length.
    fn value(&self, at: usize, out: &mut Vec<u8>) -> Result<()>;
}

/// Writes an array as text: elements in braces, in quotes where they could be taken for something else.
pub(super) fn text(list: &LargeListArray, element: &impl Elements, row: usize, out: &mut Vec<u8>) -> Result<()> {
    let mut own = Vec::new();
    out.push(b'{');
    for (number, at) in elements(list, row).enumerate() {
        if number > 0 {
            out.push(b',');
        }
        if element.is_null(at) {
            out.extend(b"NULL");
            continue;
        }
        own.clear();
        element.text(at, &mut own)?;
        if is_plain(&own) {
            out.extend(&own);
            continue;
        }
        out.push(b'"');
        for byte in &own {
            if matches!(byte, b'"' | b'\\') {
                out.push(b'\\');
            }
            out.push(*byte);
        }
        out.push(b'"');
    }
    out.push(b'}');
    Ok(())
}

/// Returns whether a text stands for itself in an array.
fn is_plain(text: &[u8]) -> bool {
    let is_special = |byte: &u8| matches!(byte, b'{' | b'}' | b',' | b'"' | b'\\') || byte.is_ascii_whitespace();
    !text.is_empty() && !text.eq_ignore_ascii_case(b"null") && !text.iter().any(|byte| is_special(byte) || *byte == 11)
}

/// Writes an array in its binary form: dimensions, whether there are nulls, the type of the elements, their number and
/// the number of the first, and the elements with their lengths.
pub(super) fn binary(
    list: &LargeListArray,
    element: &impl Elements,
    scalar: Scalar,
    row: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let elements = elements(list, row);
    let count = i32::try_from(elements.len())
        .map_err(|_| Error::new(Code::AnswerTooLarge, "an array is longer than PostgreSQL's protocol can say"))?;
    let has_nulls = elements.clone().any(|at| element.is_null(at));
    out.extend(i32::from(count > 0).to_be_bytes());
    out.extend(i32::from(has_nulls).to_be_bytes());
    out.extend(scalar.oid().to_be_bytes());
    if count > 0 {
        out.extend(count.to_be_bytes());
        out.extend(1_i32.to_be_bytes());
    }
    for at in elements {
        element.value(at, out)?;
    }
    Ok(())
}

/// Returns the places of the elements of an array.
fn elements(list: &LargeListArray, row: usize) -> std::ops::Range<usize> {
    let offsets = list.value_offsets();
    let place = |offset: i64| usize::try_from(offset).unwrap_or_default();
    place(offsets[row])..place(offsets[row + 1]).min(list.values().len())
}
