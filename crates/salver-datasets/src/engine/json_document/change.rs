//! Documents in their normal form, changed.

use std::borrow::Cow;

use super::normal::{by_key, write_string};
use super::parts::{Shape, elements, index_of, members, plain_text, shape};

/// What is done at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Change<'a> {
    /// Replaces what is there, and, with `creates`, adds what is not.
    Set {
        /// The value.
        value: &'a str,
        /// Whether what is not there is added.
        creates: bool,
    },
    /// Adds an element before or behind the one that is there, or a member if there is none.
    Insert {
        /// The value.
        value: &'a str,
        /// Whether it stands behind.
        is_behind: bool,
    },
    /// Deletes what is there.
    Delete,
}

type Changed = Result<String, String>;

impl<'a> Change<'a> {
    /// Applies the change to a document.
    ///
    /// # Errors
    /// A message about a path that can't be followed.
    pub(in crate::engine) fn apply(self, document: &str, path: &[Option<String>]) -> Changed {
        if shape(document).is_none_or(Shape::is_scalar) {
            return Err(format!("a path leads into an array or an object, and `{document}` is neither"));
        }
        // Of an empty document the steps are not read.
        let is_empty = matches!(document, "{}" | "[]") && self.created().is_none();
        if path.is_empty() || is_empty {
            return Ok(document.to_owned());
        }
        self.at(document, path, 0)
    }

    /// Returns the value to add where nothing is.
    fn created(self) -> Option<&'a str> {
        match self {
            Self::Set { value, creates: true } | Self::Insert { value, .. } => Some(value),
            _ => None,
        }
    }

    fn at(self, part: &str, path: &[Option<String>], level: usize) -> Changed {
        let Some(step) = path.get(level) else { return Ok(part.to_owned()) };
        let Some(step) = step else { return Err(format!("step {} of a path is null", level + 1)) };
        match shape(part) {
            Some(Shape::Object) => self.in_object(part, path, level, step),
            Some(Shape::Array) => self.in_array(part, path, level, step),
            _ => Ok(part.to_owned()),
        }
    }

    fn in_object(self, object: &str, path: &[Option<String>], level: usize, key: &str) -> Changed {
        let mut members: Vec<(Cow<'_, str>, Cow<'_, str>)> =
            members(object).unwrap_or_default().into_iter().map(|(key, value)| (key, Cow::Borrowed(value))).collect();
        let is_last = level + 1 == path.len();
        match members.binary_search_by(|(own, _)| by_key(own, key)) {
            Ok(place) if is_last => match self {
                Self::Insert { .. } => return Err(format!("there is a key `{key}` already: `jsonb_set` replaces it")),
                Self::Set { value, .. } => members[place].1 = Cow::Borrowed(value),
                Self::Delete => _ = members.remove(place),
            },
            Ok(place) => {
                let inner = self.at(&members[place].1, path, level + 1)?;
                members[place].1 = Cow::Owned(inner);
            }
            Err(place) => {
                if let Some(value) = self.created().filter(|_| is_last) {
                    members.insert(place, (Cow::Borrowed(key), Cow::Borrowed(value)));
                }
            }
        }
        Ok(object_of(&members))
    }

    fn in_array(self, array: &str, path: &[Option<String>], level: usize, step: &str) -> Changed {
        let mut elements: Vec<Cow<'_, str>> =
            elements(array).unwrap_or_default().into_iter().map(Cow::Borrowed).collect();
        let Some(index) = index_of(step) else {
            return Err(format!("step {} of a path is the place in an array, and `{step}` is none", level + 1));
        };
        let is_last = level + 1 == path.len();
        // A place before the first is there only for what is added.
        let place = match usize::try_from(index) {
            Ok(place) => Some(place),
            Err(_) => elements.len().checked_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX)),
        };
        match place.filter(|place| *place < elements.len()) {
            Some(place) if is_last => match self {
                Self::Set { value, .. } => elements[place] = Cow::Borrowed(value),
                Self::Insert { value, is_behind } => {
                    elements.insert(place + usize::from(is_behind), Cow::Borrowed(value));
                }
                Self::Delete => _ = elements.remove(place),
            },
            Some(place) => {
                let inner = self.at(&elements[place], path, level + 1)?;
                elements[place] = Cow::Owned(inner);
            }
            None => {
                if let Some(value) = self.created().filter(|_| is_last) {
                    let end = if place.is_none() { 0 } else { elements.len() };
                    elements.insert(end, Cow::Borrowed(value));
                }
            }
        }
        Ok(array_of(&elements))
    }
}

fn object_of(members: &[(impl AsRef<str>, impl AsRef<str>)]) -> String {
    let mut out = "{".to_owned();
    for (number, (key, value)) in members.iter().enumerate() {
        out.push_str(if number > 0 { ", " } else { "" });
        write_string(key.as_ref(), &mut out);
        out.push_str(": ");
        out.push_str(value.as_ref());
    }
    out.push('}');
    out
}

fn array_of(elements: &[impl AsRef<str>]) -> String {
    let mut out = "[".to_owned();
    joined(elements, &mut out);
    out.push(']');
    out
}

/// Appends values with commas between them.
fn joined(values: &[impl AsRef<str>], out: &mut String) {
    for (number, value) in values.iter().enumerate() {
        out.push_str(if number > 0 { ", " } else { "" });
        out.push_str(value.as_ref());
    }
}

/// Returns two documents as one: the members of two objects, of which the second's count, or the elements of both,
/// where what is not an array is its only element.
pub(in crate::engine) fn concatenated(one: &str, other: &str) -> String {
    if let (Some(of_one), Some(of_other)) = (members(one), members(other)) {
        let mut all = of_one;
        all.extend(of_other);
        all.sort_by(|(key, _), (next, _)| by_key(key, next));
        let mut last: Vec<(Cow<'_, str>, &str)> = Vec::with_capacity(all.len());
        for member in all {
            match last.last_mut() {
                Some(before) if before.0 == member.0 => *before = member,
                _ => last.push(member),
            }
        }
        return object_of(&last);
    }
    let mut all = elements(one).unwrap_or_else(|| vec![one]);
    all.extend(elements(other).unwrap_or_else(|| vec![other]));
    array_of(&all)
}

/// Returns an object without some keys, or an array without some strings; `None` for a scalar.
pub(in crate::engine) fn without_key(document: &str, is_left_out: impl Fn(&str) -> bool) -> Option<String> {
    if let Some(mut members) = members(document) {
        members.retain(|(key, _)| !is_left_out(key));
        return Some(object_of(&members));
    }
    let mut elements = elements(document)?;
    elements.retain(|value| {
        let text = if shape(value) == Some(Shape::Text) { plain_text(value) } else { None };
        !text.is_some_and(|text| is_left_out(&text))
    });
    Some(array_of(&elements))
}

/// Returns an array without an element, which is counted from 0, or from the end; `None` for what is not an array.
pub(in crate::engine) fn without_index(document: &str, index: i64) -> Option<String> {
    let mut elements = elements(document)?;
    let place = match usize::try_from(index) {
        Ok(place) => Some(place),
        Err(_) => elements.len().checked_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX)),
    };
    if let Some(place) = place.filter(|place| *place < elements.len()) {
        elements.remove(place);
    }
    Some(array_of(&elements))
}

/// Returns a document without members that are null, at any depth.
pub(in crate::engine) fn without_nulls(document: &str) -> String {
    if let Some(members) = members(document) {
        let kept = members.into_iter().filter(|(_, value)| shape(value) != Some(Shape::Null));
        let kept: Vec<_> = kept.map(|(key, value)| (key, without_nulls(value))).collect();
        return object_of(&kept);
    }
    match elements(document) {
        Some(elements) => array_of(&elements.into_iter().map(without_nulls).collect::<Vec<_>>()),
        None => document.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, concatenated, without_index, without_key, without_nulls};

    #[test]
    fn documents_are_concatenated() {
        for (one, other, wanted) in [
            ("{\"a\": 1, \"b\": 2}", "{\"a\": 3, \"\": 0}", "{\"\": 0, \"a\": 3, \"b\": 2}"),
            ("{\"a\": 1}", "[2]", "[{\"a\": 1}, 2]"),
            ("1", "2", "[1, 2]"),
            ("{}", "[]", "[{}]"),
            ("[1]", "[2, 3]", "[1, 2, 3]"),
            ("null", "[]", "[null]"),
        ] {
            assert_eq!(concatenated(one, other), wanted);
        }
    }

    #[test]
    fn documents_are_changed_at_a_path() {
        let path = |steps: &[&str]| steps.iter().map(|step| Some((*step).to_owned())).collect::<Vec<_>>();
        let set = |creates| Change::Set { value: "9", creates };
        let insert = |is_behind| Change::Insert { value: "9", is_behind };
        for (change, document, steps, wanted) in [
            (set(true), "{\"a\": [1, {\"b\": 2}]}", &["a", "1", "b"][..], "{\"a\": [1, {\"b\": 9}]}"),
            (set(true), "{\"b\": 1}", &["a"], "{\"a\": 9, \"b\": 1}"),
            (set(false), "{\"b\": 1}", &["a"], "{\"b\": 1}"),
            (set(true), "{\"b\": 1}", &["a", "c"], "{\"b\": 1}"),
            (set(true), "[1, 2]", &["7"], "[1, 2, 9]"),
            (set(true), "[1, 2]", &["-7"], "[9, 1, 2]"),
            (set(true), "[1, 2]", &["-1"], "[1, 9]"),
            (set(true), "{\"a\": 1}", &["a", "b"], "{\"a\": 1}"),
            (insert(false), "[1, 2]", &["1"], "[1, 9, 2]"),
            (insert(true), "[1, 2]", &["1"], "[1, 2, 9]"),
            (Change::Delete, "{\"a\": [1, 2]}", &["a", "-1"], "{\"a\": [1]}"),
            (Change::Delete, "{\"a\": [1, 2]}", &["b", "c"], "{\"a\": [1, 2]}"),
        ] {
            assert_eq!(change.apply(document, &path(steps)).as_deref(), Ok(wanted), "{change:?} {document}");
        }
        assert!(insert(false).apply("{\"a\": 1}", &path(&["a"])).is_err());
        assert!(set(true).apply("[1]", &path(&["x"])).is_err());
        assert!(set(true).apply("1", &path(&["x"])).is_err());
        assert!(set(true).apply("[1]", &[None]).is_err());
    }

    #[test]
    fn parts_are_left_out() {
        assert_eq!(without_key("{\"a\": 1, \"b\": 2}", |key| key == "a").as_deref(), Some("{\"b\": 2}"));
        assert_eq!(without_key("[\"a\", \"b\", \"a\", 1]", |key| key == "a").as_deref(), Some("[\"b\", 1]"));
        assert_eq!(without_key("1", |_| true), None);
        assert_eq!(without_index("[1, 2, 3]", -1).as_deref(), Some("[1, 2]"));
        assert_eq!(without_index("[1, 2, 3]", 9).as_deref(), Some("[1, 2, 3]"));
        assert_eq!(without_nulls("{\"a\": null, \"b\": [null, {\"c\": null}]}"), "{\"b\": [null, {}]}");
    }
}
