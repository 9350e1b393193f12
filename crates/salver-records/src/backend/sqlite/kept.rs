//! Read transactions that are kept open from one read of a lane to the next, as long as nothing is committed: to begin
//! and to end one takes locks of the file, which cost more than a read by key does.
//!
//! Whether something was committed is told by the head of the log's index, before each read, so that a read sees every
//! commit that was answered before it came. A transaction that nobody used for a while is ended: it would keep the log
//! from beginning anew.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::sleep;

use super::connections::{Connections, Reader};
use super::log_index::{LogHead, LogIndex};

/// After so long without a read, or twice that, a transaction is ended.
const IDLE_MS_MAX: u64 = 20;

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

    /// Whether a transaction is open.
    pub(super) fn keeps(&self) -> bool {
        self.kept.open.is_some()
    }
}

/// Ends transactions that nobody uses, from now until there are none.
pub(super) fn sweep(connections: &Arc<Connections>) {
    let Ok(runtime) = Handle::try_current() else {
        connections.release_lanes(|_| true);
        return;
    };
    if connections.sweeping.swap(true, Ordering::AcqRel) {
        return;
    }
    let connections = Arc::downgrade(connections);
    runtime.spawn(async move {
        loop {
            sleep(Duration::from_millis(IDLE_MS_MAX)).await;
            let Some(connections) = connections.upgrade() else { return };
            if connections.release_lanes(|reader| !std::mem::take(&mut reader.kept.used)) > 0 {
                continue;
            }
            connections.sweeping.store(false, Ordering::Release);
            // Somebody may have kept one in between, who found a sweeper at work.
            if connections.release_lanes(|_| false) == 0 || connections.sweeping.swap(true, Ordering::AcqRel) {
                return;
            }
        }
    });
}

impl Connections {
    /// Ends the transactions of those lanes that `idle` says; how many are left open.
    fn release_lanes(&self, mut idle: impl FnMut(&mut Reader) -> bool) -> usize {
        let mut left = 0;
        self.each_lane(|reader| {
            if reader.keeps() && idle(reader) {
                reader.release();
            }
            left += usize::from(reader.keeps());
        });
        left
    }
}
