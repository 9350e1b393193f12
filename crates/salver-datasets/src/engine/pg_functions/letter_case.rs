//! `upper`, `lower` and `initcap`, which map each character to one, as PostgreSQL does by its library of C:
//! `upper('ß')` is `ß`, and a sigma at the end of a word is one like others. The engine's own map some to several.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::ScalarUDF;

use super::super::row_function::RowFunction;

/// `lower(x)`.
pub(super) fn lower() -> ScalarUDF {
    RowFunction::of_one("lower", returns, |arrays, _| {
        written(arrays, |text, to| {
            if text.is_ascii() {
                to.push_str(text);
                return to.make_ascii_lowercase();
            }
            to.extend(text.chars().map(small));
        })
    })
}

/// `upper(x)`.
pub(super) fn upper() -> ScalarUDF {
    RowFunction::of_one("upper", returns, |arrays, _| {
        written(arrays, |text, to| {
            if text.is_ascii() {
                to.push_str(text);
                return to.make_ascii_uppercase();
            }
            to.extend(text.chars().map(capital));
        })
    })
}

/// `initcap(x)`.
pub(super) fn initcap() -> ScalarUDF {
    RowFunction::of_one("initcap", returns, |arrays, _| {
        written(arrays, |text, to| {
            let mut within = false;
            for c in text.chars() {
                to.push(if within { small(c) } else { capital(c) });
                within = c.is_alphanumeric();
            }
        })
    })
}

fn returns(types: &[DataType]) -> Result<DataType> {
    match types {
        [own] if own.is_string() || own.is_null() => Ok(DataType::Utf8),
        [DataType::Dictionary(_, own)] if own.is_string() => Ok(DataType::Utf8),
        _ => plan_err!("the letters of a text can be capital or small; cast the value, as in `x::text`"),
    }
}

fn written(arrays: &[ArrayRef], write: fn(&str, &mut String)) -> Result<ArrayRef> {
    let [values] = arrays else { return plan_err!("one text is taken") };
    let texts = cast(values, &DataType::Utf8)?;
    let texts = texts.as_string::<i32>();
    let bytes = texts.value_data().len();
    let mut all = StringBuilder::with_capacity(texts.len(), bytes);
    let (mut own, mut length) = (String::new(), 0_usize);
    for text in texts {
        let Some(text) = text else {
            all.append_null();
            continue;
        };
        own.clear();
        write(text, &mut own);
        length += own.len();
        if i32::try_from(length).is_err() {
            return exec_err!("the texts are too long for one batch");
        }
        all.append_value(&own);
    }
    Ok(Arc::new(all.finish()))
}

fn small(c: char) -> char {
    // The small letter of this one has two characters elsewhere.
    if c == 'İ' {
        return 'i';
    }
    single(c.to_lowercase(), c)
}

fn capital(c: char) -> char {
    single(c.to_uppercase(), c)
}

/// Returns the only character of a mapping, or the one that is mapped.
fn single(mut mapped: impl Iterator<Item = char>, c: char) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}
