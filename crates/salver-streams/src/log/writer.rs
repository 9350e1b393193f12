//! The thread that writes: everything that waits goes to disk at once, with one write and one sync. Where somebody
//! waits only for it to be written, the sync comes later, for all that was written until then.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::active::Active;
use super::bell::Sleep;
use super::crowd::Crowd;
use super::fault::Fault;
use super::lock::lock;
use super::shared::{BATCH_BYTES_MAX, Shared};

/// How long events may be appended, and how long written, before they are on disk, when nobody waits for that.
const DELAY: Duration = Duration::from_millis(50);
/// How long after the last event the thread looks by itself for more, so that an append need not wake it.
const LINGER: Duration = Duration::from_secs(1);
/// The pause after a failure.
const RETRY: Duration = Duration::from_millis(250);

/// What should be done with the events that are not on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Nothing,
    Write,
    Sync,
}

/// The thread.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    /// When events were first seen that are not on disk.
    seen: Option<Instant>,
    /// When something was written last.
    wrote: Option<Instant>,
    is_failing: bool,
    crowd: Crowd,
    pub(super) looked: Instant,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, seen: None, wrote: None, is_failing: false, crowd: Crowd::default(), looked: Instant::now() }
    }

    /// Works until the log is closed. Whether everything is on disk then.
    pub(super) fn run(mut self) -> bool {
        // However this ends, nobody waits for it any longer.
        let ended = Ended(Arc::clone(&self.shared));
        loop {
            // Read first: what was appended before it was set is seen below.
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
            // Nobody writes behind what is cut off now.
            active.is_sealed = true;
            active.finish();
        }
        drop(ended);
        !self.shared.has_waiting()
    }

    /// What should be done now.
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

    /// Sleeps until something may be due.
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
            // What came in the meantime has waited long enough.
            self.seen = shared.has_waiting().then_some(since);
        } else {
            shared.bell.sleep(Sleep::Deep, self.shared.options.look_every(), || is_closing() || shared.has_waiting());
        }
    }

    /// Writes what waits, or as much of it as goes into one batch, and syncs it when that is due.
    fn turn(&mut self, due: Due) -> io::Result<()> {
        if due == Due::Sync && !self.shared.is_closing.load(Ordering::SeqCst) {
            self.crowd.gather(|| self.shared.waiters.count());
        }
        let began = Instant::now();
        let written = self.write();
        if due == Due::Write {
            return written;
        }
        // Also when there was no room for more: what was written has waited long enough.
        self.sync()?;
        self.crowd.note(self.shared.waiters.count(), began.elapsed());
        (self.seen, self.wrote) = (None, Some(Instant::now()));
        written
    }

    /// Writes what waits, or as much of it as goes into one batch.
    fn write(&mut self) -> io::Result<()> {
        let segment_bytes = self.shared.options.segment_bytes;
        let is_done_with = |active: &Active| active.is_broken || active.bytes() >= segment_bytes;
        if is_done_with(&lock(&self.shared.active)) {
            self.roll()?;
        }
        let mut active = lock(&self.shared.active);
        let room = segment_bytes.saturating_sub(active.bytes()).min(BATCH_BYTES_MAX);
        self.shared.write(&mut active, room as usize)
    }

    /// Brings onto the disk what was written. Meanwhile readers may write more.
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
                // The system may have dropped the pages it could not write, and would not fail again: all of it must be
                // written anew, and elsewhere.
                let mut active = lock(&self.shared.active);
                active.is_broken = true;
                self.shared.set_written(self.shared.durable.load(Ordering::SeqCst));
                Err(error)
            }
        }
    }

    /// Closes the active segment and begins the next one.
    pub(super) fn roll(&mut self) -> io::Result<()> {
        // Most of it while readers may still write, and the rest when they may not any more.
        self.sync()?;
        lock(&self.shared.active).is_sealed = true;
        self.sync()?;
        let (dir, base) = (&self.shared.options.dir, self.shared.durable.load(Ordering::SeqCst));
        let create = || Active::create(dir, base);
        let fresh = create().or_else(|error| match error.kind() {
            // A file of this name has nothing that was ever acknowledged: it is a first sync that failed.
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

    /// Tells of a failure, and of its end.
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

/// Lets go of all who wait, when the thread ends.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        lock(&self.0.tail).is_closed = true;
        self.0.has_ended.store(true, Ordering::SeqCst);
        self.0.waiters.fail(&Fault::closed(&self.0.options.dir));
        self.0.drained.raise();
    }
}
