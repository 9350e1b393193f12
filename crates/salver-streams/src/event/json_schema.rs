//! A JSON Schema that every event of a stream must satisfy.

use jsonschema::Validator;
use salver_model::error::{Code, Error, Result};
use salver_model::limits::REASON_BYTES_MAX;
use serde_json::Value;

/// Compiled JSON Schema.
#[derive(Debug)]
pub(crate) struct Rule {
    validator: Validator,
}

impl Rule {
    /// Compiles a schema.
    ///
    /// # Errors
    /// Returns `Config` when the text is not a JSON Schema, or refers to another document.
    pub(crate) fn compile(schema: &str) -> Result<Self> {
        let bad = |message: String| {
            Error::new(Code::Config, message).with_hint("see https://json-schema.org for what a schema can say")
        };
        let schema: Value =
            serde_json::from_str(schema).map_err(|error| bad(format!("the schema is not JSON: {error}")))?;
        let validator = jsonschema::validator_for(&schema).map_err(|error| {
            let path = error.instance_path().to_string();
            bad(format!("the schema is not JSON Schema: {error} (at `{path}`)"))
        })?;
        Ok(Self { validator })
    }

    /// Validates one event; the error is the reason for rejection.
    pub(crate) fn check(&self, event: &[u8]) -> Result<(), String> {
        let value: Value = serde_json::from_slice(event).map_err(|error| error.to_string())?;
        let Err(error) = self.validator.validate(&value) else { return Ok(()) };
        let (instance, rule) = (error.instance_path().to_string(), error.schema_path().to_string());
        let place = if instance.is_empty() { "/" } else { &instance };
        let mut reason = format!("at `{place}`: {error}");
        if reason.len() > REASON_BYTES_MAX {
            reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
            reason.push_str("...");
        }
        Err(format!("{reason} (rule `{rule}`)"))
    }
}
