//! `/api/functions` and `/api/functions/{file}`: the functions of each file, and the state of its processes.

use http::Response;
use salver_model::functions::{Endpoint, Language, Parameter, ParameterKind};
use salver_service::FunctionFile;
use serde_json::{Value as Json, json};

use crate::body::Body;
use crate::redaction;
use crate::request_context::RequestContext;
use crate::status::json_response;

/// Lists all files.
pub(super) fn all(context: &RequestContext<'_>) -> Response<Body> {
    json_response(&Json::Array(super::callable(context).map(described).collect()))
}

/// Describes one file.
pub(super) fn one(file: &FunctionFile) -> Response<Body> {
    json_response(&described(file))
}

fn described(file: &FunctionFile) -> Json {
    let (spec, workers) = (file.spec(), file.workers());
    let language = match spec.language {
        Language::R => "R",
        Language::Python => "Python",
    };
    let mut described = json!({ "name": spec.name.as_str(), "language": language, "path": format!("{}/", spec.path) });
    match file.interface() {
        Ok(interface) => {
            described["application"] = interface.application.into();
            described["title"] = interface.title.clone().into();
            described["description"] = interface.description.clone().into();
            let own = |endpoint| endpoint_described(spec.name.as_str(), &spec.path, interface.application, endpoint);
            described["endpoints"] = interface.endpoints.iter().map(own).collect();
        }
        Err(error) => {
            described["failure"] = json!({ "message": redaction::message(&error), "hint": redaction::hint(&error) });
        }
    }
    described["workers"] = json!({
        "alive": workers.alive, "busy": workers.busy, "waiting": workers.waiting, "lost": workers.lost,
        "loads": workers.loads, "wait_ms": u64::try_from(workers.wait.as_millis()).unwrap_or(u64::MAX),
    });
    described
}

fn endpoint_described(file: &str, mount: &str, application: bool, endpoint: &Endpoint) -> Json {
    let mut described = json!({ "parameters": endpoint.parameters.iter().map(parameter).collect::<Vec<_>>() });
    if !endpoint.function.is_empty() {
        described["function"] = endpoint.function.clone().into();
    }
    if !application {
        described["call"] = format!("/api/functions/{file}/{}", endpoint.function).into();
    }
    if let Some((method, path)) = &endpoint.route {
        described["method"] = method.clone().into();
        described["path"] = format!("{mount}{path}").into();
    }
    for (name, text) in [("summary", &endpoint.summary), ("description", &endpoint.description)] {
        if let Some(text) = text {
            described[name] = text.clone().into();
        }
    }
    if endpoint.result != ParameterKind::Any {
        described["result"] = word(endpoint.result).into();
    }
    for (name, is_so) in [("pure", endpoint.pure), ("vectorized", endpoint.vectorized)] {
        if is_so {
            described[name] = true.into();
        }
    }
    described
}

fn parameter(parameter: &Parameter) -> Json {
    let mut described = json!({ "name": parameter.name, "type": word(parameter.kind), "required": parameter.required });
    if parameter.list {
        described["list"] = true.into();
    }
    if let Some(text) = &parameter.description {
        described["description"] = text.clone().into();
    }
    described
}

/// Returns the type name of a kind in JSON Schema, if it has one.
pub(super) fn word(kind: ParameterKind) -> &'static str {
    match kind {
        ParameterKind::Any => "any",
        ParameterKind::Boolean => "boolean",
        ParameterKind::Integer => "integer",
        ParameterKind::Number => "number",
        ParameterKind::Text => "string",
        ParameterKind::Object => "object",
        ParameterKind::Bytes => "bytes",
    }
}
