//! The values of bind variables.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use salver_model::Value;
use salver_model::limits::{ARGUMENT_BYTES_MAX, FILTER_TERMS_MAX};
use serde_json::{Map, Value as Json};

use super::{BIND_PARAMETER_MISSING, BIND_PARAMETER_TYPE, BIND_PARAMETER_UNDECLARED, Mistake, TOO_MUCH_NESTING};

/// Approximate overhead of a value beside its text, in bytes.
const VALUE_BYTES: usize = 32;

/// The values of bind variables, and the set of those that the query referenced. The value of a collection variable is
/// keyed by its name with one `@`.
#[derive(Debug)]
pub(crate) struct Binds<'j> {
    values: Option<&'j Map<String, Json>>,
    asked: RefCell<BTreeSet<String>>,
    /// Bytes of the values returned so far, which are copies.
    bytes: Cell<usize>,
}

impl<'j> Binds<'j> {
    /// Wraps the given values; `None` when there are none.
    pub(crate) fn new(values: Option<&'j Map<String, Json>>) -> Self {
        Self { values, asked: RefCell::default(), bytes: Cell::new(0) }
    }

    fn get(&self, name: &str) -> Result<&'j Json, Mistake> {
        self.asked.borrow_mut().insert(name.to_owned());
        self.values.and_then(|values| values.get(name)).ok_or_else(|| {
            let message = format!("AQL: no value specified for declared bind parameter '{name}' (while parsing)");
            Mistake::new(BIND_PARAMETER_MISSING, message)
        })
    }

    /// Returns the name of a collection.
    pub(super) fn collection(&self, name: &str) -> Result<&'j str, Mistake> {
        let key = format!("@{name}");
        self.get(&key)?.as_str().ok_or_else(|| wrong_type(&key))
    }

    /// Returns a single value.
    pub(super) fn value(&self, name: &str) -> Result<Value, Mistake> {
        let value = self.get(name)?;
        self.count(std::slice::from_ref(value))?;
        scalar(value).ok_or_else(|| wrong_type(name))
    }

    fn count(&self, values: &[Json]) -> Result<(), Mistake> {
        let bytes = values.iter().map(|value| VALUE_BYTES + value.as_str().map_or(0, str::len)).sum::<usize>();
        self.bytes.set(self.bytes.get() + bytes);
        if self.bytes.get() > ARGUMENT_BYTES_MAX {
            let what = format!("the values of bind parameters have more than {ARGUMENT_BYTES_MAX} bytes");
            return Err(Mistake::new(TOO_MUCH_NESTING, format!("AQL: too much nesting or too many objects: {what}")));
        }
        Ok(())
    }

    /// Returns a list of values.
    pub(super) fn list(&self, name: &str) -> Result<Vec<Value>, Mistake> {
        let values = self.get(name)?.as_array().ok_or_else(|| wrong_type(name))?;
        if values.len() > FILTER_TERMS_MAX {
            let what = format!("bind parameter '{name}' has more than {FILTER_TERMS_MAX} values");
            return Err(Mistake::new(TOO_MUCH_NESTING, format!("AQL: too much nesting or too many objects: {what}")));
        }
        self.count(values)?;
        values.iter().map(|value| scalar(value).ok_or_else(|| wrong_type(name))).collect()
    }

    /// Checks that the query referenced every value.
    pub(super) fn finish(&self) -> Result<(), Mistake> {
        let asked = self.asked.borrow();
        match self.values.into_iter().flat_map(Map::keys).find(|name| !asked.contains(*name)) {
            None => Ok(()),
            Some(name) => {
                let message = format!("AQL: bind parameter '{name}' was not declared in the query (while parsing)");
                Err(Mistake::new(BIND_PARAMETER_UNDECLARED, message))
            }
        }
    }
}

/// The error for a bind variable whose value has a type that is not allowed at its position.
pub(crate) fn wrong_type(name: &str) -> Mistake {
    let message = format!("AQL: bind parameter '{name}' has an invalid value or type (while parsing)");
    Mistake::new(BIND_PARAMETER_TYPE, message)
}

/// Converts a JSON value to a value of the model; `None` for arrays and objects.
pub(crate) fn scalar(value: &Json) -> Option<Value> {
    match value {
        Json::Null => Some(Value::Null),
        Json::Bool(value) => Some(Value::Bool(*value)),
        Json::String(text) => Some(Value::Text(text.clone())),
        Json::Number(number) => Value::number(&number.to_string()),
        Json::Array(_) | Json::Object(_) => None,
    }
}
