//! The elements of JSON arrays, and the keys and values of objects, as lists; what a document is, and how long.

use std::borrow::Cow;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, ListBuilder, StringArray, StringBuilder};
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::ScalarUDF;

use super::super::json_document::{Shape, elements, members, plain_text, shape};
use super::json_arguments::{Argument, JsonFunction};

/// The functions.
pub(super) fn functions() -> [ScalarUDF; 9] {
    let lists = |name, values| JsonFunction::of(name, 1, DataType::new_list(DataType::Utf8, true), values);
    let counts = |name| JsonFunction::of(name, 1, DataType::Int64, lengths);
    let names = |name| JsonFunction::of(name, 1, DataType::Utf8, shapes);
    [
        lists("json_elements", |arguments, rows| listed(arguments, rows, |text| Ok(as_written(array(text)?)))),
        lists("json_elements_text", |arguments, rows| listed(arguments, rows, |text| Ok(as_text(array(text)?)))),
        lists("json_keys", |arguments, rows| {
            listed(arguments, rows, |text| Ok(object(text)?.into_iter().map(|(key, _)| Some(key)).collect()))
        }),
        lists("json_values", |arguments, rows| listed(arguments, rows, |text| Ok(as_written(values(text)?)))),
        lists("json_values_text", |arguments, rows| listed(arguments, rows, |text| Ok(as_text(values(text)?)))),
        counts("json_array_length"),
        counts("jsonb_array_length"),
        names("json_typeof"),
        names("jsonb_typeof"),
    ]
}

type Items<'t> = Vec<Option<Cow<'t, str>>>;

fn as_written(values: Vec<&str>) -> Items<'_> {
    values.into_iter().map(|value| Some(Cow::Borrowed(value))).collect()
}

fn as_text(values: Vec<&str>) -> Items<'_> {
    values.into_iter().map(plain_text).collect()
}

fn array(text: &str) -> Result<Vec<&str>> {
    match (elements(text), shape(text)) {
        (Some(elements), _) => Ok(elements),
        (None, Some(Shape::Object)) => exec_err!("an object has no elements, but members: see `json_each`"),
        (None, Some(own)) if own.is_scalar() => exec_err!("a {} has no elements", own.name()),
        _ => exec_err!("`{}` is not JSON", text.chars().take(60).collect::<String>()),
    }
}

fn object(text: &str) -> Result<Vec<(Cow<'_, str>, &str)>> {
    match (members(text), shape(text)) {
        (Some(members), _) => Ok(members),
        (None, Some(Shape::Array)) => exec_err!("an array has no keys, but elements: see `json_array_elements`"),
        (None, Some(own)) if own.is_scalar() => exec_err!("a {} has no keys", own.name()),
        _ => exec_err!("`{}` is not JSON", text.chars().take(60).collect::<String>()),
    }
}

fn values(text: &str) -> Result<Vec<&str>> {
    Ok(object(text)?.into_iter().map(|(_, value)| value).collect())
}

fn only(arguments: &[Argument]) -> Result<&Argument> {
    match arguments {
        [only] => Ok(only),
        _ => plan_err!("one document is taken"),
    }
}

fn listed(
    arguments: &[Argument],
    rows: usize,
    items: impl for<'t> Fn(&'t str) -> Result<Items<'t>>,
) -> Result<ArrayRef> {
    let documents = only(arguments)?;
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in 0..rows {
        match documents.document(row) {
            Some(text) => {
                for item in items(&text)? {
                    lists.values().append_option(item);
                }
                lists.append(true);
            }
            None => lists.append(false),
        }
    }
    Ok(Arc::new(lists.finish()))
}

fn lengths(arguments: &[Argument], rows: usize) -> Result<ArrayRef> {
    let documents = only(arguments)?;
    let length = |row| match documents.document(row) {
        Some(text) => Ok(Some(i64::try_from(array(&text)?.len()).unwrap_or(i64::MAX))),
        None => Ok(None),
    };
    Ok(Arc::new((0..rows).map(length).collect::<Result<Int64Array>>()?))
}

fn shapes(arguments: &[Argument], rows: usize) -> Result<ArrayRef> {
    let documents = only(arguments)?;
    let name = |row| match documents.document(row) {
        Some(text) => match shape(&text) {
            Some(shape) => Ok(Some(shape.name())),
            None => exec_err!("`{}` is not JSON", text.chars().take(60).collect::<String>()),
        },
        None => Ok(None),
    };
    Ok(Arc::new((0..rows).map(name).collect::<Result<StringArray>>()?))
}
