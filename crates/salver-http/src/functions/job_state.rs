//! The state of a job.

use std::time::SystemTime;

use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::{Value as Json, json};

use crate::app::App;
use crate::functions_state::Job;

/// Returns a job as JSON.
pub(super) fn document(app: &App, job: &Job) -> Json {
    let mut document = json!({
        "id": job.id, "function": job.function, "state": state(job), "created": instant(job.created),
        "started": job.begun.get().copied().map(instant),
    });
    if let Some(outcome) = job.outcome.get() {
        document["finished"] = instant(outcome.at).into();
        document["status"] = outcome.answer.status().as_u16().into();
        document["result"] = format!("{}/api/jobs/{}/result", app.options.base_path, job.id).into();
        if outcome.is_failure {
            // Errors are written as JSON, so this one can be parsed.
            document["error"] = serde_json::from_slice(outcome.answer.body()).unwrap_or_default();
        }
    }
    if let Some(callback) = &job.callback {
        let state = match callback.told.get() {
            None => "waiting",
            Some(true) => "delivered",
            Some(false) => "failed",
        };
        document["callback"] = json!({ "url": callback.address, "state": state });
    }
    document
}

/// Returns the name of its state.
pub(super) fn state(job: &Job) -> &'static str {
    match (job.outcome.get(), job.begun.get()) {
        (Some(outcome), _) if outcome.is_failure => "failed",
        (Some(_), _) => "done",
        (None, Some(_)) => "running",
        (None, None) => "queued",
    }
}

fn instant(time: SystemTime) -> String {
    DateTime::<Utc>::from(time).to_rfc3339_opts(SecondsFormat::Millis, true)
}
