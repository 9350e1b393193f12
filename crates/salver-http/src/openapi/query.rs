//! The path of a named query, with its parameters and its columns.

use salver_model::ParameterType;
use salver_model::ports::QueryDescription;
use salver_model::spec::{Parameter, QuerySpec};
use salver_text::percent;
use serde_json::{Value as Json, json};

use super::row_schema;
use super::table::{for_entry, rows};
use crate::openapi_document::{OpenapiDocument, component_name, reference};

/// The path of any named query.
const PATH: &str = "/api/queries/{name}";

/// A named query of the caller, and what it takes and gives.
pub(super) type SeenQuery = (QuerySpec, QueryDescription);

/// Describes the path of a query.
pub(super) fn describe(document: &mut OpenapiDocument, (spec, description): &SeenQuery) {
    let Some(general) = document.operation_at(PATH, "get") else { return };
    let name = spec.name.as_str();
    let key = component_name(name);
    let component = format!("query_row.{key}");
    let mut operation = for_entry(general, name, &format!("query.{key}"), &format!("Run the query `{name}`."));
    if !spec.description.is_empty() {
        operation["description"] = spec.description.as_str().into();
    }
    if let Some(Json::Array(parameters)) = operation.get_mut("parameters") {
        parameters.extend(description.parameters.iter().map(parameter));
    }
    operation["responses"]["200"] = rows(&reference("schemas", &component));
    document.component("schemas", &component, row_schema::of_columns(&description.columns));
    document.operation(&PATH.replace("{name}", &percent::encode(name)), "get", operation);
}

fn parameter(parameter: &Parameter) -> Json {
    let schema = match parameter.kind {
        ParameterType::Text => json!({ "type": "string" }),
        ParameterType::Integer => json!({ "type": "integer", "format": "int64" }),
        ParameterType::Number => json!({ "type": "number" }),
        ParameterType::Boolean => json!({ "type": "boolean" }),
        ParameterType::Date => json!({ "type": "string", "format": "date" }),
        ParameterType::Timestamp => json!({ "type": "string", "format": "date-time" }),
    };
    let mut described = json!({
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "schema": schema,
    });
    let default = parameter.default_text.as_ref().map(|text| format!("Without it: `{text}`."));
    let texts = [parameter.description.clone(), default.unwrap_or_default()];
    let texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    if !texts.is_empty() {
        described["description"] = texts.join(" ").into();
    }
    described
}
