//! The path of an entry's rows, with its columns as the schema of a row and as conditions.

use salver_formats::Format;
use salver_model::Description;
use salver_text::percent;
use serde_json::{Map, Value as Json, json};

use super::row_schema;
use crate::openapi_document::{OpenapiDocument, allow_null, component_name, json_content, reference};

/// The path of the rows of any entry.
const PATH: &str = "/api/tables/{name}";

/// Describes the path, if that of any entry is described, with the columns of this description.
pub(super) fn describe(document: &mut OpenapiDocument, description: &Description) {
    let Some(general) = document.operation_at(PATH, "get") else { return };
    let name = description.name.as_str();
    let key = component_name(name);
    let component = format!("row.{key}");
    let mut operation = for_entry(general, name, &format!("rows.{key}"), &format!("Get rows of `{name}`."));
    if let Some(Json::Array(parameters)) = operation.get_mut("parameters") {
        add_examples(parameters, description);
        parameters.extend(conditions(description));
    }
    operation["responses"]["200"] = rows(&reference("schemas", &component));
    document.component("schemas", &component, row_schema::of(description));
    document.operation(&PATH.replace("{name}", &percent::encode(name)), "get", operation);
}

/// Returns an operation that is described with the parameter `name` in its path as that of one entry.
pub(super) fn for_entry(general: &Json, entry: &str, id: &str, summary: &str) -> Json {
    let mut operation = general.clone();
    operation["operationId"] = id.into();
    operation["summary"] = summary.replace("{name}", entry).into();
    if let Some(Json::Array(parameters)) = operation.get_mut("parameters") {
        parameters.retain(|parameter| parameter["in"] != "path" || parameter["name"] != "name");
    }
    operation
}

/// Replaces the parameters that name columns by ones with an example.
fn add_examples(parameters: &mut [Json], description: &Description) {
    let is_plain = |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let fields = description.schema.fields();
    let plain: Vec<&str> = fields.iter().map(|field| field.name().as_str()).filter(is_plain).take(2).collect();
    let Some(first) = plain.first().filter(|name| !name.is_empty()) else { return };
    let columns = ("columns", plain.join(","), "Columns to return, in this order, divided by commas.");
    let sort = ("sort", format!("-{first}"), "Columns to sort by, divided by commas; `-` before one for descending.");
    for (name, example, text) in [columns, sort] {
        let shared = reference("parameters", name);
        if let Some(parameter) = parameters.iter_mut().find(|parameter| **parameter == shared) {
            *parameter = json!({
                "name": name, "in": "query", "description": text, "schema": { "type": "string" }, "example": example,
            });
        }
    }
}

/// Returns a parameter for a condition on each column that has plain values.
fn conditions(description: &Description) -> impl Iterator<Item = Json> {
    let fields = description.schema.fields();
    fields.iter().enumerate().filter_map(move |(index, field)| {
        // The second of two columns with one name can't be meant.
        let is_first = fields[..index].iter().all(|other| other.name() != field.name());
        let schema = compared(row_schema::scalar(field.data_type()).filter(|_| is_first)?);
        Some(json!({ "name": format!("filter[{}]", field.name()), "in": "query", "schema": schema }))
    })
}

/// Returns the schema of what values of this schema are compared with: any number with a number of whatever type, and
/// `null` with every value.
fn compared(mut schema: Json) -> Json {
    if let Json::Object(members) = &mut schema {
        if matches!(members.get("type").and_then(Json::as_str), Some("integer" | "number")) {
            *members = Map::from_iter([("type".to_owned(), "number".into())]);
        }
        allow_null(members);
    }
    schema
}

/// Returns the response with rows of this schema.
pub(super) fn rows(row: &Json) -> Json {
    let mut content = json_content(json!({ "type": "array", "items": row }));
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Json) {
        let name = format.media_type().split(';').next().unwrap_or_default();
        content[name] = Json::Object(Map::new());
    }
    json!({ "description": "The rows, in the format that was asked for.", "content": content })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::compared;

    #[test]
    fn a_condition_takes_what_the_column_is_compared_with() {
        for (column, condition) in [
            (json!({ "type": "integer", "format": "int64" }), json!({ "type": ["number", "null"] })),
            (json!({ "type": "integer", "minimum": 0 }), json!({ "type": ["number", "null"] })),
            (json!({ "type": "boolean" }), json!({ "type": ["boolean", "null"] })),
            (json!({ "type": "string", "format": "date" }), json!({ "type": ["string", "null"], "format": "date" })),
        ] {
            assert_eq!(compared(column), condition);
        }
    }
}
