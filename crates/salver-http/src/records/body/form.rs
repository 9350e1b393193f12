//! Bodies of forms: `name=value` pairs, where `name__is_null` is a null.

use percent_encoding::percent_decode_str;
use salver_model::limits::LIST_ITEMS_MAX;
use salver_model::records::{Field, Record};

/// Reads a form; `None` when something in it is not UTF-8, or there is too much of it.
pub(super) fn read(text: &str) -> Option<Record> {
    let mut record = Record::new();
    for (index, pair) in text.trim_end().split('&').filter(|pair| !pair.is_empty()).enumerate() {
        (index < LIST_ITEMS_MAX).then_some(())?;
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decode(name)?, decode(value)?);
        match name.strip_suffix("__is_null") {
            Some(column) => super::set(&mut record, column.to_owned(), Field::Null),
            None => super::set(&mut record, name, Field::Text(value)),
        }
    }
    Some(record)
}

fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}
