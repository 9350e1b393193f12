//! Parses forms: `name=value` pairs, where `name__is_null` is a null.

use salver_model::limits::LIST_ITEMS_MAX;
use salver_model::records::{Field, Record};
use salver_text::form;

/// Parses a form; `None` when it is not UTF-8 or exceeds a limit.
pub(super) fn read(text: &str) -> Option<Record> {
    let mut members = Vec::new();
    for (name, value) in form::pairs(text.trim_end()) {
        (members.len() < LIST_ITEMS_MAX).then_some(())?;
        let (name, value) = (form::decode(name).ok()?.into_owned(), form::decode(value).ok()?.into_owned());
        members.push(match name.strip_suffix("__is_null") {
            Some(column) => (column.to_owned(), Field::Null),
            None => (name, Field::Text(value)),
        });
    }
    Some(super::merged(members.into_iter()))
}
