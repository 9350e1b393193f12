//! Rewrites rows for the decoder: objects and arrays become JSON text in text columns. Only as much is parsed as that
//! needs, so numbers keep their digits.

use std::borrow::Cow;
use std::fmt;

use arrow::datatypes::{DataType, Field, FieldRef};
use salver_text::json::pieces;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::UNNAMED;

/// An object, with its values as unparsed text.
pub(super) struct Members<'a>(pub(super) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Returns the last value of this name, which takes precedence.
    pub(super) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(own, _)| own == name).map(|(_, value)| *value)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(Name(name)) = entries.next_key()? {
                    members.push((name, entries.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Writes a row, which is an object, or an array of the values of `fields` in order.
///
/// # Errors
/// Invalid JSON.
pub(super) fn row(text: &[u8], fields: &[FieldRef], out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let row: &RawValue = serde_json::from_slice(text)?;
    members(row.get(), fields, true, out)
}

/// Writes a value for a column of this type.
///
/// # Errors
/// Invalid JSON.
fn value(text: &str, data_type: &DataType, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View if text.starts_with(['{', '[']) => {
            serde_json::to_writer(out, &pieces(text).collect::<String>())
        }
        DataType::Struct(fields) => members(text, fields, false, out),
        DataType::List(item) | DataType::LargeList(item) if text.starts_with('[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            list(items.iter().map(|value| (*value, Some(item.as_ref()))), out)
        }
        _ => {
            out.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }
}

fn members(text: &str, fields: &[FieldRef], is_row: bool, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    match text.as_bytes().first() {
        Some(b'{') => {
            let Members(members) = serde_json::from_str(text)?;
            // Most likely place of the next member, which avoids a search of wide rows.
            let mut expected = 0;
            out.push(b'{');
            for (place, (name, own)) in members.iter().enumerate() {
                let name = if is_row && name.is_empty() { UNNAMED } else { name };
                if place > 0 {
                    out.push(b',');
                }
                serde_json::to_writer(&mut *out, name)?;
                out.push(b':');
                let is_own = |field: &&FieldRef| field.name() == name;
                let at = match fields.get(expected).filter(is_own) {
                    Some(_) => Some(expected),
                    None => fields.iter().position(|field| is_own(&field)),
                };
                expected = at.map_or(expected, |at| at + 1);
                value(own.get(), at.map_or(&DataType::Null, |at| fields[at].data_type()), out)?;
            }
            out.push(b'}');
            Ok(())
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            let mut fields = fields.iter().map(AsRef::as_ref);
            list(items.into_iter().map(|value| (value, fields.next())), out)
        }
        _ => {
            out.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }
}

fn list<'a>(
    items: impl Iterator<Item = (&'a RawValue, Option<&'a Field>)>,
    out: &mut Vec<u8>,
) -> Result<(), serde_json::Error> {
    out.push(b'[');
    for (place, (own, field)) in items.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        value(own.get(), field.map_or(&DataType::Null, |field| field.data_type()), out)?;
    }
    out.push(b']');
    Ok(())
}
