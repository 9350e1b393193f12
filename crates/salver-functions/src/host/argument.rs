//! Conversion of arguments from JSON to R.

use serde_json::{Map, Number, Value as Json};

use super::table::{self, ArrowTable};
use super::value::{Inside, MISSING, RValueKind, Value};

/// Element type of an array, if it can be a vector.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elements {
    /// Only nulls so far.
    Nulls,
    Logicals,
    Integers,
    Doubles,
    Texts,
    /// Mixed types, arrays or objects.
    Mixed,
}

/// Returns a named list of an object's members, followed by the argument that is a table.
pub(super) fn object<'x>(
    inside: &'x Inside<'_>,
    members: &Map<String, Json>,
    table: Option<&(&str, ArrowTable)>,
) -> Value<'x> {
    let count = members.len() + usize::from(table.is_some());
    let list = inside.vector(RValueKind::List, count);
    for (index, member) in members.values().enumerate() {
        inside.set(list, index, |inner| value(inner, member));
    }
    if let Some((_, table)) = table {
        inside.set(list, members.len(), |inner| table::data_frame(inner, table));
    }
    let names = members.keys().map(String::as_str).chain(table.map(|(name, _)| *name));
    inside.set_names(list, inside.texts(count, names));
    list
}

/// Returns the reason why an argument can't be one of R: its texts have no character U+0000.
pub(super) fn unfit(members: &Map<String, Json>) -> Option<String> {
    let found = members.iter().find(|(name, value)| name.contains('\0') || has_zero(value));
    found.map(|(name, _)| {
        format!("`{}` has the character U+0000, which R has no text with", name.replace('\0', "\\u0000"))
    })
}

fn has_zero(json: &Json) -> bool {
    match json {
        Json::String(text) => text.contains('\0'),
        Json::Array(elements) => elements.iter().any(has_zero),
        Json::Object(members) => members.iter().any(|(name, value)| name.contains('\0') || has_zero(value)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

/// Converts a JSON value.
fn value<'x>(inside: &'x Inside<'_>, json: &Json) -> Value<'x> {
    match json {
        Json::Null => inside.null(),
        Json::Bool(truth) => inside.logical(*truth),
        Json::Number(number) => match integer(number) {
            Some(number) => inside.integer(number),
            None => inside.double(double(number)),
        },
        Json::String(text) => inside.text(text),
        Json::Array(elements) => array(inside, elements),
        Json::Object(members) => object(inside, members, None),
    }
}

/// Converts an array: to a vector if its elements are scalars of one kind, otherwise to a list.
fn array<'x>(inside: &'x Inside<'_>, elements: &[Json]) -> Value<'x> {
    let length = elements.len();
    match elements.iter().fold(Elements::Nulls, |seen, element| seen.with(element)) {
        // The kind of an empty array, or of one with only nulls, is unknown; a list fits any.
        Elements::Nulls if length == 0 => inside.vector(RValueKind::List, 0),
        Elements::Nulls | Elements::Logicals => inside.integers(
            RValueKind::Logical,
            length,
            elements.iter().map(|element| element.as_bool().map_or(MISSING, i32::from)),
        ),
        Elements::Integers => inside.integers(
            RValueKind::Integer,
            length,
            elements.iter().map(|element| element.as_number().and_then(integer).unwrap_or(MISSING)),
        ),
        Elements::Doubles => inside.doubles(
            length,
            elements.iter().map(|element| element.as_number().map_or(Inside::missing_double(), double)),
        ),
        Elements::Texts => {
            let vector = inside.vector(RValueKind::Text, length);
            for (index, element) in elements.iter().enumerate() {
                inside.set_text(vector, index, element.as_str());
            }
            vector
        }
        Elements::Mixed => {
            let list = inside.vector(RValueKind::List, length);
            for (index, element) in elements.iter().enumerate() {
                inside.set(list, index, |inner| value(inner, element));
            }
            list
        }
    }
}

impl Elements {
    /// Combines the kind with that of another element.
    fn with(self, element: &Json) -> Self {
        let one = match element {
            Json::Null => return self,
            Json::Bool(_) => Self::Logicals,
            Json::Number(number) if integer(number).is_some() => Self::Integers,
            Json::Number(_) => Self::Doubles,
            Json::String(_) => Self::Texts,
            Json::Array(_) | Json::Object(_) => Self::Mixed,
        };
        match (self, one) {
            (Self::Nulls, one) => one,
            (before, one) if before == one => one,
            (Self::Integers, Self::Doubles) | (Self::Doubles, Self::Integers) => Self::Doubles,
            _ => Self::Mixed,
        }
    }
}

/// Returns a number in the range of R's integers. Their least value means missing.
fn integer(number: &Number) -> Option<i32> {
    number.as_i64().and_then(|number| i32::try_from(number).ok()).filter(|number| *number != MISSING)
}

/// Converts any number to a double.
fn double(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}
