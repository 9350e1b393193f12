//! The writer thread: it writes all pending frames with one write and one fsync. When callers wait only for the write,
//! the fsync follows later, for everything written until then.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::active::Active;
use super::bell::Sleep;
use super::crowd::Crowd;
use super::fault::Fault;
use super::lock::lock;
use super::shared::{Shared, WRITE_BYTES};

/// Longest time from append to fsync, and from write to fsync, when no caller waits for it.
const DELAY: Duration = Duration::from_millis(50);
/// Time after the last event during which the thread polls, so that an append need not wake it.
const LINGER: Duration = Duration::from_secs(1);
/// Delay before a retry.
const RETRY: Duration = Duration::from_millis(250);

/// Work due for events that are not durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Nothing,
    Write,
    Sync,
}

/// Writer thread.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    /// Time at which events that are not durable were first seen.
    seen: Option<Instant>,
    /// Time of the last write.
    wrote: Option<Instant>,
    is_failing: bool,
    crowd: Crowd,
    pub(super) looked: Instant,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, seen: None, wrote: None, is_failing: false, crowd: Crowd::default(), looked: Instant::now() }
    }

    /// Runs until the log is closed. Returns whether everything is durable then.
    pub(super) fn run(mut self) -> bool {
        // Releases the waiters, however this ends.
        let ended = Ended(Arc::clone(&self.shared));
        loop {
            // Read first, so that events appended before it was set are seen below.
            let is_closing = self.shared.is_closing.load(Ordering::SeqCst);
            self.keep_house();
            let due = self.due(is_closing);
            if due != Due::Nothing {
                let result = self.turn(due);
                let failed = result.is_err();
                self.note(result);
                if failed && is_closing {
                    break;
                }
                if failed {
                    // Not on the bell: each new waiter would ring it.
                    std::thread::park_timeout(RETRY);
                }
            } else if is_closing {
                break;
            } else {
                self.rest();
            }
        }
        {
            let mut active = lock(&self.shared.active);
            // No one may write behind the end that is cut off now.
            active.is_sealed = true;
            active.finish();
        }
        drop(ended);
        !self.shared.has_waiting()
    }

    /// Returns the work that is due.
    fn due(&mut self, is_closing: bool) -> Due {
        if !self.shared.has_waiting() {
            self.seen = None;
            return Due::Nothing;
        }
        let seen = *self.seen.get_or_insert_with(Instant::now);
        if is_closing || self.shared.is_urgent() || seen.elapsed() >= DELAY {
            Due::Sync
        } else if self.shared.is_wished() {
            Due::Write
        } else {
            Due::Nothing
        }
    }

    /// Sleeps until work may be due.
    fn rest(&mut self) {
        let shared = &*self.shared;
        let is_closing = || shared.is_closing.load(Ordering::SeqCst) || shared.is_retention_due.load(Ordering::SeqCst);
        let is_called = || is_closing() || shared.is_urgent() || shared.is_wished();
        if let Some(seen) = self.seen {
            let left = DELAY.saturating_sub(seen.elapsed());
            shared.bell.sleep(Sleep::Doze, Some(left), is_called);
        } else if self.wrote.is_some_and(|wrote| wrote.elapsed() < LINGER) {
            let since = Instant::now();
            shared.bell.sleep(Sleep::Doze, Some(DELAY), is_called);
            // Events that arrived in the meantime have waited long enough.
            self.seen = shared.has_waiting().then_some(since);
        } else {
            shared.bell.sleep(Sleep::Deep, self.shared.options.look_every(), || is_closing() || shared.has_waiting());
        }
    }

    /// Writes one batch of pending frames, and syncs if due.
    fn turn(&mut self, due: Due) -> io::Result<()> {
        if due == Due::Sync && !self.shared.is_closing.load(Ordering::SeqCst) {
            self.crowd.gather(|| self.shared.waiters.count());
        }
        let began = Instant::now();
        let written = self.write();
        if due == Due::Write {
            return written;
        }
        // Also after a full disk: the written frames have waited long enough.
        self.sync()?;
        self.crowd.note(self.shared.waiters.count(), began.elapsed());
        (self.seen, self.wrote) = (None, Some(Instant::now()));
        written
    }

    /// Writes one batch of pending frames.
    fn write(&mut self) -> io::Result<()> {
        let segment_bytes = self.shared.options.segment_bytes;
        let is_done_with = |active: &Active| active.is_broken || active.bytes() >= segment_bytes;
        if is_done_with(&lock(&self.shared.active)) {
            self.roll()?;
        }
        let mut active = lock(&self.shared.active);
        let room = segment_bytes.saturating_sub(active.bytes()).min(WRITE_BYTES);
        self.shared.write(&mut active, room as usize)
    }

    /// Syncs the written frames. Readers may write more at the same time.
    fn sync(&mut self) -> io::Result<()> {
        let unsynced = {
            let active = lock(&self.shared.active);
            if active.is_broken {
                return Ok(());
            }
            active.unsynced()
        };
        let Some(unsynced) = unsynced else { return Ok(()) };
        match unsynced.sync() {
            Ok(()) => {
                let bytes = lock(&self.shared.active).synced(unsynced.count);
                self.shared.publish(unsynced.end, bytes);
                Ok(())
            }
            Err(error) => {
                // The system may have dropped the pages it could not write without failing again: everything must be
                // rewritten, to another file.
                let mut active = lock(&self.shared.active);
                active.is_broken = true;
                self.shared.set_written(self.shared.durable.load(Ordering::SeqCst));
                Err(error)
            }
        }
    }

    /// Closes the active segment and begins the next one.
    pub(super) fn roll(&mut self) -> io::Result<()> {
        // Sync most frames while readers may still write, and the rest when they no longer may.
        self.sync()?;
        lock(&self.shared.active).is_sealed = true;
        self.sync()?;
        let (dir, base) = (&self.shared.options.dir, self.shared.durable.load(Ordering::SeqCst));
        let create = || Active::create(dir, base);
        let fresh = create().or_else(|error| match error.kind() {
            // A file of this name has no acknowledged events: it is left from a failed first sync.
            io::ErrorKind::AlreadyExists => {
                let path = lock(&self.shared.active).segment.path().with_file_name(format!("{base:020}.log"));
                std::fs::remove_file(path)?;
                create()
            }
            _ => Err(error),
        });
        let mut fresh = match fresh {
            Ok(fresh) => fresh,
            Err(error) => {
                lock(&self.shared.active).is_sealed = false;
                return Err(error);
            }
        };
        let open = Arc::clone(&fresh.segment);
        let old = {
            let mut active = lock(&self.shared.active);
            #[cfg(test)]
            fresh.faults.clone_from(&active.faults);
            std::mem::swap(&mut *active, &mut fresh);
            fresh
        };
        let is_closed = old.segment.end() > old.segment.base();
        if is_closed {
            old.finish();
        }
        self.shared.rolled(is_closed.then(|| Arc::clone(&old.segment)), &open);
        self.retain();
        Ok(())
    }

    /// Reports a failure, and its end.
    fn note(&mut self, result: io::Result<()>) {
        match result {
            Ok(()) if self.is_failing => {
                self.is_failing = false;
                *lock(&self.shared.fault) = None;
                tracing::info!(dir = %self.shared.options.dir.display(), "the log is written again");
            }
            Ok(()) => {}
            Err(error) => {
                let fault = Fault::of(&self.shared.options.dir, &error);
                if !self.is_failing {
                    let fault = fault.error();
                    tracing::error!(hint = fault.hint.as_deref(), "{}", fault.message);
                }
                self.is_failing = true;
                *lock(&self.shared.fault) = Some(fault.clone());
                self.shared.waiters.fail(&fault);
            }
        }
    }
}

/// Guard that releases all waiters when the thread ends.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        lock(&self.0.tail).is_closed = true;
        self.0.has_ended.store(true, Ordering::SeqCst);
        self.0.waiters.fail(&Fault::closed(&self.0.options.dir));
        self.0.drained.raise();
    }
}
