//! A connection that reads, and the read transactions that are kept open on it from one read of a lane to the next, as
//! long as nothing is committed: to begin and to end one takes locks of the file, which cost more than a read by key
//! does.
//!
//! Whether something was committed is told by the head of the log's index, before each read, so that a read sees every
//! commit that was answered before it came. A transaction that nobody used for a while is ended, by `sweep`: it would
//! keep the log from beginning anew.

use std::sync::Arc;

use rusqlite::Connection;
use salver_model::Result;

use super::era::Era;
use super::fault::fault;
use super::log_index::{LogHead, LogIndex};
use super::watch::Watch;
use crate::cell::Cell;

/// A connection that reads.
pub(super) struct Reader {
    // First, so that it is closed before the era is let go.
    pub(super) connection: Connection,
    pub(super) watch: Arc<Watch>,
    /// Memory for the cells of a row.
    pub(super) spare: Vec<Cell<'static>>,
    /// What SQLite said of the last change that was seen, and the version that was told for it.
    pub(super) seen: Option<(i64, u64)>,
    /// The transaction that is open from read to read.
    pub(super) kept: Kept,
    pub(super) era: Arc<Era>,
}

/// What a connection keeps.
#[derive(Default)]
pub(super) struct Kept {
    index: Option<LogIndex>,
    /// What stood in the index when the transaction that is open began.
    open: Option<LogHead>,
    /// What stood there before the last read: a transaction is worth keeping only where nothing was committed since.
    last: Option<LogHead>,
    /// Whether there was a read since the sweeper came by.
    used: bool,
}

impl Kept {
    /// For a connection whose journal may be a log.
    pub(super) fn new(index: Option<LogIndex>) -> Self {
        Self { index, ..Self::default() }
    }

    /// What stands in the index now; `None` where there is none.
    fn head(&self) -> Option<LogHead> {
        self.index.as_ref().map(LogIndex::head)
    }
}

impl Reader {
    /// Lets `watch` decide over what runs here.
    pub(super) fn under(&mut self, watch: &Arc<Watch>) -> Result<()> {
        watch.set(&mut self.connection, &self.era.over).map_err(fault)?;
        self.watch = Arc::clone(watch);
        Ok(())
    }

    /// Sees to it that what is read now is what is there now.
    pub(super) fn refresh(&mut self) {
        if let Some(head) = self.kept.head() {
            self.refresh_to(head);
        }
    }

    /// As [`Reader::refresh`], with what stands in the index now.
    fn refresh_to(&mut self, head: LogHead) {
        if self.kept.open.is_some_and(|open| open != head) {
            self.release();
        }
    }

    /// Ends the transaction that is open, if one is.
    pub(super) fn release(&mut self) {
        if self.kept.open.take().is_some() {
            // A transaction that has only read can't fail to end.
            let _ = self.connection.prepare_cached("COMMIT").and_then(|mut commit| commit.raw_execute());
        }
    }

    /// Runs a read in the transaction that is kept, or keeps one for those that follow.
    pub(super) fn keeping<R>(&mut self, read: impl FnOnce(&mut Self) -> Option<R>) -> Option<R> {
        let Some(before) = self.kept.head() else { return read(self) };
        self.refresh_to(before);
        let begins = self.kept.open.is_none()
            && self.kept.last == Some(before)
            && self.connection.prepare_cached("BEGIN").and_then(|mut begin| begin.raw_execute()).is_ok();
        if begins {
            self.kept.open = Some(before);
        }
        let done = read(self);
        // What was committed while the read began is in it or not; and after a failure nothing is as it should be.
        if done.is_none() || begins && self.kept.head() != Some(before) {
            self.release();
        }
        self.kept.last = Some(before);
        self.kept.used = true;
        done
    }

    /// Whether there was a read since this was asked last.
    pub(super) fn take_used(&mut self) -> bool {
        std::mem::take(&mut self.kept.used)
    }

    /// Whether a transaction is open.
    pub(super) fn keeps(&self) -> bool {
        self.kept.open.is_some()
    }
}
