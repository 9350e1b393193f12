//! State of functions between requests: jobs.

mod jobs;

use salver_model::functions::Parameter;

pub(crate) use self::jobs::{Callback, Job, JobOutcome, Jobs};

/// Returns whether the parameter is variadic: R's dots or Python's keyword arguments.
pub(crate) fn takes_any(parameter: &Parameter) -> bool {
    parameter.name == "..." || parameter.name.starts_with("**")
}
