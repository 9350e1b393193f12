//! Masks of fields in the form of Google's `fields` parameter: `a,b.c,d(e,f(g))`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The fields of a message that are meant, each with those in it; without any, all of them.
#[derive(Debug, Default)]
pub(super) struct FieldMask(BTreeMap<String, FieldMask>);

impl FieldMask {
    /// Parses a mask; `None` if it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut rest = text;
        let mask = Self::list(&mut rest)?;
        rest.is_empty().then_some(mask)
    }

    /// Fields with commas between them.
    fn list(rest: &mut &str) -> Option<Self> {
        let mut mask = Self::default();
        loop {
            let (name, inner) = Self::field(rest)?;
            mask.0.insert(name, inner);
            match rest.strip_prefix(',') {
                Some(behind) => *rest = behind,
                None => return Some(mask),
            }
        }
    }

    /// A field, with a field in it behind a point, or several in brackets.
    fn field(rest: &mut &str) -> Option<(String, Self)> {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if name.is_empty() {
            return None;
        }
        *rest = behind;
        let mut inner = Self::default();
        if let Some(behind) = rest.strip_prefix(['.', '/']) {
            *rest = behind;
            inner.0.extend([Self::field(rest)?]);
        } else if let Some(behind) = rest.strip_prefix('(') {
            *rest = behind;
            inner = Self::list(rest)?;
            *rest = rest.strip_prefix(')')?;
        }
        Some((name.to_owned(), inner))
    }

    /// Returns a field that is not among the `known` ones.
    pub(super) fn beyond(&self, known: &Self) -> Option<String> {
        self.0.iter().find_map(|(name, inner)| match known.0.get(name) {
            None => Some(name.clone()),
            Some(known) => inner.beyond(known).map(|unknown| format!("{name}.{unknown}")),
        })
    }

    /// Returns what the mask leaves of a value.
    pub(super) fn of(&self, value: &Value) -> Value {
        match value {
            _ if self.0.is_empty() => value.clone(),
            Value::Array(items) => items.iter().map(|item| self.of(item)).collect(),
            Value::Object(fields) => {
                let kept = self.0.iter().filter_map(|(name, inner)| Some((name.clone(), inner.of(fields.get(name)?))));
                Value::Object(kept.collect::<Map<String, Value>>())
            }
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::FieldMask;

    #[test]
    fn masks() {
        let value = json!({ "a": 1, "b": { "c": 2, "d": 3 }, "e": [{ "f": 4, "g": { "h": 5, "i": 6 } }] });
        for (mask, expected) in [
            ("a", json!({ "a": 1 })),
            ("b.c,a", json!({ "a": 1, "b": { "c": 2 } })),
            ("e(f,g(i))", json!({ "e": [{ "f": 4, "g": { "i": 6 } }] })),
            ("e.g(h),a", json!({ "a": 1, "e": [{ "g": { "h": 5 } }] })),
            ("b,e(g.h)", json!({ "b": { "c": 2, "d": 3 }, "e": [{ "g": { "h": 5 } }] })),
        ] {
            assert_eq!(FieldMask::parse(mask).unwrap().of(&value), expected, "{mask}");
        }
        for wrong in ["", "a,", "a(", "a(b", "a)b", "a(b))", "a b", "()"] {
            assert!(FieldMask::parse(wrong).is_none(), "{wrong}");
        }
        let known = FieldMask::parse("a,b(c)").unwrap();
        assert_eq!(FieldMask::parse("b(d)").unwrap().beyond(&known).as_deref(), Some("b.d"));
        assert_eq!(FieldMask::parse("b.c,a").unwrap().beyond(&known), None);
    }
}
