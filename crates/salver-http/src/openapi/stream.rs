//! The paths of a stream, with its schema as that of the events.

use salver_model::spec::StreamSpec;
use salver_model::{Caller, Permission};
use salver_text::percent;
use serde_json::{Value as Json, json};

use super::table::for_entry;
use crate::openapi_document::{OpenapiDocument, component_name, json_content, reference};

/// The paths of any stream that each has for its own: method, path, beginning of the id, summary, and the permission.
const OPERATIONS: [(&str, &str, &str, &str, Permission); 4] = [
    ("get", "/api/streams/{name}", "stream", "Get the state of the stream `{name}`.", Permission::Consume),
    ("post", "/api/streams/{name}", "append", "Append events to `{name}`.", Permission::Append),
    ("get", "/api/streams/{name}/tail", "tail", "Follow new events of `{name}`.", Permission::Consume),
    ("get", "/api/streams/{name}/events", "events", "Get a page of events of `{name}`.", Permission::Consume),
];

/// Describes what the caller may do with a stream.
pub(super) fn describe(document: &mut OpenapiDocument, caller: &Caller, spec: &StreamSpec) {
    let name = spec.name.as_str();
    let key = component_name(name);
    for (method, path, id, summary, permission) in OPERATIONS {
        let Some(general) = document.operation_at(path, method).filter(|_| caller.may(permission, name)) else {
            continue;
        };
        let mut operation = for_entry(general, name, &format!("{id}.{key}"), summary);
        if permission == Permission::Append {
            let component = format!("event.{key}");
            document.component("schemas", &component, event(spec, &component));
            // Without a schema of its own, what is said of every stream holds of this one, too.
            if spec.schema.is_some() {
                operation["requestBody"]["content"]["application/json"] =
                    json!({ "schema": reference("schemas", &component) });
            }
        }
        document.operation(&path.replace("{name}", &percent::encode(name)), method, operation);
    }
    if let Some(route) = spec.route.as_deref().filter(|_| caller.may(Permission::Append, name)) {
        let event = reference("schemas", &format!("event.{key}"));
        let operation = json!({
            "operationId": format!("append_one.{key}"),
            "summary": format!("Append an event to `{name}`."),
            "tags": ["Streams"],
            "requestBody": { "required": true, "content": json_content(event) },
            "responses": {
                "200": {
                    "description": "The id of the event.",
                    "content": { "text/plain": { "schema": { "type": "string" } } },
                },
                "default": reference("responses", "problem-default"),
            },
        });
        document.operation(route, "post", operation);
    }
}

/// Returns the schema of events: that of the settings, whose references lead to the place where it is now.
fn event(spec: &StreamSpec, component: &str) -> Json {
    let declared = spec.schema.as_deref().and_then(|text| serde_json::from_str::<Json>(text).ok());
    let Some(mut schema) = declared else { return json!({ "type": "object", "additionalProperties": true }) };
    if let Json::Object(members) = &mut schema {
        members.shift_remove("$id");
    }
    let place = format!("#/components/schemas/{component}");
    redirect(&mut schema, &place);
    schema
}

fn redirect(schema: &mut Json, place: &str) {
    match schema {
        Json::Object(members) => {
            if let Some(Json::String(target)) = members.get_mut("$ref")
                && let Some(inside) = target.strip_prefix('#').filter(|rest| rest.is_empty() || rest.starts_with('/'))
            {
                *target = format!("{place}{inside}");
            }
            members.values_mut().for_each(|member| redirect(member, place));
        }
        Json::Array(items) => items.iter_mut().for_each(|item| redirect(item, place)),
        _ => {}
    }
}
