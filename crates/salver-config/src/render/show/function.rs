//! The settings of a file of functions, in their written form.

use salver_model::spec::FunctionSpec;

use super::{absolute, masked_pairs, pairs_unless_empty, quoted, texts};

/// Returns the value of a setting; `None` when it was not given.
pub(super) fn value(spec: &FunctionSpec, key: &str) -> Option<String> {
    match key {
        "name" => Some(quoted(spec.name.as_str())),
        "file" => spec.file.to_str().map(|path| quoted(&absolute(path))),
        "path" => Some(quoted(if spec.path.is_empty() { "/" } else { &spec.path })),
        "interpreter" => spec.interpreter.as_ref().and_then(|path| path.to_str()).map(quoted),
        "workers" => Some(spec.workers_max.to_string()),
        "workers_min" => Some(spec.workers_min.to_string()),
        "waiting_max" => Some(spec.waiting_max.to_string()),
        "wait" => Some(spec.wait.as_millis().to_string()),
        "timeout" => Some(spec.timeout.unwrap_or_default().as_millis().to_string()),
        "job_workers" => Some(spec.job_workers.to_string()),
        "job_timeout" => Some(spec.job_timeout.unwrap_or_default().as_millis().to_string()),
        "memory_bytes_max" => Some(spec.memory_bytes_max.unwrap_or_default().to_string()),
        "calls_max" => Some(spec.calls_max.unwrap_or_default().to_string()),
        "environment" => pairs_unless_empty(&masked_pairs(&spec.environment)),
        "inherit_environment" => (!spec.inherited.is_empty()).then(|| texts(&spec.inherited)),
        "sandbox" => Some(quoted(spec.sandbox.level.word())),
        "run_as" => spec.sandbox.run_as.as_deref().map(quoted),
        "network" => Some(spec.sandbox.network.to_string()),
        "open_files_max" => Some(spec.sandbox.open_files_max.unwrap_or_default().to_string()),
        "processes_max" => Some(spec.sandbox.processes_max.unwrap_or_default().to_string()),
        _ => None,
    }
}
