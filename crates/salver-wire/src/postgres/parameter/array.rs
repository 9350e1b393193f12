//! Arrays with one dimension, as their elements (`array_in` and `array_recv` in `src/backend/utils/adt/arrayfuncs.c` of
//! PostgreSQL's sources).

use bytes::Buf;
use salver_model::limits::PARAMETER_ELEMENTS_MAX;
use salver_model::pg_parameter::{Element, PgParameter};

use super::super::refusal::{NOT_SUPPORTED, Refusal};
use super::too_many_elements;

/// Splits an array in text into the texts of its elements; `None` is null.
///
/// # Errors
/// `22P02` for what is no array, `0A000` for several dimensions, `54000` for too many elements.
pub(super) fn texts(text: &str) -> Result<Vec<Option<String>>, Refusal> {
    let malformed = || Refusal::new("22P02", format!("malformed array literal: \"{text}\""));
    let trimmed = text.trim();
    if trimmed.starts_with('[') {
        return Err(dimensions());
    }
    let mut rest = trimmed.strip_prefix('{').ok_or_else(malformed)?.trim_start();
    let mut elements = Vec::new();
    if let Some(behind) = rest.strip_prefix('}') {
        return if behind.is_empty() { Ok(elements) } else { Err(malformed()) };
    }
    loop {
        if rest.starts_with('{') {
            return Err(dimensions());
        }
        if elements.len() >= PARAMETER_ELEMENTS_MAX {
            return Err(too_many_elements());
        }
        let (element, behind) = element(rest).ok_or_else(malformed)?;
        elements.push(element);
        let behind = behind.trim_start();
        match behind.strip_prefix(',') {
            Some(next) => rest = next.trim_start(),
            None if behind == "}" => return Ok(elements),
            None => return Err(malformed()),
        }
    }
}

/// Reads an element at the beginning of a text; returns it with the rest.
fn element(text: &str) -> Option<(Option<String>, &str)> {
    let mut value = String::new();
    if let Some(quoted) = text.strip_prefix('"') {
        let mut chars = quoted.char_indices();
        loop {
            match chars.next()? {
                (at, '"') => return Some((Some(value), &quoted[at + 1..])),
                (_, '\\') => value.push(chars.next()?.1),
                (_, other) => value.push(other),
            }
        }
    }
    // White space at the end counts only where a backslash stands before it.
    let mut kept = 0;
    let mut is_escaped = false;
    let mut chars = text.char_indices();
    let end = loop {
        match chars.next()? {
            (at, ',' | '}') => break at,
            (_, '{' | '"') => return None,
            (_, '\\') => {
                value.push(chars.next()?.1);
                (kept, is_escaped) = (value.len(), true);
            }
            (_, other) => {
                value.push(other);
                if !other.is_whitespace() {
                    kept = value.len();
                }
            }
        }
    };
    value.truncate(kept);
    if value.is_empty() {
        return None;
    }
    let is_null = !is_escaped && value.eq_ignore_ascii_case("null");
    Some(((!is_null).then_some(value), &text[end..]))
}

/// Splits an array in binary into the bytes of its elements; `None` if it is none.
///
/// # Errors
/// `0A000` for several dimensions, `42804` for elements of another type, `54000` for too many.
pub(super) fn binaries(bytes: &[u8], element: Element) -> Option<Result<Vec<Option<&[u8]>>, Refusal>> {
    let mut rest = bytes;
    let dimension_count = rest.try_get_i32().ok()?;
    let flags = rest.try_get_i32().ok()?;
    let oid = rest.try_get_u32().ok()?;
    if !matches!(flags, 0 | 1) || dimension_count < 0 {
        return None;
    }
    let is_own = PgParameter::of_oid(oid) == Some(PgParameter { element, is_array: false });
    if !is_own {
        let message = format!("binary data has array element type {oid} instead of expected {}", element.oid());
        return Some(Err(Refusal::new("42804", message)));
    }
    if dimension_count > 1 {
        return Some(Err(dimensions()));
    }
    if dimension_count == 0 {
        return rest.is_empty().then(|| Ok(Vec::new()));
    }
    let count = usize::try_from(rest.try_get_i32().ok()?).ok()?;
    let _lower_bound = rest.try_get_i32().ok()?;
    if count > PARAMETER_ELEMENTS_MAX {
        return Some(Err(too_many_elements()));
    }
    let mut elements = Vec::new();
    for _ in 0..count {
        let length = rest.try_get_i32().ok()?;
        if length == -1 {
            elements.push(None);
            continue;
        }
        let (own, behind) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        elements.push(Some(own));
        rest = behind;
    }
    rest.is_empty().then_some(Ok(elements))
}

fn dimensions() -> Refusal {
    let message = "parameters that are arrays have one dimension, which begins at 1";
    Refusal::new(NOT_SUPPORTED, message).with_hint("send the rows of the array as arrays of their own")
}
