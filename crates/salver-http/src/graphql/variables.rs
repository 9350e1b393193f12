//! The variables of a request: as its operation takes them, and with all digits of their numbers, which serde_json
//! rounds to 64-bit floats.

use ahash::AHashMap;
use apollo_compiler::response::{JsonMap, JsonValue};
use salver_text::json::Reader;

use super::input::Input;

/// The variables of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variables<'v> {
    /// The values, of the types that the operation declares.
    pub(crate) values: &'v JsonMap,
    pub(crate) exact: &'v ExactVariables,
}

impl Variables<'_> {
    /// Returns the value of a variable; `None` for one that was not given.
    pub(super) fn get(&self, name: &str) -> Option<Input> {
        let value = self.values.get(name)?;
        Some(self.exact.0.get(name).cloned().unwrap_or_else(|| Input::of_json(value)))
    }
}

/// Values of variables with numbers that may have been rounded, as they were written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExactVariables(AHashMap<String, Input>);

impl ExactVariables {
    /// Reads those of `text`, the object that has become `values`.
    pub(super) fn of(values: &JsonMap, text: &str) -> Self {
        let mut exact = AHashMap::new();
        if !values.values().any(is_rounded) {
            return Self(exact);
        }
        let mut reader = Reader::new(text.as_bytes());
        if reader.peek() == Some(b'{') {
            let members = object(&mut reader).unwrap_or_default();
            exact = members.into_iter().filter(|(name, _)| values.get(&**name).is_some_and(is_rounded)).collect();
        }
        Self(exact)
    }

    /// Does the same for the variables within a request of JSON.
    pub(super) fn of_request(values: &JsonMap, text: &str) -> Self {
        if !values.values().any(is_rounded) {
            return Self::default();
        }
        let (mut reader, mut is_first, mut own) = (Reader::new(text.as_bytes()), true, "");
        reader.peek();
        reader.enter();
        while let Some(name) = reader.member(&mut is_first) {
            let Some(span) = reader.span() else { break };
            // Of a name that is repeated the last value counts.
            if name.to_text() == "variables" {
                own = text.get(span).unwrap_or_default();
            }
        }
        Self::of(values, own)
    }
}

/// Returns whether a value has numbers that may have been rounded.
fn is_rounded(value: &JsonValue) -> bool {
    match value {
        JsonValue::Number(number) => number.is_f64(),
        JsonValue::Array(items) => items.iter().any(is_rounded),
        JsonValue::Object(fields) => fields.values().any(is_rounded),
        JsonValue::Null | JsonValue::Bool(_) | JsonValue::String(_) => false,
    }
}

/// Reads a value of JSON that has been parsed before, so that it is right and not too deep.
fn input(reader: &mut Reader<'_>) -> Option<Input> {
    Some(match reader.peek()? {
        b'{' => Input::Object(object(reader)?),
        b'[' => {
            reader.enter();
            let (mut items, mut is_first) = (Vec::new(), true);
            while reader.element(&mut is_first) {
                items.push(input(reader)?);
            }
            Input::List(items)
        }
        b'"' => Input::Text(reader.string()?.to_text().into_owned()),
        _ => match std::str::from_utf8(reader.skip()?).ok()? {
            "null" => Input::Null,
            truth @ ("true" | "false") => Input::Bool(truth == "true"),
            number => Input::Number(number.to_owned()),
        },
    })
}

/// Reads the members of an object; of a name that is repeated the last value counts.
fn object(reader: &mut Reader<'_>) -> Option<Vec<(String, Input)>> {
    reader.enter();
    let (mut members, mut is_first) = (Vec::new(), true);
    let mut places = AHashMap::new();
    while let Some(name) = reader.member(&mut is_first) {
        let name = name.to_text().into_owned();
        let value = input(reader)?;
        match places.get(&name) {
            Some(place) => members[*place] = (name, value),
            None => {
                places.insert(name.clone(), members.len());
                members.push((name, value));
            }
        }
    }
    Some(members)
}

#[cfg(test)]
mod tests {
    use apollo_compiler::response::{JsonMap, JsonValue};

    use super::{ExactVariables, Input, Variables};

    fn map(text: &str) -> JsonMap {
        match serde_json::from_str(text) {
            Ok(JsonValue::Object(values)) => values,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn numbers_keep_their_digits() {
        let text = r#" {"a": 99999999999999.99, "b": [1, {"c" : 9007199254740993.5 , "d": [], "e": "x\n\"", "f": {}}],
            "g": null, "h": 7, "i": "1.5", "j": {"k": 1.5, "k": -0.10e-3, "l": true}, "a": 18446744073709551616}"#;
        let values = map(text);
        let request = format!("\u{20}{{\"query\":\"{{a}}\",\"variables\":{{}},\"variables\" :{text} ,\"x\":[1.5]}}");
        let number = |text: &str| Input::Number(text.to_owned());
        for exact in [ExactVariables::of(&values, text), ExactVariables::of_request(&values, &request)] {
            let variables = Variables { values: &values, exact: &exact };
            assert_eq!(variables.get("a"), Some(number("18446744073709551616")));
            let within = Input::Object(vec![
                ("c".to_owned(), number("9007199254740993.5")),
                ("d".to_owned(), Input::List(Vec::new())),
                ("e".to_owned(), Input::Text("x\n\"".to_owned())),
                ("f".to_owned(), Input::Object(Vec::new())),
            ]);
            assert_eq!(variables.get("b"), Some(Input::List(vec![number("1"), within])));
            assert_eq!(variables.get("g"), Some(Input::Null));
            assert_eq!(variables.get("h"), Some(number("7")));
            assert_eq!(variables.get("i"), Some(Input::Text("1.5".to_owned())));
            let last = vec![("k".to_owned(), number("-0.10e-3")), ("l".to_owned(), Input::Bool(true))];
            assert_eq!(variables.get("j"), Some(Input::Object(last)));
            assert_eq!(variables.get("z"), None);
        }
        let whole = map(r#"{"a": 1}"#);
        assert_eq!(ExactVariables::of(&whole, r#"{"a": 1}"#), ExactVariables::default());
    }
}
