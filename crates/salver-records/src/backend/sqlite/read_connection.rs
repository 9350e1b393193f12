//! A connection that reads, and the read transaction that is kept open on it between reads of a lane, as long as
//! nothing is committed: beginning and ending one takes file locks, which cost more than a read by key.
//!
//! The header of the log's index tells before each read whether anything was committed, so that a read sees every
//! commit that was acknowledged before it. `idle_sweep` ends idle transactions, which would keep the log from being
//! reset.

use std::sync::Arc;

use rusqlite::Connection;
use salver_model::Result;

use super::error_codes::fault;
use super::file_generation::FileGeneration;
use super::interrupt::Watch;
use super::log_index::{LogHead, LogIndex};
use crate::cell::Cell;

/// A connection that reads.
pub(super) struct ReadConnection {
    // First, so that it is closed before the era is released.
    pub(super) connection: Connection,
    pub(super) watch: Arc<Watch>,
    /// Reusable memory for the cells of a row.
    pub(super) spare: Vec<Cell<'static>>,
    /// SQLite's counter at the last change that was seen, and the version returned for it.
    pub(super) seen: Option<(i64, u64)>,
    /// The transaction that is open between reads.
    pub(super) kept: CachedReadTxn,
    pub(super) era: Arc<FileGeneration>,
}

/// The read transaction that a connection keeps.
#[derive(Default)]
pub(super) struct CachedReadTxn {
    index: Option<LogIndex>,
    /// The log's head when the open transaction began.
    open: Option<LogHead>,
    /// The log's head before the last read: a transaction is worth keeping only where nothing was committed since.
    last: Option<LogHead>,
    /// Whether there was a read since the last sweep.
    used: bool,
}

impl CachedReadTxn {
    /// Creates the state of a connection whose journal may be a write-ahead log.
    pub(super) fn new(index: Option<LogIndex>) -> Self {
        Self { index, ..Self::default() }
    }

    /// Returns the log's present head; `None` without a log.
    fn head(&self) -> Option<LogHead> {
        self.index.as_ref().map(LogIndex::head)
    }
}

impl ReadConnection {
    /// Puts the connection under the control of `watch`.
    pub(super) fn under(&mut self, watch: &Arc<Watch>) -> Result<()> {
        watch.set(&mut self.connection, &self.era.over).map_err(fault)?;
        self.watch = Arc::clone(watch);
        Ok(())
    }

    /// Ends an outdated transaction, so that the next read sees the present state.
    pub(super) fn refresh(&mut self) {
        if let Some(head) = self.kept.head() {
            self.refresh_to(head);
        }
    }

    /// Refreshes like [`ReadConnection::refresh`], with the log's present head.
    fn refresh_to(&mut self, head: LogHead) {
        if self.kept.open.is_some_and(|open| open != head) {
            self.release();
        }
    }

    /// Ends the open transaction, if any.
    pub(super) fn release(&mut self) {
        if self.kept.open.take().is_some() {
            // Ending a read-only transaction can't fail.
            let _ = self.connection.prepare_cached("COMMIT").and_then(|mut commit| commit.raw_execute());
        }
    }

    /// Runs a read in the kept transaction, or keeps one for the next reads.
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
        // A commit during the start of the read may be in it or not; and after a failure the state is unknown.
        if done.is_none() || begins && self.kept.head() != Some(before) {
            self.release();
        }
        self.kept.last = Some(before);
        self.kept.used = true;
        done
    }

    /// Returns whether there was a read since the last call.
    pub(super) fn take_used(&mut self) -> bool {
        std::mem::take(&mut self.kept.used)
    }

    /// Returns whether a transaction is open.
    pub(super) fn keeps(&self) -> bool {
        self.kept.open.is_some()
    }
}
