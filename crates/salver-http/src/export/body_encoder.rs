//! The description of the rows to encode, and the reader of these rows.

use std::ops::Range as Span;
use std::sync::Arc;
use std::time::Duration;

use salver_formats::Format;
use salver_model::access::Bound;
use salver_model::ports::Held;
use salver_model::{Caller, Code, Error, Result};
use salver_service::exports::{ExportReader, Range};

use crate::app::App;
use crate::body::Encoding;

/// The rows to encode.
#[derive(Clone)]
pub(super) struct Work {
    pub(super) app: Arc<App>,
    pub(super) caller: Caller,
    pub(super) held: Arc<dyn Held>,
    pub(super) columns: Vec<usize>,
    pub(super) parts: Span<usize>,
    /// Number of rows of the parts to skip, and the maximum number of rows after those.
    pub(super) skip: u64,
    pub(super) rows: Option<u64>,
    pub(super) encoding: Encoding,
    /// Number of skipped rows that belong to the same body. If there are any, the header of the format is skipped too.
    pub(super) before: u64,
}

impl Work {
    /// Selects all rows of `held`.
    pub(super) fn all(
        app: &Arc<App>,
        caller: &Caller,
        held: Arc<dyn Held>,
        columns: Vec<usize>,
        encoding: Encoding,
    ) -> Self {
        let (app, parts) = (Arc::clone(app), 0..held.parts());
        Self { app, caller: caller.clone(), held, columns, parts, skip: 0, rows: None, encoding, before: 0 }
    }

    /// Resumes after the first `rows` rows of the same body.
    pub(super) fn behind(mut self, rows: u64) -> Self {
        (self.skip, self.before) = (self.skip + rows, rows);
        self.rows = self.rows.map(|all| all.saturating_sub(rows));
        self
    }

    /// Returns a reader of the rows after the first `done`.
    pub(super) fn reader(&self, done: u64) -> ExportReader {
        let rows = self.rows.map(|rows| rows.saturating_sub(done));
        let range = Range { parts: self.parts.clone(), skip: self.skip + done, rows };
        ExportReader::new(Arc::clone(&self.held), self.columns.clone(), range)
    }

    /// Returns whether reading can begin anywhere cheaply, so that a stalled client need not hold a decoder.
    pub(super) fn can_seek(&self) -> bool {
        self.held.finds_again()
    }

    /// Returns the time to wait for a client before its resources are released.
    pub(super) fn patience(&self) -> Duration {
        self.app.exports.turns.patience()
    }

    /// Refuses more rows than a response may have.
    pub(super) fn check(&self, rows: u64) -> Result<()> {
        let bound = self.caller.limits.rows(self.app.service.limits().rows_max);
        if bound.is_exceeded_by(self.before + rows) { Err(too_many_rows(bound)) } else { Ok(()) }
    }
}

/// Returns whether the bytes of `format` are independent of how rows are batched, so that a body can be resumed.
/// Arrow's are not: unused bits and dictionaries depend on the memory layout of the rows.
pub(super) fn is_repeatable(format: Format) -> bool {
    !matches!(format, Format::ArrowStream | Format::ArrowFile)
}

/// The error for a response with more rows than the limit.
pub(super) fn too_many_rows(bound: Bound) -> Error {
    bound
        .refuse(Code::AnswerTooLarge, format!("the answer has more rows than {} allows", bound.setting()))
        .with_hint("read it in parts: `POST /api/export` opens streams that are read by `offset` and `rows`")
}
