//! Errors for calls without an answer.

use salver_model::spec::FunctionSpec;
use salver_model::{Code, Error};

/// Returns the error while the file is not loaded yet.
pub(super) fn loading(spec: &FunctionSpec) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{}` is being loaded", spec.name)).with_hint("try again in a moment")
}

/// Returns the error while the server shuts down.
pub(super) fn ending(spec: &FunctionSpec) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{}` is no longer served", spec.name))
        .with_hint("the server is being stopped")
}

/// Returns the error for a missing file.
pub(super) fn unreadable(spec: &FunctionSpec, error: std::io::Error) -> Error {
    Error::new(Code::EntryUnavailable, format!("`{}` can't be loaded: its file can't be read", spec.name))
        .with_hint(format!("see that {} is there and may be read", spec.file.display()))
        .with_source(error)
}

/// Returns the error for a full queue.
pub(super) fn full(spec: &FunctionSpec) -> Error {
    let (name, max) = (&spec.name, spec.waiting_max);
    Error::new(Code::Overloaded, format!("`{name}` is busy, and {max} calls wait for it already"))
        .with_hint(MORE_WORKERS)
}

/// Returns the error when no worker became free in time.
pub(super) fn late(spec: &FunctionSpec) -> Error {
    let (name, s) = (&spec.name, spec.wait.as_secs_f64());
    Error::new(Code::Overloaded, format!("`{name}` is busy, and none of its workers came free in {s} s"))
        .with_hint(MORE_WORKERS)
}

const MORE_WORKERS: &str = "try again later; with more workers more calls run at the same time";

/// Returns the error for a call that timed out.
pub(super) fn slow(spec: &FunctionSpec) -> Error {
    let s = spec.timeout.unwrap_or_default().as_secs_f64();
    Error::new(Code::Timeout, format!("the call of `{}` ran longer than {s} s and was ended", spec.name))
        .with_hint("let it do less at a time, make it a job, or allow it more time in the settings")
}

/// Returns the error for a job that timed out.
pub(super) fn slow_job(spec: &FunctionSpec) -> Error {
    let s = spec.job_timeout.unwrap_or_default().as_secs_f64();
    Error::new(Code::Timeout, format!("the job of `{}` ran longer than {s} s and was ended", spec.name))
        .with_hint("let it do less at a time, or allow jobs more time in the settings")
}

/// Returns the error for a call whose process ended.
pub(super) fn ended(spec: &FunctionSpec, error: std::io::Error) -> Error {
    Error::new(Code::FunctionFailed, format!("the process of the function ended while it worked on `{}`", spec.name))
        .with_hint("it crashed, left, or was killed (out of memory?); the server's log has what it wrote")
        .with_source(error)
}
