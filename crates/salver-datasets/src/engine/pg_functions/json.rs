//! JSON from values, as PostgreSQL writes it: `to_json`, `json_build_object`, `json_build_array` and the like.
//!
//! JSON is text here. A value that is JSON itself, and not a text to be written as a JSON string, is passed as a struct
//! with a single field of a special name, which `json_itself` creates.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringBuilder, StructArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{ScalarUDF, Signature, Volatility};

use super::super::row_function::RowFunction;
use super::text_cast::{TextWriter, is_null, item, writer};

/// Name of the field whose text is JSON.
const ITSELF: &str = "__json";

fn marked() -> Fields {
    Fields::from(vec![Field::new(ITSELF, DataType::Utf8, true)])
}

/// `json_itself(text)`: marks a text as JSON.
pub(super) fn itself() -> ScalarUDF {
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        let [texts] = arrays else { return plan_err!("one text is JSON") };
        let texts = cast(texts, &DataType::Utf8)?;
        let nulls = texts.nulls().cloned();
        Ok(Arc::new(StructArray::try_new(marked(), vec![texts], nulls)?))
    };
    let returns = |_: &[DataType]| Ok(DataType::Struct(marked()));
    RowFunction { name: "json_itself", signature: Signature::any(1, Volatility::Immutable), returns, values }.function()
}

/// `to_json(x)`, which is null for null.
pub(super) fn to_json() -> ScalarUDF {
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        let [values] = arrays else { return plan_err!("`to_json` takes one value") };
        let write = json(values)?;
        made(values.len(), |row, text| if is_null(values, row) { Ok(false) } else { write(row, text).map(|()| true) })
    };
    text_of("to_json", Signature::any(1, Volatility::Immutable), values)
}

/// `json_build_object(key, value, ...)`.
pub(super) fn json_build_object() -> ScalarUDF {
    text_of("json_build_object", Signature::variadic_any(Volatility::Immutable), |arrays, _| object(arrays))
}

/// `json_build_array(value, ...)`.
pub(super) fn json_build_array() -> ScalarUDF {
    let values = |arrays: &[ArrayRef], _: &DataType| -> Result<ArrayRef> {
        let writers = arrays.iter().map(json).collect::<Result<Vec<_>>>()?;
        made(rows(arrays), |row, text| {
            text.push('[');
            for (number, (array, write)) in arrays.iter().zip(&writers).enumerate() {
                text.push_str(if number > 0 { ", " } else { "" });
                value(array, write, row, text)?;
            }
            text.push(']');
            Ok(true)
        })
    };
    text_of("json_build_array", Signature::variadic_any(Volatility::Immutable), values)
}

fn text_of(
    name: &'static str,
    signature: Signature,
    values: fn(&[ArrayRef], &DataType) -> Result<ArrayRef>,
) -> ScalarUDF {
    RowFunction { name, signature, returns: |_| Ok(DataType::Utf8), values }.function()
}

fn rows(arrays: &[ArrayRef]) -> usize {
    arrays.first().map_or(0, |array| array.len())
}

/// Creates texts with `write`, which returns false for null.
fn made(rows: usize, write: impl Fn(usize, &mut String) -> Result<bool>) -> Result<ArrayRef> {
    let mut texts = StringBuilder::with_capacity(rows, rows * 32);
    let mut text = String::new();
    for row in 0..rows {
        text.clear();
        match write(row, &mut text)? {
            true => texts.append_value(&text),
            false => texts.append_null(),
        }
    }
    Ok(Arc::new(texts.finish()))
}

fn object(arrays: &[ArrayRef]) -> Result<ArrayRef> {
    if !arrays.len().is_multiple_of(2) {
        return exec_err!("an object has a value for each key, and here the last key has none");
    }
    let mut pairs = Vec::with_capacity(arrays.len() / 2);
    for pair in arrays.chunks_exact(2) {
        if item(pair[0].data_type()).is_some() || matches!(pair[0].data_type(), DataType::Struct(_)) {
            return exec_err!("a key of an object is a text or a number, and no array or row");
        }
        pairs.push((&pair[0], super::text_cast::texts(&pair[0])?, &pair[1], json(&pair[1])?));
    }
    made(rows(arrays), |row, text| {
        text.push('{');
        for (number, (keys, names, values, write)) in pairs.iter().enumerate() {
            if is_null(keys, row) {
                return exec_err!("a key of an object is null");
            }
            text.push_str(if number > 0 { ", " } else { "" });
            string(names.value(row), text);
            text.push_str(" : ");
            value(values, write, row, text)?;
        }
        text.push('}');
        Ok(true)
    })
}

fn value(values: &ArrayRef, write: &TextWriter, row: usize, text: &mut String) -> Result<()> {
    if is_null(values, row) {
        text.push_str("null");
        return Ok(());
    }
    write(row, text)
}

/// Writes a text as a JSON string.
fn string(own: &str, text: &mut String) {
    // Writing to memory cannot fail.
    text.push_str(&serde_json::to_string(own).unwrap_or_default());
}

/// Returns a writer of the values of an array as JSON.
fn json(values: &ArrayRef) -> Result<TextWriter> {
    Ok(match values.data_type() {
        DataType::Boolean => {
            let values = values.as_boolean().clone();
            Box::new(move |row, text| {
                text.push_str(if values.value(row) { "true" } else { "false" });
                Ok(())
            })
        }
        DataType::Struct(fields) if fields.len() == 1 && fields[0].name() == ITSELF => {
            let texts = values.as_struct().column(0).as_string::<i32>().clone();
            Box::new(move |row, text| {
                text.push_str(texts.value(row));
                Ok(())
            })
        }
        DataType::Struct(_) => structure(values)?,
        own if item(own).is_some() => array(values)?,
        own if own.is_floating() || own.is_numeric() => {
            let write = writer(values)?;
            Box::new(move |row, text| {
                let begin = text.len();
                write(row, text)?;
                // NaN and infinities have no JSON number.
                if text[begin..].contains(|c: char| c.is_ascii_uppercase()) {
                    let own = text.split_off(begin);
                    string(&own, text);
                }
                Ok(())
            })
        }
        DataType::Timestamp(_, zone) => {
            let (write, is_zoned) = (writer(values)?, zone.is_some());
            Box::new(move |row, text| {
                let mut own = String::new();
                write(row, &mut own)?;
                let hours_alone = is_zoned && own.rfind(['+', '-']).is_some_and(|sign| own.len() - sign == 3);
                own = own.replacen(' ', "T", 1);
                if hours_alone {
                    own.push_str(":00");
                }
                string(&own, text);
                Ok(())
            })
        }
        DataType::Map(..) | DataType::Union(..) => {
            return plan_err!("{} is not made JSON: take its parts apart", values.data_type());
        }
        _ => {
            let write = writer(values)?;
            Box::new(move |row, text| {
                let mut own = String::new();
                write(row, &mut own)?;
                string(&own, text);
                Ok(())
            })
        }
    })
}

/// Returns a writer of objects: `{"a":1}`.
fn structure(values: &ArrayRef) -> Result<TextWriter> {
    let values = values.as_struct();
    let names: Vec<String> = values.fields().iter().map(|field| field.name().clone()).collect();
    let columns = values.columns().to_vec();
    let writers = columns.iter().map(json).collect::<Result<Vec<_>>>()?;
    Ok(Box::new(move |row, text| {
        text.push('{');
        for (number, name) in names.iter().enumerate() {
            text.push_str(if number > 0 { "," } else { "" });
            string(name, text);
            text.push(':');
            value(&columns[number], &writers[number], row, text)?;
        }
        text.push('}');
        Ok(())
    }))
}

/// Returns a writer of arrays: `[1,2]`.
fn array(values: &ArrayRef) -> Result<TextWriter> {
    let lists = super::text_cast::lists(values)?;
    let items = Arc::clone(lists.values());
    let write = json(&items)?;
    Ok(Box::new(move |row, text| {
        text.push('[');
        let (start, end) = (lists.value_offsets()[row], lists.value_offsets()[row + 1]);
        for at in start..end {
            text.push_str(if at > start { "," } else { "" });
            value(&items, &write, usize::try_from(at).unwrap_or_default(), text)?;
        }
        text.push(']');
        Ok(())
    }))
}
