//! `/api/functions.openapi.json`: all endpoints as an OpenAPI 3.0.3 document (<https://spec.openapis.org/oas/v3.0.3>). The
//! document of everything that is served has the same descriptions of functions.

use http::Response;
use salver_model::functions::{Endpoint, Parameter, ParameterKind};
use serde_json::{Map, Value as Json, json};

use super::arguments::ARROW_STREAM;
use super::describe::word;
use crate::body::Body;
use crate::functions_state::takes_any;
use crate::openapi_document::{OpenapiDocument, OpenapiVersion, json_content};
use crate::request_context::RequestContext;
use crate::status::json_response;

/// Responds with the document.
pub(super) fn answer(context: &RequestContext<'_>) -> Response<Body> {
    let server = format!("{}/", context.app.options.base_path);
    let mut document = OpenapiDocument::new(OpenapiVersion::V3_0("3.0.3"), "Functions", &server);
    describe(context, &mut document);
    describe_jobs(&mut document);
    json_response(&document.finish(&context.app.auth))
}

/// Describes the functions that the caller may call: their routes, and their names.
pub(crate) fn describe(context: &RequestContext<'_>, document: &mut OpenapiDocument) {
    let declared = context.app.declared();
    for (index, file) in context.app.service.functions().iter().enumerate() {
        let (Ok(()), Ok(interface)) = (file.check(context.caller), file.interface()) else { continue };
        let name = file.spec().name.as_str();
        for (pattern, endpoint) in declared.endpoints(index) {
            let method = match &endpoint.route {
                Some((method, _)) if method != "*" => method.to_lowercase(),
                _ => "get".to_owned(),
            };
            let inside: Vec<&str> = pattern.names().collect();
            document.operation(&pattern.template(), &method, operation(name, endpoint, &inside, &method));
        }
        for endpoint in &interface.endpoints {
            if document.is_full() {
                return;
            }
            if !interface.application {
                let path = format!("/api/functions/{name}/{}", endpoint.function);
                if endpoint.pure {
                    document.operation(&path, "get", operation(name, endpoint, &[], "get"));
                }
                document.operation(&path, "post", operation(name, endpoint, &[], "post"));
            }
        }
    }
}

/// Describes the paths of jobs.
fn describe_jobs(document: &mut OpenapiDocument) {
    let id = json!({ "name": "id", "in": "path", "required": true, "schema": { "type": "string", "format": "uuid" } });
    let wait = json!({
        "name": "Prefer", "in": "header", "schema": { "type": "string" },
        "description": "`wait=N` waits up to N seconds until the job is done.",
    });
    let unknown = json!({ "description": "There is no such job of yours, or no result yet." });
    let operation = |summary: &str, parameters: &[&Json], status: &str, response: Json| {
        json!({
            "tags": ["jobs"], "summary": summary, "parameters": parameters,
            "responses": { status: response, "404": unknown },
        })
    };
    let path = "/api/jobs/{id}";
    let state = json!({ "description": "The job.", "content": json_content(job()) });
    document.operation(path, "get", operation("How a job is doing", &[&id, &wait], "200", state));
    let ended = json!({ "description": "It is no more." });
    document.operation(path, "delete", operation("Ends and forgets a job", &[&id], "204", ended));
    let answer = json!({ "description": "What the function answers." });
    let result = operation("What a job answered", &[&id, &wait], "default", answer);
    document.operation("/api/jobs/{id}/result", "get", result);
}

/// Returns the schema of a job.
fn job() -> Json {
    let time = json!({ "type": "string", "format": "date-time", "nullable": true });
    json!({
        "type": "object",
        "required": ["id", "function", "state", "created", "started"],
        "properties": {
            "id": { "type": "string" }, "function": { "type": "string" },
            "state": { "type": "string", "enum": ["queued", "running", "done", "failed"] },
            "created": time, "started": time, "finished": time,
            "status": { "type": "integer" }, "result": { "type": "string" },
            "error": { "type": "object", "additionalProperties": true },
            "callback": { "type": "object", "additionalProperties": true },
        },
    })
}

fn operation(file: &str, endpoint: &Endpoint, inside: &[&str], method: &str) -> Json {
    let mut operation = json!({
        "tags": [file],
        "responses": {
            "200": answered(endpoint),
            "202": {
                "description": "The call became a job, which `Location` names: so with `Prefer: respond-async`.",
                "content": json_content(job()),
            },
            "default": { "description": "An error: `code`, `error`, `message` and `hint`." },
        },
    });
    if let Some(summary) = &endpoint.summary {
        operation["summary"] = summary.clone().into();
    }
    if let Some(description) = &endpoint.description {
        operation["description"] = description.clone().into();
    }
    let is_inside = |own: &&Parameter| inside.contains(&own.name.as_str());
    let in_body = matches!(method, "post" | "put" | "patch");
    let mut parameters = Vec::new();
    for name in inside {
        let own = endpoint.parameters.iter().find(|own| own.name == *name).cloned().unwrap_or_default();
        let schema = schema(&own);
        parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
    }
    let others: Vec<&Parameter> = endpoint.parameters.iter().filter(|own| !is_inside(own)).collect();
    if let Some(body) = others.iter().find(|own| own.kind == ParameterKind::Bytes) {
        operation["requestBody"] = json!({
            "required": body.required,
            "content": {
                "application/octet-stream": { "schema": { "type": "string", "format": "binary" } },
                "multipart/form-data": { "schema": object(&others) },
            },
        });
    } else if in_body && !others.is_empty() {
        operation["requestBody"] = json!({
            "required": others.iter().any(|own| own.required && !takes_any(own)),
            "content": json_content(body(endpoint, &others)),
        });
        // Parameters without a declared type rarely mean a table.
        if others.iter().any(|own| own.table && own.kind == ParameterKind::Object) {
            operation["requestBody"]["content"][ARROW_STREAM] =
                json!({ "schema": { "type": "string", "format": "binary" } });
        }
    } else {
        for own in others.into_iter().filter(|own| !takes_any(own)) {
            let mut parameter =
                json!({ "name": own.name, "in": "query", "required": own.required, "schema": schema(own) });
            if let Some(description) = &own.description {
                parameter["description"] = description.clone().into();
            }
            parameters.push(parameter);
        }
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    operation
}

/// Returns the response of an endpoint, with the declared type as its schema. A vectorized function has none, since it
/// returns one such value per element: it may answer anything, as one without a declared type.
fn answered(endpoint: &Endpoint) -> Json {
    let mut answered = json!({ "description": "What the function answers." });
    let is_json = matches!(
        endpoint.result,
        ParameterKind::Boolean | ParameterKind::Integer | ParameterKind::Number | ParameterKind::Text
    );
    if let Some(schema) = endpoint.answer_schema.as_deref().and_then(read) {
        answered["content"] = json_content(schema);
    } else if is_json && !endpoint.vectorized {
        let schema = json!({ "type": word(endpoint.result), "nullable": true });
        answered["content"] = json_content(schema);
    } else {
        // Without a content, generated clients would throw away what comes.
        answered["content"] = json!({ "application/json": { "schema": {} }, "*/*": {} });
    }
    answered
}

/// Returns the schema of a body: the arguments by name, or the value of the only parameter.
fn body(endpoint: &Endpoint, others: &[&Parameter]) -> Json {
    let mut named = object(others);
    if !endpoint.takes_request && !endpoint.parameters.iter().any(takes_any) {
        named["additionalProperties"] = false.into();
    }
    let only = match endpoint.parameters.as_slice() {
        [only] if !takes_any(only) && !endpoint.takes_request => only,
        _ => return named,
    };
    let is_plain = only.list
        || matches!(
            only.kind,
            ParameterKind::Boolean | ParameterKind::Integer | ParameterKind::Number | ParameterKind::Text
        );
    // An object has the arguments by name, whatever the parameter takes.
    let value = if is_plain { nullable(only) } else { json!({ "not": { "type": "object" } }) };
    json!({ "anyOf": [named, value] })
}

/// Returns the schema of a value in JSON, where null stands for an argument that may be missing.
fn nullable(parameter: &Parameter) -> Json {
    let mut schema = schema(parameter);
    if !parameter.required && schema.get("type").is_some_and(Json::is_string) {
        schema["nullable"] = true.into();
    }
    schema
}

fn object(parameters: &[&Parameter]) -> Json {
    let named = parameters.iter().filter(|own| !takes_any(own));
    let properties: Map<String, Json> = named
        .map(|own| {
            let mut schema = nullable(own);
            if let Some(description) = &own.description {
                schema["description"] = description.clone().into();
            }
            (own.name.clone(), schema)
        })
        .collect();
    let required: Vec<&str> = parameters.iter().filter(|own| own.required).map(|own| own.name.as_str()).collect();
    let mut object = json!({ "type": "object", "properties": properties });
    if parameters.iter().any(|own| takes_any(own)) {
        object["additionalProperties"] = true.into();
    }
    if !required.is_empty() {
        object["required"] = required.into();
    }
    object
}

/// Parses the text of a schema that came from a file's process.
fn read(text: &str) -> Option<Json> {
    serde_json::from_str(text).ok().filter(Json::is_object)
}

fn schema(parameter: &Parameter) -> Json {
    if let Some(schema) = parameter.schema.as_deref().and_then(read) {
        return schema;
    }
    let one = match parameter.kind {
        ParameterKind::Any => json!({}),
        ParameterKind::Bytes => json!({ "type": "string", "format": "binary" }),
        kind => json!({ "type": word(kind) }),
    };
    if parameter.list { json!({ "type": "array", "items": one }) } else { one }
}

#[cfg(test)]
mod tests {
    use salver_model::functions::{Endpoint, Parameter, ParameterKind};
    use serde_json::{Value as Json, json};

    use super::body;

    fn described(parameters: &[(&str, bool, ParameterKind)]) -> Json {
        let parameter = |(name, required, kind): &(&str, bool, ParameterKind)| Parameter {
            name: (*name).to_owned(),
            required: *required,
            kind: *kind,
            ..Parameter::default()
        };
        let endpoint = Endpoint { parameters: parameters.iter().map(parameter).collect(), ..Endpoint::default() };
        body(&endpoint, &endpoint.parameters.iter().collect::<Vec<_>>())
    }

    #[test]
    fn bodies_have_what_is_taken() {
        let named = json!({
            "type": "object", "properties": { "n": { "type": "integer" } }, "additionalProperties": false,
            "required": ["n"],
        });
        // The value of the only parameter needs no name.
        let one = described(&[("n", true, ParameterKind::Integer)]);
        assert_eq!(one, json!({ "anyOf": [named, { "type": "integer" }] }));
        let any = described(&[("n", true, ParameterKind::Any)]);
        assert_eq!(any["anyOf"][1], json!({ "not": { "type": "object" } }));
        // Null stands for what may be missing.
        let two = described(&[("n", true, ParameterKind::Integer), ("word", false, ParameterKind::Text)]);
        assert_eq!(two["properties"]["word"], json!({ "type": "string", "nullable": true }));
        assert_eq!((&two["required"], &two["additionalProperties"]), (&json!(["n"]), &json!(false)));
    }
}
