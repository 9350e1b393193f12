//! Which bytes are to be made of held rows, and how they are read.

use std::ops::Range as Span;
use std::sync::Arc;
use std::time::Duration;

use salver_formats::Format;
use salver_model::ports::Held;
use salver_model::{Caller, Code, Error, Result};
use salver_service::exports::{Range, Reader};

use crate::app::App;
use crate::body::Encoding;

/// Which bytes are to be made.
#[derive(Clone)]
pub(super) struct Work {
    pub(super) app: Arc<App>,
    pub(super) caller: Caller,
    pub(super) held: Arc<dyn Held>,
    pub(super) columns: Vec<usize>,
    pub(super) parts: Span<usize>,
    /// Rows of the parts that are left out first, and how many follow at most.
    pub(super) skip: u64,
    pub(super) rows: Option<u64>,
    pub(super) encoding: Encoding,
    /// How many of the rows that were left out stand in the same body, so that its beginning is left out too.
    pub(super) before: u64,
}

impl Work {
    /// All rows of `held`.
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

    /// Goes on behind the first `rows` rows of the same body.
    pub(super) fn behind(mut self, rows: u64) -> Self {
        (self.skip, self.before) = (self.skip + rows, rows);
        self.rows = self.rows.map(|all| all.saturating_sub(rows));
        self
    }

    /// A reader of what is left behind `done` rows.
    pub(super) fn reader(&self, done: u64) -> Reader {
        let rows = self.rows.map(|rows| rows.saturating_sub(done));
        let range = Range { parts: self.parts.clone(), skip: self.skip + done, rows };
        Reader::new(Arc::clone(&self.held), self.columns.clone(), range)
    }

    /// Whether reading can begin anywhere at little cost, so that a client that stalls need not keep a decoder.
    pub(super) fn can_seek(&self) -> bool {
        self.held.finds_again()
    }

    /// How long a client is waited for with everything at hand.
    pub(super) fn patience(&self) -> Duration {
        self.app.exports.turns.patience()
    }

    /// Whether there are more rows than an answer may have.
    pub(super) fn check(&self, rows: u64) -> Result<()> {
        let rows_max = self.app.service.limits().rows_max;
        if rows_max != 0 && self.before + rows > rows_max {
            return Err(too_many_rows());
        }
        Ok(())
    }
}

/// Whether the bytes of `format` are the same however its rows are cut, so that a body of it can be gone on with.
/// Arrow's are not: unused bits and dictionaries follow from how rows lay in memory.
pub(super) fn is_repeatable(format: Format) -> bool {
    !matches!(format, Format::ArrowStream | Format::ArrowFile)
}

/// That an answer has more rows than it may.
pub(super) fn too_many_rows() -> Error {
    Error::new(Code::AnswerTooLarge, "the answer has more rows than `limits.rows_max` allows")
        .with_hint("read it in parts: `POST /api/export` opens streams that are read by `offset` and `rows`")
}
