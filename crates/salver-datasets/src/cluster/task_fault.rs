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

#[derive(Deserialize, Serialize)]
struct Written {
    code: String,
    message: String,
    hint: Option<String>,
}

/// Writes a failure of a task. Failures after which the scheduler tries again stay what they are.
pub(super) fn written(error: DataFusionError) -> DataFusionError {
    let Some(known) = judged(&error) else { return error };
    let cause = error.to_string();
    tracing::warn!(code = known.code.slug(), message = known.message, cause, "a task failed");
    let written = Written { code: known.code.slug().to_owned(), message: known.message, hint: known.hint };
    let text = serde_json::to_vec(&written).map(|text| URL_SAFE_NO_PAD.encode(text)).unwrap_or_default();
    DataFusionError::Execution(format!("{BEGIN}{text}{END}"))
}

/// Returns what a failure is; `None` if the scheduler tries again after it.
fn judged(error: &DataFusionError) -> Option<Error> {
    let root = error.find_root();
    match root {
        DataFusionError::IoError(_) => None,
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
        BallistaError::FetchFailed(..) | BallistaError::IoError(_) | BallistaError::Cancelled => None,
        BallistaError::DataFusionError(inner) => judged(inner),
        BallistaError::ArrowError(inner) => Some(fault::elsewhere_in_kernel(inner)),
        _ => None,
    }
}

/// Returns the failure of a job of which the scheduler says this.
pub(super) fn read(told: &str) -> Error {
    let text = told.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map(|(text, _)| text);
    let written = text.and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
    let written: Option<Written> = written.and_then(|text| serde_json::from_slice(&text).ok());
    let known = |written: Written| {
        let (code, ..) = Code::TABLE.iter().find(|(_, slug, _)| *slug == written.code)?;
        Some(Error::new(*code, written.message).with_hint_if(written.hint))
    };
    written.and_then(known).unwrap_or_else(|| {
        Error::new(Code::EntryUnavailable, "the cluster could not answer the query")
            .with_hint("try again; the logs of the server and of the scheduler have the cause")
            .with_source(told.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_found_in_the_texts_around_it() {
        let error = Error::new(Code::Execution, "`1 / 0` has no \"value\"").with_hint("use `nullif`");
        let error = written(DataFusionError::External(Box::new(error)));
        let told = format!("Job failed due to stage 1 failed: {:?}", BallistaError::from(error));
        let read = read(&told);
        assert_eq!((read.code, read.message.as_str()), (Code::Execution, "`1 / 0` has no \"value\""));
        assert_eq!(read.hint.as_deref(), Some("use `nullif`"));
    }

    #[test]
    fn what_nobody_wrote_is_not_the_client_s() {
        assert_eq!(read("all executors are gone").code, Code::EntryUnavailable);
        assert_eq!(read("<salver:x>").code, Code::EntryUnavailable);
    }

    #[test]
    fn failures_of_kernels_are_found_in_those_of_operators() {
        let inner = BallistaError::ArrowError(datafusion::arrow::error::ArrowError::DivideByZero);
        let error = DataFusionError::Shared(std::sync::Arc::new(DataFusionError::External(Box::new(inner))));
        let told = read(&written(error).to_string());
        assert_eq!((told.code, told.message.as_str()), (Code::Execution, "division by zero"));
    }

    #[test]
    fn failures_that_are_tried_again_stay() {
        let lost = BallistaError::FetchFailed("e".to_owned(), 1, 2, "gone".to_owned());
        let error = written(DataFusionError::External(Box::new(lost)));
        assert!(matches!(error, DataFusionError::External(inner) if inner.is::<BallistaError>()));
    }
}
