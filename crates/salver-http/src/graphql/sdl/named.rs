//! Writes the root fields and object types of named queries.

use salver_model::spec::Parameter;
use salver_model::{ParameterType, Value};
use serde_json::Number;

use super::{column, describe, object_type, push};
use crate::graphql::graph::QueryType;
use crate::graphql::scalar::Scalar;

/// Writes the root field of a query.
pub(super) fn root(query: &QueryType, out: &mut String) {
    let spec = query.query.spec();
    match spec.description.as_str() {
        "" => describe(&format!("Rows of the named query `{}`", spec.name), out),
        text => describe(text, out),
    }
    out.push_str(&query.type_name);
    for (at, (name, parameter)) in query.arguments.iter().zip(&query.description.parameters).enumerate() {
        out.push_str(if at == 0 { "(\n" } else { "" });
        argument(name, parameter, out);
    }
    let end = if query.arguments.is_empty() { "" } else { ")" };
    push(out, format_args!("{end}: [{}!]\n", query.type_name));
}

/// Writes the object type of the rows of a query.
pub(super) fn row_type(query: &QueryType, out: &mut String) {
    describe(&format!("A row of the named query `{}`", query.query.spec().name), out);
    push(out, format_args!("type {} {{\n", query.type_name));
    for field in &query.columns {
        column(field, out);
    }
    out.push_str("}\n");
    for object in query.columns.iter().filter_map(|column| column.shape.object()) {
        object_type(object, out);
    }
}

fn argument(name: &str, parameter: &Parameter, out: &mut String) {
    let renamed = (name != parameter.name).then(|| format!("Parameter `{}`", parameter.name));
    let texts = [Some(parameter.description.clone()).filter(|text| !text.is_empty()), renamed];
    let text = texts.into_iter().flatten().collect::<Vec<_>>().join(". ");
    if !text.is_empty() {
        describe(&text, out);
    }
    let default = default_of(parameter);
    // One with a default can be left out, and can't be null.
    let required = if parameter.required || default.is_some() { "!" } else { "" };
    push(out, format_args!("{name}: {}{required}", scalar(parameter.kind).name()));
    if let Some(default) = default {
        push(out, format_args!(" = {default}"));
    }
    out.push('\n');
}

fn scalar(kind: ParameterType) -> Scalar {
    match kind {
        ParameterType::Text => Scalar::String,
        ParameterType::Integer => Scalar::Int64,
        ParameterType::Number => Scalar::Float,
        ParameterType::Boolean => Scalar::Boolean,
        ParameterType::Date => Scalar::Date,
        ParameterType::Timestamp => Scalar::Timestamp,
    }
}

/// Returns the default as a literal; `None` for a parameter without one, and for a number that is written as none of
/// GraphQL.
fn default_of(parameter: &Parameter) -> Option<String> {
    let text = parameter.default_text.as_deref().unwrap_or_default();
    match (parameter.default.as_ref()?, parameter.kind) {
        (Value::Null, _) => None,
        (Value::Bool(value), _) => Some(value.to_string()),
        (Value::Int(value), ParameterType::Integer) => Some(value.to_string()),
        (_, ParameterType::Number) => serde_json::from_str::<Number>(text).is_ok().then(|| text.trim().to_owned()),
        (_, _) => Some(serde_json::Value::from(text).to_string()),
    }
}
