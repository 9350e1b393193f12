//! A statement with its parameters, and its rows while they are sent.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use salver_model::access::Bound;
use salver_model::reply::BatchStream;
use salver_model::{Batches, PgValue, Result, Rows};
use salver_service::reception::Welcome;

use super::column::{Column, columns};
use super::message::Formats;
use super::prepared::Prepared;
use super::row_encoder::EncodedBatch;

/// A portal.
#[derive(Debug)]
pub(super) struct Portal {
    pub(super) prepared: Arc<Prepared>,
    pub(super) parameters: Vec<PgValue>,
    pub(super) formats: Formats,
    pub(super) state: PortalState,
    /// Whether it outlives the transaction that it was made in.
    pub(super) is_held: bool,
}

/// How far a portal is.
#[derive(Debug)]
pub(super) enum PortalState {
    /// Nothing was done yet.
    Bound,
    /// There may be more rows.
    Running(Box<RunningRows>),
    /// Everything was done.
    Done,
}

impl Portal {
    /// Returns its columns, if they are known.
    pub(super) fn columns(&self) -> Option<&Arc<[Column]>> {
        match &self.state {
            PortalState::Running(rows) => Some(&rows.columns),
            PortalState::Bound | PortalState::Done => self.prepared.columns.known(),
        }
    }

    /// Returns the memory for its parameters, in bytes.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.parameters.iter().map(PgValue::bytes).sum::<usize>()
    }
}

/// The rows of a statement that runs.
pub(super) struct RunningRows {
    pub(super) columns: Arc<[Column]>,
    batches: Source,
    /// The batch that is being sent, and the first of its rows that was not.
    current: Option<(EncodedBatch, usize)>,
    /// When the statement began.
    pub(super) began: Instant,
    /// Bytes of the rows that were sent.
    sent_bytes: u64,
    /// What the caller was let in with; `None` for rows that everybody may see.
    pub(super) admission: Option<Admission>,
}

/// What the caller of a statement was let in with.
pub(super) struct Admission {
    /// Versions of who callers are, and of what they may see.
    pub(super) rights: (u64, u64),
    /// Bound on the bytes of the rows.
    bytes: Bound,
    /// Counts the statement among those of its caller.
    pub(super) running: Option<Box<dyn Any + Send + Sync>>,
}

impl Admission {
    pub(super) fn new(welcome: Welcome) -> Self {
        let rights = welcome.service.own_rights();
        let bytes = welcome.caller.limits.response_bytes();
        Self { rights: (rights.callers, rights.rules), bytes, running: Some(welcome.running) }
    }
}

enum Source {
    Ready(VecDeque<RecordBatch>),
    /// Never locked: it makes the session one that tasks can share.
    Stream(Mutex<BatchStream>),
}

impl RunningRows {
    /// Returns the rows of an answer, in the columns that the client was told, if it was.
    pub(super) fn new(rows: Rows, told: Option<Arc<[Column]>>, began: Instant, admission: Option<Admission>) -> Self {
        let columns = told.unwrap_or_else(|| columns(&rows.schema));
        let batches = match rows.batches {
            Batches::Ready(batches) => Source::Ready(batches.into()),
            Batches::Stream(stream) => Source::Stream(Mutex::new(stream)),
        };
        Self { columns, batches, current: None, began, sent_bytes: 0, admission }
    }

    /// Counts bytes of rows that are about to be sent.
    ///
    /// # Errors
    /// `AnswerTooLarge` if they are more than the caller may get.
    pub(super) fn count_bytes(&mut self, bytes: usize) -> Result<()> {
        self.sent_bytes = self.sent_bytes.saturating_add(bytes as u64);
        match &self.admission {
            Some(Admission { bytes, .. }) if bytes.is_exceeded_by(self.sent_bytes) => Err(bytes.refuse_answer()),
            _ => Ok(()),
        }
    }

    /// Returns the batch that is being sent and the place in it, after taking the next one if it is done; `None` at the
    /// end.
    ///
    /// # Errors
    /// Those of the query.
    pub(super) async fn current(&mut self) -> Result<Option<&mut (EncodedBatch, usize)>> {
        while self.current.as_ref().is_none_or(|(batch, at)| *at >= batch.rows()) {
            self.current = None;
            let next = match &mut self.batches {
                Source::Ready(batches) => batches.pop_front(),
                Source::Stream(stream) => {
                    stream.get_mut().unwrap_or_else(PoisonError::into_inner).next().await.transpose()?
                }
            };
            let Some(batch) = next else { return Ok(None) };
            self.current = Some((EncodedBatch::new(&batch, &self.columns)?, 0));
        }
        Ok(self.current.as_mut())
    }
}

impl fmt::Debug for RunningRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningRows").field("columns", &self.columns).finish_non_exhaustive()
    }
}
