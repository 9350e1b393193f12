//! `jsonb`: a text in its normal form, two as one, and parts that are set, added or left out.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{ArrayRef, StringBuilder};
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::ScalarUDF;

use super::super::json_document::{
    Change, Fault, LINES, Shape, concatenated, normal, pretty, shape, without_index, without_key, without_nulls,
};
use super::json_arguments::{Argument, JsonFunction, read, read_comparable};

/// The functions.
pub(super) fn functions() -> [ScalarUDF; 11] {
    let of = |name, count, values| JsonFunction::of(name, count, DataType::Utf8, values);
    [
        of("jsonb", 1, |arguments, rows| of_each(arguments, rows, |text| read(text).map(Some))),
        of("try_jsonb", 1, |arguments, rows| of_each(arguments, rows, |text| Ok(normal(text).ok()))),
        of("jsonb_key", 1, |arguments, rows| of_each(arguments, rows, |text| read_comparable(text).map(Some))),
        of("json_checked", 1, |arguments, rows| of_each(arguments, rows, checked)),
        of("jsonb_strip_nulls", 1, |arguments, rows| {
            of_each(arguments, rows, |text| Ok(Some(without_nulls(&read(text)?))))
        }),
        of("jsonb_pretty", 1, |arguments, rows| of_each(arguments, rows, lines)),
        of("jsonb_concat", 2, |arguments, rows| {
            let [one, other] = arguments else { return plan_err!("two documents are concatenated") };
            made(rows, |row| match (one.document(row), other.document(row)) {
                (Some(one), Some(other)) => Ok(Some(concatenated(&read(&one)?, &read(&other)?))),
                _ => Ok(None),
            })
        }),
        of("jsonb_minus", 2, minus),
        of("jsonb_delete_path", 2, |arguments, rows| changed(arguments, rows, |_, _| Ok(Some(Change::Delete)))),
        JsonFunction::of_three("jsonb_set", |arguments, rows| {
            changed(arguments, rows, |value, creates| {
                Ok(value.map(|value| Change::Set { value, creates: creates.unwrap_or(true) }))
            })
        }),
        JsonFunction::of_three("jsonb_insert", |arguments, rows| {
            changed(arguments, rows, |value, is_behind| {
                Ok(value.map(|value| Change::Insert { value, is_behind: is_behind.unwrap_or(false) }))
            })
        }),
    ]
}

/// Creates texts with `make`.
fn made(rows: usize, make: impl Fn(usize) -> Result<Option<String>>) -> Result<ArrayRef> {
    let mut texts = StringBuilder::with_capacity(rows, rows * 32);
    for row in 0..rows {
        texts.append_option(make(row)?);
    }
    Ok(Arc::new(texts.finish()))
}

/// Creates texts of the only argument.
fn of_each(arguments: &[Argument], rows: usize, make: impl Fn(&str) -> Result<Option<String>>) -> Result<ArrayRef> {
    let [documents] = arguments else { return plan_err!("one document is taken") };
    made(rows, |row| match documents.document(row) {
        Some(text) => make(&text),
        None => Ok(None),
    })
}

/// `json` keeps a text as it is, also where it has no normal form.
fn checked(text: &str) -> Result<Option<String>> {
    match normal(text) {
        Ok(_) | Err(Fault::Zero | Fault::Long) => Ok(Some(text.to_owned())),
        Err(fault) => exec_err!("{}", fault.about(text)),
    }
}

fn lines(text: &str) -> Result<Option<String>> {
    let document = read(text)?;
    let most = text.len().saturating_mul(LINES.0).saturating_add(LINES.1);
    match pretty(&document, most) {
        Some(lines) => Ok(Some(lines)),
        None => exec_err!("a document nests too deeply for its lines: indented, they are longer than {most} bytes"),
    }
}

/// `document - 'key'`, `document - 0`, `document - array['a', 'b']`.
fn minus(arguments: &[Argument], rows: usize) -> Result<ArrayRef> {
    let [documents, left_out] = arguments else { return plan_err!("something is left out of a document") };
    made(rows, |row| {
        let Some(document) = documents.document(row).filter(|_| !left_out.is_null(row)) else { return Ok(None) };
        let document = read(&document)?;
        let left = if let Some(index) = left_out.number(row) {
            if shape(&document) == Some(Shape::Object) {
                return exec_err!("an object has keys, and no element {index} to leave out: write it as a text");
            }
            without_index(&document, index)
        } else if left_out.is_list() {
            let keys = left_out.path(row)?.unwrap_or_default();
            without_key(&document, |own| keys.iter().flatten().any(|key| key == own))
        } else {
            let key = left_out.text(row).unwrap_or_default();
            without_key(&document, |own| own == key)
        };
        match left {
            Some(left) => Ok(Some(left)),
            None => exec_err!("nothing can be left out of `{document}`, which is no object or array"),
        }
    })
}

/// Changes a document at a path, to a value, by a word.
fn changed(
    arguments: &[Argument],
    rows: usize,
    change: impl for<'v> Fn(Option<&'v str>, Option<bool>) -> Result<Option<Change<'v>>>,
) -> Result<ArrayRef> {
    let [documents, paths, more @ ..] = arguments else { return plan_err!("a document is changed at a path") };
    made(rows, |row| {
        let has_null = more.iter().any(|argument| argument.is_null(row));
        let (Some(document), Some(path), false) = (documents.document(row), paths.path(row)?, has_null) else {
            return Ok(None);
        };
        let value = more.first().and_then(|values| values.document(row));
        let value: Option<Cow<'_, str>> = value.map(|value| read(&value).map(Cow::Owned)).transpose()?;
        let word = more.get(1).and_then(|words| words.text(row)).map(|word| word == "true" || word == "t");
        let Some(change) = change(value.as_deref(), word)? else { return Ok(None) };
        match change.apply(&read(&document)?, &path) {
            Ok(document) => Ok(Some(document)),
            Err(message) => exec_err!("{message}"),
        }
    })
}
