//! Parts of JSON: what `->`, `->>`, `#>` and `#>>` are rewritten to. Of `jsonb`, which may still be a text as it was
//! written, the part that is found gets its normal form, and not the whole.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{ArrayRef, StringBuilder};
use datafusion::common::Result;
use datafusion::logical_expr::ScalarUDF;
use salver_text::json::string_end;

use super::super::json_document::{Shape, Step, found, plain_text, shape};
use super::json_arguments::{Argument, JsonFunction, read};

/// The functions: `json_step(document, 'key', 0)`, the same as text, and those with a path.
pub(super) fn functions() -> [ScalarUDF; 8] {
    [
        JsonFunction::of_steps("json_step", along_steps::<false, false>),
        JsonFunction::of_steps("json_step_text", along_steps::<false, true>),
        JsonFunction::of_steps("jsonb_step", along_steps::<true, false>),
        JsonFunction::of_steps("jsonb_step_text", along_steps::<true, true>),
        JsonFunction::of_steps("json_path", along_path::<false, false>),
        JsonFunction::of_steps("json_path_text", along_path::<false, true>),
        JsonFunction::of_steps("jsonb_path", along_path::<true, false>),
        JsonFunction::of_steps("jsonb_path_text", along_path::<true, true>),
    ]
}

fn along_steps<const JSONB: bool, const TEXT: bool>(arguments: &[Argument], rows: usize) -> Result<ArrayRef> {
    taken::<JSONB, TEXT>(arguments, rows, |behind, row| behind.iter().map(|own| own.step(row)).collect())
}

fn along_path<const JSONB: bool, const TEXT: bool>(arguments: &[Argument], rows: usize) -> Result<ArrayRef> {
    taken::<JSONB, TEXT>(arguments, rows, |behind, row| {
        let mut steps = Vec::new();
        for argument in behind {
            // A path with a null leads nowhere.
            let Some(path) = argument.path(row)? else { return Ok(None) };
            for step in path {
                let Some(step) = step else { return Ok(None) };
                steps.push(Step::Place(step));
            }
        }
        Ok(Some(steps))
    })
}

fn taken<const JSONB: bool, const TEXT: bool>(
    arguments: &[Argument],
    rows: usize,
    steps: impl Fn(&[Argument], usize) -> Result<Option<Vec<Step>>>,
) -> Result<ArrayRef> {
    let Some((document, behind)) = arguments.split_first() else {
        return datafusion::common::plan_err!("a part is taken of a document");
    };
    let mut parts = StringBuilder::with_capacity(rows, rows * 8);
    let are_same = behind.iter().all(|argument| argument.is_same);
    let mut own = if are_same && rows > 0 { steps(behind, 0)? } else { None };
    for row in 0..rows {
        if !are_same {
            own = steps(behind, row)?;
        }
        let text = document.document(row);
        let part = match (&text, &own) {
            (Some(text), Some(steps)) => found(text, steps, JSONB),
            _ => None,
        };
        match part.map(|part| written::<JSONB, TEXT>(part)).transpose()?.flatten() {
            Some(part) => parts.append_value(part),
            None => parts.append_null(),
        }
    }
    Ok(Arc::new(parts.finish()))
}

/// Returns a part as it is shown.
fn written<const JSONB: bool, const TEXT: bool>(part: &str) -> Result<Option<Cow<'_, str>>> {
    let normal = match JSONB && !is_normal(part) {
        true => Cow::Owned(read(part)?),
        // What is no value at all is not found.
        false if shape(part).is_none() => return Ok(None),
        false => Cow::Borrowed(part),
    };
    if !TEXT {
        return Ok(Some(normal));
    }
    Ok(match normal {
        Cow::Borrowed(part) => plain_text(part),
        Cow::Owned(part) => plain_text(&part).map(|text| Cow::Owned(text.into_owned())),
    })
}

/// Returns whether a scalar is seen to have its normal form.
fn is_normal(part: &str) -> bool {
    match shape(part) {
        Some(Shape::Text) => string_end(part.as_bytes(), 0) == Some((part.len(), false)),
        Some(Shape::Number) => part == "0" || !part.starts_with('0') && part.bytes().all(|byte| byte.is_ascii_digit()),
        _ => matches!(part, "true" | "false" | "null"),
    }
}
