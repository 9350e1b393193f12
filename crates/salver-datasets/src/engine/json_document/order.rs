//! Comparisons of documents in their normal form, as PostgreSQL compares `jsonb`.

use std::cmp::Ordering;

use super::number;
use super::parts::{Shape, elements, members, plain_text, shape};

/// Compares two documents: by what they are, arrays and objects by their length, and then by their parts.
pub(in crate::engine) fn compare(one: &str, other: &str) -> Ordering {
    let (Some(shape_of_one), Some(shape_of_other)) = (shape(one), shape(other)) else { return one.cmp(other) };
    // A scalar at the top is an array of one element there: it is more than an empty one, and less than all others.
    let is_empty = |shape: Shape, text: &str| shape == Shape::Array && text == "[]";
    if shape_of_other.is_scalar() && is_empty(shape_of_one, one) {
        return Ordering::Less;
    }
    if shape_of_one.is_scalar() && is_empty(shape_of_other, other) {
        return Ordering::Greater;
    }
    inner(one, other)
}

fn inner(one: &str, other: &str) -> Ordering {
    let (shape_of_one, shape_of_other) = (shape(one), shape(other));
    let by_shape = shape_of_one.cmp(&shape_of_other);
    if by_shape.is_ne() {
        return by_shape;
    }
    match shape_of_one {
        Some(Shape::Number) => number::compare(one, other),
        Some(Shape::Text) => plain_text(one).cmp(&plain_text(other)),
        Some(Shape::Boolean) => (one == "true").cmp(&(other == "true")),
        Some(Shape::Array) => {
            let (one, other) = (elements(one).unwrap_or_default(), elements(other).unwrap_or_default());
            let parts = one.iter().zip(&other);
            one.len().cmp(&other.len()).then_with(|| first(parts.map(|(one, other)| inner(one, other))))
        }
        Some(Shape::Object) => {
            let (one, other) = (members(one).unwrap_or_default(), members(other).unwrap_or_default());
            let parts = one.iter().zip(&other);
            let member = |((key, value), (other_key, other_value)): (&(_, &str), &(_, &str))| {
                std::cmp::Ord::cmp(key, other_key).then_with(|| inner(value, other_value))
            };
            one.len().cmp(&other.len()).then_with(|| first(parts.map(member)))
        }
        Some(Shape::Null) | None => Ordering::Equal,
    }
}

/// Returns the first that is not equal.
fn first(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Returns whether a document has all that another has: the members of objects, and the elements of arrays in any
/// order.
pub(in crate::engine) fn contains(whole: &str, part: &str) -> bool {
    match (shape(whole), shape(part)) {
        (Some(Shape::Array), Some(own)) if own.is_scalar() => {
            elements(whole).unwrap_or_default().into_iter().any(|element| is_same_scalar(element, part))
        }
        _ => is_within(whole, part),
    }
}

fn is_within(whole: &str, part: &str) -> bool {
    match (shape(whole), shape(part)) {
        (Some(Shape::Array), Some(Shape::Array)) => {
            let of_whole = elements(whole).unwrap_or_default();
            let mut of_part = elements(part).unwrap_or_default().into_iter();
            of_part.all(|part| of_whole.iter().any(|element| is_within(element, part)))
        }
        (Some(Shape::Object), Some(Shape::Object)) => {
            let of_whole = members(whole).unwrap_or_default();
            let mut of_part = members(part).unwrap_or_default().into_iter();
            of_part.all(|(key, part)| {
                let place = of_whole.binary_search_by(|(own, _)| super::normal::by_key(own, &key));
                place.is_ok_and(|place| is_within(of_whole[place].1, part))
            })
        }
        _ => is_same_scalar(whole, part),
    }
}

fn is_same_scalar(one: &str, other: &str) -> bool {
    shape(one).is_some_and(Shape::is_scalar) && inner(one, other).is_eq()
}

/// Returns whether an object has a key, an array a string, or a string is the text.
pub(in crate::engine) fn has(document: &str, text: &str) -> bool {
    let is_text = |value: &str| shape(value) == Some(Shape::Text) && plain_text(value).as_deref() == Some(text);
    match shape(document) {
        Some(Shape::Object) => members(document).unwrap_or_default().iter().any(|(key, _)| key == text),
        Some(Shape::Array) => elements(document).unwrap_or_default().into_iter().any(is_text),
        _ => is_text(document),
    }
}

#[cfg(test)]
mod tests {
    use super::{compare, contains, has};

    #[test]
    fn documents_have_the_order_of_jsonb() {
        let sorted = [
            "[]",
            "null",
            "\"\"",
            "\"a\"",
            "-1",
            "9",
            "10",
            "false",
            "true",
            "[1]",
            "[2]",
            "[1, 1]",
            "{}",
            "{\"a\": 1}",
            "{\"a\": 2}",
            "{\"b\": 0}",
            "{\"a\": 0, \"b\": 0}",
        ];
        for (place, one) in sorted.iter().enumerate() {
            for (other_place, other) in sorted.iter().enumerate() {
                assert_eq!(compare(one, other), place.cmp(&other_place), "{one} {other}");
            }
        }
        assert!(compare("1.0", "1").is_eq());
    }

    #[test]
    fn documents_contain_others() {
        for (whole, part, wanted) in [
            ("[1, [2, 3]]", "[[3]]", true),
            ("[1, 2]", "1", true),
            ("1", "[1]", false),
            ("[[1]]", "1", false),
            ("[[1]]", "[1]", false),
            ("{\"a\": [1, 2]}", "{\"a\": 1}", false),
            ("{\"a\": [1, 2]}", "{\"a\": [1]}", true),
            ("{\"a\": 1}", "{}", true),
            ("[1, 1]", "[1, 1, 1]", true),
            ("1", "1.0", true),
            ("[]", "{}", false),
            ("[{\"a\": 1, \"b\": 2}]", "[{\"a\": 1}]", true),
        ] {
            assert_eq!(contains(whole, part), wanted, "{whole} {part}");
        }
        assert!(has("{\"a\": 1}", "a") && has("[\"a\"]", "a") && has("\"a\"", "a"));
        assert!(!has("[1]", "1") && !has("{\"b\": \"a\"}", "a"));
    }
}
