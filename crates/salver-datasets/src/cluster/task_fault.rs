//! Failures of tasks, as text. A scheduler passes on what an executor wrote, in texts of its own; so an executor writes
//! down what the failure is, and the server finds that in it.

use ballista_core::error::BallistaError;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use datafusion::common::DataFusionError;
use salver_model::{Code, Error};
use serde::{Deserialize, Serialize};

use crate::fault;

/// What stands before and behind a failure.
const BEGIN: &str = "<salver:";
const END: char = '>';
/// What stands between for what another executor had.
const LOST: &str = "lost";
/// What the scheduler says of a job that it cancelled, though nobody here asked for it.
const CANCELLED: &str = "Cancelled";

#[derive(Deserialize, Serialize)]
struct Written {
    code: String,
    message: String,
    hint: Option<String>,
}

/// What a scheduler says of a job that failed.
#[derive(Debug)]
pub(super) enum JobFault {
    /// The statement failed.
    Failed(Error),
    /// It lost an executor, or rows that one had.
    Lost(Error),
}

/// Writes a failure of a task. The scheduler never tries again by itself, see `lost_executors`.
pub(super) fn written(error: DataFusionError) -> DataFusionError {
    let cause = error.to_string();
    let text = judged(&error).map(|known| {
        tracing::warn!(code = ?known.code, message = known.message, cause, "a task failed");
        let written = Written { code: format!("{:?}", known.code), message: known.message, hint: known.hint };
        serde_json::to_vec(&written).map(|text| URL_SAFE_NO_PAD.encode(text)).unwrap_or_default()
    });
    let text = text.unwrap_or_else(|| {
        tracing::warn!(cause, "a task lost what another executor had");
        LOST.to_owned()
    });
    DataFusionError::Execution(format!("{BEGIN}{text}{END}"))
}

/// Returns what a failure is; `None` if another executor is the cause.
fn judged(error: &DataFusionError) -> Option<Error> {
    let root = error.find_root();
    match root {
        DataFusionError::External(inner) => match inner.downcast_ref::<BallistaError>() {
            Some(wrapped) => judged_wrapped(wrapped),
            None => Some(fault::elsewhere(root)),
        },
        _ => Some(fault::elsewhere(error)),
    }
}

/// The same of what the operators of Ballista wrapped.
fn judged_wrapped(wrapped: &BallistaError) -> Option<Error> {
    match wrapped {
        BallistaError::DataFusionError(inner) => judged(inner),
        BallistaError::ArrowError(inner) => Some(fault::elsewhere_in_kernel(inner)),
        _ => None,
    }
}

/// Reads what the scheduler says of a job that failed.
pub(super) fn read(told: &str) -> JobFault {
    let text = told.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map(|(text, _)| text);
    if text == Some(LOST) || told == CANCELLED {
        let error =
            Error::new(Code::EntryUnavailable, "the cluster has no executors, or lost those that worked on the query");
        return JobFault::Lost(
            error
                .with_hint("try again; the logs of the server and of the scheduler have the cause")
                .with_source(told.to_owned()),
        );
    }
    let written = text.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let written: Option<Written> = written.and_then(|text| serde_json::from_slice(&text).ok());
    let known = |written: Written| {
        let (code, ..) = Code::TABLE.iter().find(|(code, ..)| format!("{code:?}") == written.code)?;
        Some(Error::new(*code, written.message).with_hint_if(written.hint))
    };
    JobFault::Failed(written.and_then(known).unwrap_or_else(|| {
        Error::new(Code::EntryUnavailable, "the cluster could not answer the query")
            .with_hint("try again; the logs of the server and of the scheduler have the cause")
            .with_source(told.to_owned())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(told: &str) -> Error {
        match read(told) {
            JobFault::Failed(error) => error,
            JobFault::Lost(error) => panic!("{error:?}"),
        }
    }

    #[test]
    fn a_failure_is_found_in_the_texts_around_it() {
        let error = Error::new(Code::Execution, "`1 / 0` has no \"value\"").with_hint("use `nullif`");
        let error = written(DataFusionError::External(Box::new(error)));
        let read = failed(&format!("Job failed due to stage 1 failed: {:?}", BallistaError::from(error)));
        assert_eq!((read.code, read.message.as_str()), (Code::Execution, "`1 / 0` has no \"value\""));
        assert_eq!(read.hint.as_deref(), Some("use `nullif`"));
    }

    #[test]
    fn failures_of_kernels_are_found_in_those_of_operators() {
        let inner = BallistaError::ArrowError(Box::new(arrow::error::ArrowError::DivideByZero));
        let error = DataFusionError::Shared(std::sync::Arc::new(DataFusionError::External(Box::new(inner))));
        let read = failed(&written(error).to_string());
        assert_eq!((read.code, read.message.as_str()), (Code::Execution, "division by zero"));
    }

    #[test]
    fn what_nobody_wrote_is_not_the_client_s() {
        assert_eq!(failed("all executors are gone").code, Code::EntryUnavailable);
        assert_eq!(failed("<salver:x>").code, Code::EntryUnavailable);
    }

    #[test]
    fn what_another_executor_had_is_lost() {
        let lost = BallistaError::FetchFailed("e".to_owned(), 1, 2, "gone".to_owned());
        let error = written(DataFusionError::External(Box::new(lost)));
        assert!(matches!(read(&error.to_string()), JobFault::Lost(_)));
        assert!(matches!(read("Cancelled"), JobFault::Lost(_)));
    }
}
