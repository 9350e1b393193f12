//! A connection that reads, and the read transaction that is kept open on it between reads of a lane: beginning and
//! ending one takes file locks, which cost more than a read by key.
//!
//! A read must see every commit that was acknowledged before it. How that is known depends on the journal:
//!
//! - **A write-ahead log** lets others commit meanwhile. The header of the log's index tells before each read whether
//!   they did. `idle_sweep` ends idle transactions, which would keep the log from being reset.
//! - **A rollback journal** lets nobody commit while a transaction reads, so that what it sees is the present. For the
//!   same reason it ends after some milliseconds, used or not, and with those of all other lanes (`lock_window`): a
//!   writer of another process that waits at all waits no longer than that. Only reads that follow each other closely
//!   keep one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use salver_model::Result;

use super::error_codes::fault;
use super::file_generation::FileGeneration;
use super::interrupt::Watch;
use super::lock_window::{HeldLock, LockWindow};
use super::log_index::{LogHead, LogIndex};
use crate::cell::Cell;

/// Time between two reads that are close enough for the second to begin a transaction under a rollback journal.
const CLOSE: Duration = Duration::from_millis(1);
/// The run number of a lane's watch, which nobody stops.
const LANE_RUN: u64 = 1;

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
    journal: Journal,
    /// The open transaction.
    open: Option<OpenTxn>,
    /// The log's head before the last read: a transaction is worth keeping only where nothing was committed since.
    last: Option<LogHead>,
    /// When the last read under a rollback journal began.
    last_read: Option<Instant>,
    /// Whether there was a read since the last sweep.
    used: bool,
}

/// How a transaction learns of commits.
#[derive(Default)]
enum Journal {
    /// In no way: none is kept.
    #[default]
    Unknown,
    /// From the index of the write-ahead log.
    Log(LogIndex),
    /// There are none while it is open, for as long as the window lets it.
    Rollback(Arc<LockWindow>),
}

enum OpenTxn {
    /// With the log's head when it began.
    Log(LogHead),
    /// With the lock that it keeps.
    Rollback { _held: HeldLock },
}

impl CachedReadTxn {
    /// Creates the state of a connection that has read. Without a window, none keeps writers away.
    pub(super) fn of(connection: &Connection, window: Option<&Arc<LockWindow>>) -> Self {
        let journal = match (LogIndex::of(connection), window) {
            (Some(index), _) => Journal::Log(index),
            (None, Some(window)) if has_rollback_journal(connection) => Journal::Rollback(Arc::clone(window)),
            (None, _) => Journal::Unknown,
        };
        Self { journal, ..Self::default() }
    }

    /// Returns the log's present head; `None` without a log.
    fn head(&self) -> Option<LogHead> {
        match &self.journal {
            Journal::Log(index) => Some(index.head()),
            Journal::Rollback(_) | Journal::Unknown => None,
        }
    }
}

/// Returns whether the connection's file has a rollback journal, as of its last read.
fn has_rollback_journal(connection: &Connection) -> bool {
    let mode = |mut own: rusqlite::CachedStatement<'_>| own.query_row([], |row| row.get::<_, String>(0));
    let mode = connection.prepare_cached("PRAGMA journal_mode").and_then(mode);
    mode.is_ok_and(|mode| matches!(mode.as_str(), "delete" | "truncate" | "persist"))
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
        if let Some(OpenTxn::Log(open)) = &self.kept.open
            && *open != head
        {
            self.release();
        }
    }

    /// Ends the open transaction, if any.
    pub(super) fn release(&mut self) {
        if let Some(open) = self.kept.open.take() {
            // Not within the time of the last read. SQLite asks in the middle of this too whether to go on, and if it
            // may not, the transaction stays open and all later reads see what this one saw.
            self.watch.begin(LANE_RUN, 0);
            let _ = self.connection.prepare_cached("COMMIT").and_then(|mut commit| commit.raw_execute());
            self.watch.begin_at_once();
            drop(open);
        }
    }

    /// Runs a read in the kept transaction, or keeps one for the next reads.
    pub(super) fn keeping<R>(&mut self, read: impl FnOnce(&mut Self) -> Option<R>) -> Option<R> {
        let before = match &self.kept.journal {
            Journal::Log(index) => index.head(),
            Journal::Rollback(window) => {
                let window = Arc::clone(window);
                return self.keeping_lock(&window, read);
            }
            Journal::Unknown => return read(self),
        };
        self.refresh_to(before);
        let begins = self.kept.open.is_none() && self.kept.last == Some(before) && self.begin();
        if begins {
            self.kept.open = Some(OpenTxn::Log(before));
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

    /// Runs a read as [`ReadConnection::keeping`] does, under a rollback journal.
    fn keeping_lock<R>(&mut self, window: &Arc<LockWindow>, read: impl FnOnce(&mut Self) -> Option<R>) -> Option<R> {
        if window.is_closing() {
            self.release();
        }
        let begins = self.kept.open.is_none() && self.follows_closely() && self.begins_in(window);
        let done = read(self);
        // The lock is held now. Before it, another process may have turned the file to a write-ahead log, under which
        // others can commit in spite of it.
        let is_log = begins && done.is_some() && !has_rollback_journal(&self.connection);
        if done.is_none() || is_log {
            self.release();
        }
        if is_log {
            self.kept.journal = LogIndex::of(&self.connection).map_or(Journal::Unknown, Journal::Log);
        }
        done
    }

    /// Returns whether this read comes soon after the last one that had to ask.
    fn follows_closely(&mut self) -> bool {
        let now = Instant::now();
        self.kept.last_read.replace(now).is_some_and(|last| now.duration_since(last) < CLOSE)
    }

    /// Begins a transaction that keeps the lock, if the window lets it; returns whether it did.
    fn begins_in(&mut self, window: &Arc<LockWindow>) -> bool {
        let Some(held) = window.enter() else { return false };
        let begins = self.begin();
        if begins {
            self.kept.open = Some(OpenTxn::Rollback { _held: held });
        }
        begins
    }

    /// Begins a transaction, which takes its locks with the first read; returns whether it did.
    fn begin(&self) -> bool {
        // What was stopped behind its work has begun one all the same.
        let _ = self.connection.prepare_cached("BEGIN").and_then(|mut begin| begin.raw_execute());
        !self.connection.is_autocommit()
    }

    /// Returns whether the open transaction should end: one that keeps writers away, and one that no read used since
    /// the last call.
    pub(super) fn should_end(&mut self) -> bool {
        let used = std::mem::take(&mut self.kept.used);
        self.keeps_writers_away() || !used
    }

    /// Returns whether a transaction is open that lets nobody commit.
    pub(super) fn keeps_writers_away(&self) -> bool {
        matches!(self.kept.open, Some(OpenTxn::Rollback { .. }))
    }

    /// Returns whether a transaction is open.
    pub(super) fn keeps(&self) -> bool {
        self.kept.open.is_some()
    }
}
