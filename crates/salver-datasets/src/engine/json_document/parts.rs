//! Parts of JSON texts. What is around a part must be in place; the part itself is returned as it is written.

use std::borrow::Cow;

use salver_text::json::{Reader, string_end};

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::engine) enum Shape {
    /// `null`.
    Null,
    /// A string.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Shape {
    /// Returns its name in PostgreSQL.
    pub(in crate::engine) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Text => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Array => "array",
            Self::Object => "object",
        }
    }

    /// Returns whether it is neither an array nor an object.
    pub(in crate::engine) fn is_scalar(self) -> bool {
        self < Self::Array
    }
}

/// Returns what a text is by its first sign; `None` if that begins nothing.
pub(in crate::engine) fn shape(text: &str) -> Option<Shape> {
    Some(match Reader::new(text.as_bytes()).peek()? {
        b'n' => Shape::Null,
        b'"' => Shape::Text,
        b'-' | b'0'..=b'9' => Shape::Number,
        b't' | b'f' => Shape::Boolean,
        b'[' => Shape::Array,
        b'{' => Shape::Object,
        _ => return None,
    })
}

/// A step from a value to one of its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Step {
    /// To the member of an object.
    Key(String),
    /// To the element of an array, from 0, or from its end.
    Index(i64),
    /// To either, by what there is: a step of a path.
    Place(String),
}

/// Returns the part at the end of some steps. With `is_jsonb` a scalar is also its only element.
pub(in crate::engine) fn found<'t>(text: &'t str, steps: &[Step], is_jsonb: bool) -> Option<&'t str> {
    let mut part = text.trim_matches([' ', '\t', '\n', '\r']);
    for step in steps {
        part = match (step, shape(part)?) {
            (Step::Key(key) | Step::Place(key), Shape::Object) => member(part, key)?,
            (Step::Index(index), Shape::Array) => element(part, *index)?,
            (Step::Place(place), Shape::Array) => element(part, index_of(place)?)?,
            (Step::Index(0 | -1), own) if is_jsonb && own.is_scalar() => part,
            _ => return None,
        };
    }
    Some(part)
}

/// Reads a step of a path as the place in an array.
pub(super) fn index_of(step: &str) -> Option<i64> {
    let digits = step.trim_start_matches([' ', '\t', '\n', '\r', '\u{b}', '\u{c}']);
    digits.parse::<i32>().ok().map(i64::from)
}

/// Returns the last member with a key.
fn member<'t>(object: &'t str, key: &str) -> Option<&'t str> {
    let mut reader = Reader::new(object.as_bytes());
    reader.peek()?;
    reader.enter();
    let (mut is_first, mut found) = (true, None);
    while let Some(name) = reader.member(&mut is_first) {
        let is_it = if name.is_escaped { name.to_text() == key } else { name.raw == key.as_bytes() };
        let value = reader.span()?;
        if is_it {
            found = Some(value);
        }
    }
    if reader.is_lost() { None } else { object.get(found?) }
}

fn element(array: &str, index: i64) -> Option<&str> {
    let mut left = match usize::try_from(index) {
        Ok(index) => index,
        Err(_) => {
            let behind = usize::try_from(index.unsigned_abs()).ok()?;
            elements(array)?.len().checked_sub(behind)?
        }
    };
    let mut reader = Reader::new(array.as_bytes());
    reader.peek()?;
    reader.enter();
    let mut is_first = true;
    while reader.element(&mut is_first) {
        let value = reader.span()?;
        if left == 0 {
            return array.get(value);
        }
        left -= 1;
    }
    None
}

/// Returns the elements of an array; `None` for anything else.
pub(in crate::engine) fn elements(array: &str) -> Option<Vec<&str>> {
    if shape(array)? != Shape::Array {
        return None;
    }
    let mut reader = Reader::new(array.as_bytes());
    reader.peek()?;
    reader.enter();
    let (mut is_first, mut found) = (true, Vec::new());
    while reader.element(&mut is_first) {
        found.push(array.get(reader.span()?)?);
    }
    if reader.is_lost() { None } else { Some(found) }
}

/// Returns the members of an object; `None` for anything else.
pub(in crate::engine) fn members(object: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    if shape(object)? != Shape::Object {
        return None;
    }
    let mut reader = Reader::new(object.as_bytes());
    reader.peek()?;
    reader.enter();
    let (mut is_first, mut found) = (true, Vec::new());
    while let Some(name) = reader.member(&mut is_first) {
        found.push((name.to_text(), object.get(reader.span()?)?));
    }
    if reader.is_lost() { None } else { Some(found) }
}

/// Returns a value as text: a string without its quotes and escapes, all else as it is; `None` for `null`.
pub(in crate::engine) fn plain_text(value: &str) -> Option<Cow<'_, str>> {
    match shape(value)? {
        Shape::Null => None,
        Shape::Text => {
            let (end, is_escaped) = string_end(value.as_bytes(), 0)?;
            let raw = value.get(1..end - 1)?;
            salver_text::json::Text { raw: raw.as_bytes(), is_escaped }.checked()
        }
        _ => Some(Cow::Borrowed(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Step, found, plain_text};

    #[test]
    fn steps_lead_to_parts() {
        let text = r#" {"a": [1, {"b": "x"}, [2]], "a\n": 3, "c": null, "c": "\u00e9"} "#;
        let key = |key: &str| Step::Key(key.to_owned());
        let place = |key: &str| Step::Place(key.to_owned());
        for (steps, wanted) in [
            (vec![], Some(text.trim())),
            (vec![key("a"), Step::Index(0)], Some("1")),
            (vec![key("a"), Step::Index(-1)], Some("[2]")),
            (vec![key("a"), Step::Index(-4)], None),
            (vec![key("a"), key("0")], None),
            (vec![place("a"), place(" +1"), place("b")], Some("\"x\"")),
            (vec![place("a"), place("x")], None),
            (vec![Step::Index(0)], None),
            (vec![key("a\n")], Some("3")),
            (vec![key("c")], Some("\"\\u00e9\"")),
            (vec![key("d")], None),
        ] {
            assert_eq!(found(text, &steps, false), wanted, "{steps:?}");
        }
        assert_eq!(found("1", &[Step::Index(0)], false), None);
        assert_eq!(found("1", &[Step::Index(0), Step::Index(-1)], true), Some("1"));
        assert_eq!(plain_text("\"\\u00e9\"").as_deref(), Some("é"));
        assert_eq!(plain_text("null"), None);
        for broken in ["", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "[", "[1", "nothing"] {
            assert_eq!(found(broken, &[key("a")], true), None, "{broken}");
            assert_eq!(found(broken, &[Step::Index(2)], true), None, "{broken}");
        }
    }
}
