//! Errors of a document, as the standard's `errors` and as Salver's own error.

use std::borrow::Cow;

use apollo_compiler::Schema;
use apollo_compiler::diagnostic::ToCliReport;
use apollo_compiler::parser::LineColumn;
use apollo_compiler::response::GraphQLError;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::DiagnosticList;
use salver_model::limits::GRAPHQL_ERRORS_MAX;
use salver_model::{Code, Error, suggest};
use serde_json::{Value as Json, json};

use crate::redaction;

/// One error of a document.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) message: String,
    pub(crate) locations: Vec<LineColumn>,
    pub(crate) path: Vec<String>,
    pub(crate) code: Code,
    pub(crate) hint: Option<String>,
}

impl Problem {
    /// Creates a problem from `error`, at the field with this `path`.
    pub(crate) fn at(path: &[&str], error: &Error) -> Self {
        Self {
            message: redaction::message(error).into_owned(),
            locations: Vec::new(),
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            code: error.code,
            hint: redaction::hint(error).map(Cow::into_owned),
        }
    }

    /// Returns whether the error is transient, so that the request may be retried.
    pub(crate) fn passes(&self) -> bool {
        matches!(
            self.code,
            Code::DatabaseUnavailable
                | Code::Contention
                | Code::Timeout
                | Code::Overloaded
                | Code::OutOfMemory
                | Code::EntryUnavailable
                | Code::Internal
        )
    }

    /// Converts an error of the GraphQL library.
    pub(crate) fn of(error: &GraphQLError) -> Self {
        Self {
            message: error.message.clone(),
            locations: error.locations.clone(),
            path: Vec::new(),
            code: Code::InvalidGraphql,
            hint: None,
        }
    }

    /// Converts all errors of a failed validation, with hints.
    pub(crate) fn all(errors: &DiagnosticList, schema: &Schema) -> Vec<Self> {
        let mut problems: Vec<Self> = errors
            .iter()
            .take(GRAPHQL_ERRORS_MAX)
            .map(|found| {
                let error = GraphQLError::new(found.error.to_string(), found.error.location(), found.sources);
                Self { hint: hint(&error.message, schema), ..Self::of(&error) }
            })
            .collect();
        // An unknown field leaves its parent without a selection, which is then reported as another error.
        if problems.iter().any(|problem| problem.message.contains("does not have a field")) {
            problems.retain(|problem| !problem.message.contains("must have a subselection set"));
        }
        problems
    }

    /// Returns the element of `errors`.
    pub(crate) fn json(&self) -> Json {
        let mut out = json!({ "message": self.message });
        if !self.locations.is_empty() {
            let locations = self.locations.iter().map(|at| json!({ "line": at.line, "column": at.column }));
            out["locations"] = locations.collect();
        }
        if !self.path.is_empty() {
            out["path"] = self.path.iter().map(String::as_str).collect();
        }
        out["extensions"] = json!({ "code": self.code.slug() });
        if let Some(hint) = &self.hint {
            out["extensions"]["hint"] = hint.as_str().into();
        }
        out
    }

    /// Converts the problem into Salver's error, with its location in the message.
    pub(crate) fn into_error(self) -> Error {
        let at = self.locations.first().map(|at| format!(" at line {}, column {}", at.line, at.column));
        Error::new(self.code, format!("{}{}", self.message, at.unwrap_or_default())).with_hint_if(self.hint)
    }
}

/// Returns the name nearest to the unknown one in a message of the validation.
fn hint(message: &str, schema: &Schema) -> Option<String> {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let &[first, second, ..] = quoted.as_slice() else { return None };
    if message.contains("does not have a field") {
        let fields = fields(schema, first)?;
        return suggest::hint(second, fields.iter().map(String::as_str));
    }
    if message.starts_with("the argument") && message.contains("not supported by") {
        let (owner, field) = second.split_once('.')?;
        let ExtendedType::Object(object) = schema.types.get(owner)? else { return None };
        let arguments = &object.fields.get(field)?.arguments;
        return suggest::hint(first, arguments.iter().map(|argument| argument.name.as_str()));
    }
    if message.contains("does not exist on") {
        let fields = fields(schema, second)?;
        return suggest::hint(first, fields.iter().map(String::as_str));
    }
    None
}

fn fields(schema: &Schema, owner: &str) -> Option<Vec<String>> {
    Some(match schema.types.get(owner)? {
        ExtendedType::Object(object) => object.fields.keys().map(ToString::to_string).collect(),
        ExtendedType::InputObject(object) => object.fields.keys().map(ToString::to_string).collect(),
        ExtendedType::Enum(values) => values.values.keys().map(ToString::to_string).collect(),
        _ => return None,
    })
}
