//! Arguments: JSON values as values of R.

use serde_json::{Map, Number, Value as Json};

use super::table::{self, Table};
use super::value::{Inside, Kind, MISSING, Value};

/// What an array holds, when it can be a vector.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Elements {
    /// Nothing but nulls so far.
    Nulls,
    Logicals,
    Integers,
    Doubles,
    Texts,
    /// Values of several kinds, arrays or objects.
    Mixed,
}

/// A named list of an object's members, and behind them the argument that is a table.
pub(super) fn object<'x>(
    inside: &'x Inside<'_>,
    members: &Map<String, Json>,
    table: Option<&(&str, Table)>,
) -> Value<'x> {
    let count = members.len() + usize::from(table.is_some());
    let list = inside.vector(Kind::List, count);
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

/// The value a JSON value stands for.
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

/// A vector when its elements are scalars of one kind, otherwise a list.
fn array<'x>(inside: &'x Inside<'_>, elements: &[Json]) -> Value<'x> {
    let length = elements.len();
    match elements.iter().fold(Elements::Nulls, |seen, element| seen.with(element)) {
        // An empty array and one of nulls only say nothing of their kind; a list takes all of it.
        Elements::Nulls if length == 0 => inside.vector(Kind::List, 0),
        Elements::Nulls | Elements::Logicals => inside.integers(
            Kind::Logical,
            length,
            elements.iter().map(|element| element.as_bool().map_or(MISSING, i32::from)),
        ),
        Elements::Integers => inside.integers(
            Kind::Integer,
            length,
            elements.iter().map(|element| element.as_number().and_then(integer).unwrap_or(MISSING)),
        ),
        Elements::Doubles => inside.doubles(
            length,
            elements.iter().map(|element| element.as_number().map_or(Inside::missing_double(), double)),
        ),
        Elements::Texts => {
            let vector = inside.vector(Kind::Text, length);
            for (index, element) in elements.iter().enumerate() {
                inside.set_text(vector, index, element.as_str());
            }
            vector
        }
        Elements::Mixed => {
            let list = inside.vector(Kind::List, length);
            for (index, element) in elements.iter().enumerate() {
                inside.set(list, index, |inner| value(inner, element));
            }
            list
        }
    }
}

impl Elements {
    /// What they are together with one more.
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

/// A number that R's integers hold. Their least value stands for a missing one.
fn integer(number: &Number) -> Option<i32> {
    number.as_i64().and_then(|number| i32::try_from(number).ok()).filter(|number| *number != MISSING)
}

/// Any number.
fn double(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}
