//! The plan of a read request: statements, and the sink that makes a document of their rows.

use std::sync::Arc;

use salver_model::records::Document;
use salver_model::{Code, Result};

use super::document::ListSink;
use super::stream;
use crate::scope::Scope;
use crate::statement::Read;

/// Longest list that is sent as a whole, in bytes.
const WHOLE_BYTES: usize = 1024 * 1024;

/// Statements, and the sink for their rows.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) reads: Vec<Read>,
    pub(crate) sink: ListSink,
    /// Whether the result is small enough to be buffered.
    pub(crate) small: bool,
}

/// Runs a plan.
pub(crate) async fn run(scope: &Scope<'_>, plan: Plan) -> Result<Document> {
    if plan.small {
        let sink = plan.sink.anew().within(WHOLE_BYTES);
        match scope.backend.read(plan.reads.clone(), sink, None).await {
            Ok(sink) => return Ok(Document::whole(sink.finish())),
            // Few rows, but wide ones: they are streamed.
            Err(error) if error.code == Code::AnswerTooLarge => {}
            Err(error) => return Err(error),
        }
    }
    stream::streamed(Arc::clone(scope.backend), &scope.access.caller.holder(), plan.reads, plan.sink).await
}
