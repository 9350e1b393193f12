//! Arguments as plain values, whether they come from literals of a document or from the variables of a request.

use apollo_compiler::Node;
use apollo_compiler::ast::{Argument, Value as Literal};
use apollo_compiler::response::JsonValue;
use salver_model::{Code, Error, Result, Value};

/// Returns the value of a variable; `None` for one that was not given.
pub(crate) type VariableSource<'a> = &'a dyn Fn(&str) -> Option<Input>;

/// A value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Input {
    Null,
    Bool(bool),
    /// A number as it was written, so that no digit is lost.
    Number(String),
    /// A string, or the name of an enum value.
    Text(String),
    List(Vec<Input>),
    Object(Vec<(String, Input)>),
}

impl Input {
    /// Evaluates a literal; `None` for a variable that was not given.
    pub(crate) fn of(literal: &Literal, variables: VariableSource<'_>) -> Option<Self> {
        Some(match literal {
            Literal::Null => Self::Null,
            Literal::Boolean(value) => Self::Bool(*value),
            Literal::Int(number) => Self::Number(number.as_str().to_owned()),
            Literal::Float(number) => Self::Number(number.as_str().to_owned()),
            Literal::String(text) => Self::Text(text.clone()),
            Literal::Enum(name) => Self::Text(name.to_string()),
            Literal::Variable(name) => variables(name.as_str())?,
            Literal::List(items) => {
                // A variable that was not given is null inside a list.
                Self::List(items.iter().map(|item| Self::of(item, variables).unwrap_or(Self::Null)).collect())
            }
            Literal::Object(fields) => Self::Object(
                fields.iter().filter_map(|(k, v)| Some((k.to_string(), Self::of(v, variables)?))).collect(),
            ),
        })
    }

    /// Converts a value of JSON.
    pub(super) fn of_json(value: &JsonValue) -> Self {
        match value {
            JsonValue::Null => Self::Null,
            JsonValue::Bool(value) => Self::Bool(*value),
            JsonValue::Number(number) => Self::Number(number.to_string()),
            JsonValue::String(text) => Self::Text(text.as_str().to_owned()),
            JsonValue::Array(items) => Self::List(items.iter().map(Self::of_json).collect()),
            JsonValue::Object(fields) => {
                Self::Object(fields.iter().map(|(k, v)| (k.as_str().to_owned(), Self::of_json(v))).collect())
            }
        }
    }

    /// Converts the value to a literal of a query.
    ///
    /// # Errors
    /// `InvalidValue` for lists and objects.
    pub(crate) fn value(&self, what: &str) -> Result<Value> {
        match self {
            Self::Null => Ok(Value::Null),
            Self::Bool(value) => Ok(Value::Bool(*value)),
            // What kind of number one with many digits is, the column knows.
            Self::Number(text) => Value::exact_number(text)
                .ok_or_else(|| Error::new(Code::InvalidValue, format!("the number {text} of {what} is too large"))),
            Self::Text(text) => Ok(Value::Text(text.clone())),
            Self::List(_) | Self::Object(_) => Err(Error::new(Code::InvalidValue, format!("{what} takes one value"))),
        }
    }

    /// Returns the items of a list; a single value is a list of one.
    pub(crate) fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            other => std::slice::from_ref(other),
        }
    }
}

/// The arguments of a field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Arguments(pub(crate) Vec<(String, Input)>);

impl Arguments {
    /// Evaluates `arguments`.
    pub(crate) fn of(arguments: &[Node<Argument>], variables: VariableSource<'_>) -> Self {
        let given = |a: &Node<Argument>| Some((a.name.to_string(), Input::of(&a.value, variables)?));
        Self(arguments.iter().filter_map(given).collect())
    }

    /// Returns the argument `name`; null counts as absent.
    pub(crate) fn get(&self, name: &str) -> Option<&Input> {
        self.0.iter().find(|(n, value)| n == name && *value != Input::Null).map(|(_, value)| value)
    }

    /// Returns the argument `name` as a count.
    ///
    /// # Errors
    /// `InvalidNumber`.
    pub(crate) fn count(&self, name: &str) -> Result<Option<u64>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let number = match value {
            Input::Number(text) => text.parse().ok(),
            _ => None,
        };
        number
            .map(Some)
            .ok_or_else(|| Error::new(Code::InvalidNumber, format!("`{name}` must be a whole number, zero or more")))
    }

    /// Returns the argument `name` as a boolean.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name) == Some(&Input::Bool(true))
    }

    /// Returns the argument `name` as text.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Input::Text(text)) => Some(text),
            _ => None,
        }
    }
}
