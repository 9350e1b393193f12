//! Parses forms: `name=value` pairs, where `name__is_null` is a null.

use percent_encoding::percent_decode_str;
use salver_model::limits::LIST_ITEMS_MAX;
use salver_model::records::{Field, Record};

/// Parses a form; `None` when it is not UTF-8 or exceeds a limit.
pub(super) fn read(text: &str) -> Option<Record> {
    let mut members = Vec::new();
    for pair in text.trim_end().split('&').filter(|pair| !pair.is_empty()) {
        (members.len() < LIST_ITEMS_MAX).then_some(())?;
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decode(name)?, decode(value)?);
        members.push(match name.strip_suffix("__is_null") {
            Some(column) => (column.to_owned(), Field::Null),
            None => (name, Field::Text(value)),
        });
    }
    Some(super::merged(members.into_iter()))
}

fn decode(text: &str) -> Option<String> {
    let spaced = text.replace('+', " ");
    percent_decode_str(&spaced).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}
