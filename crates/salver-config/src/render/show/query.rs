//! The settings of views and named queries, in their written form.

use salver_model::spec::{ParameterSpec, QuerySpec, ViewSpec};

use super::{list, quoted};

/// Returns the value of a setting of a view; `None` when it was not given.
pub(super) fn view(spec: &ViewSpec, key: &str) -> Option<String> {
    match key {
        "name" => Some(quoted(spec.name.as_str())),
        "sql" => Some(quoted(&spec.sql)),
        "runs_as" => Some(quoted(spec.runs_as.word())),
        _ => None,
    }
}

/// Returns the value of a setting of a query; `None` when it was not given.
pub(super) fn query(spec: &QuerySpec, key: &str) -> Option<String> {
    match key {
        "name" => Some(quoted(spec.name.as_str())),
        "sql" => Some(quoted(&spec.sql)),
        "description" => (!spec.description.is_empty()).then(|| quoted(&spec.description)),
        "parameter" => (!spec.parameters.is_empty()).then(|| list(&spec.parameters, parameter)),
        "runs_as" => Some(quoted(spec.runs_as.word())),
        _ => None,
    }
}

fn parameter(spec: &ParameterSpec) -> String {
    let mut parts = vec![format!("name = {}", quoted(&spec.name))];
    parts.extend(spec.kind.map(|kind| format!("type = {}", quoted(kind.word()))));
    parts.extend(spec.default.as_deref().map(|default| format!("default = {}", quoted(default))));
    parts.push(format!("required = {}", spec.required));
    if !spec.description.is_empty() {
        parts.push(format!("description = {}", quoted(&spec.description)));
    }
    format!("{{ {} }}", parts.join(", "))
}
