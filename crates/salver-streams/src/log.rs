//! The log: frames of events in files, in order, on disk when it says so.
//!
//! An append gives its frame a place under a short lock (`tail`) and returns; one thread (`writer`) brings everything
//! that waits into the `active` segment with one write and one sync, and tells all who wait. What only has to outlive
//! this process is written, and synced some milliseconds later with what came meanwhile. Readers take what is in
//! memory, or `walk` along a `segment`; what they show is in the file first, so that a killed process gives no offset
//! that somebody has seen to another event, and who reads writes what is not. `recover` finds it all again after any
//! kind of end.
//!
//! Files: `BASE.log` with the frames, `BASE` being the offset of the first event in 20 digits; beside closed ones
//! `BASE.index`, which can be made again, and `BASE.parquet`, which `table` makes; `groups.json`; `lock`.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use salver_model::limits::STREAM_WAITING_BYTES_MAX;
use salver_model::streams::Ends;
use salver_model::{Code, Error, Result};

pub(crate) use self::hold::HeldLog;
pub(crate) use self::segment::Segment;

use self::fault::{Fault, unopened};
use self::frame::SealedFrame;
use self::groups::Groups;
use self::lock::lock;
use self::recover::{Recovered, recover};
use self::shared::Shared;
use self::tail::Tail;
use self::writer::Writer;
use crate::private;

mod active;
mod batch;
mod bell;
mod crowd;
mod fault;
pub(crate) mod frame;
mod groups;
mod hold;
mod ids;
mod index;
mod lock;
mod read;
mod recover;
mod retention;
mod segment;
mod shared;
mod signal;
mod tail;
#[cfg(test)]
mod tests;
mod waiters;
mod walk;
mod writer;

/// How long a reader leaves it to the writer's thread to write what somebody waits for.
const URGENT_MAX: Duration = Duration::from_millis(3);

/// What a log is made from.
#[derive(Clone, Debug)]
pub(crate) struct LogOptions {
    /// The directory of its files; made when it is not there.
    pub(crate) dir: PathBuf,
    /// When a segment is full, in bytes.
    pub(crate) segment_bytes: u64,
    /// How long events are kept; `None` for ever.
    pub(crate) retain: Option<Duration>,
    /// Most bytes of events on disk; above it the oldest segments go.
    pub(crate) retain_bytes: Option<u64>,
    /// Bytes of events on disk from which on nothing more is taken. What [`Log::need_from`] gave free goes before that;
    /// until it was called, everything is needed. What hands its events on says `u64::MAX` when there is no bound.
    pub(crate) refuse_bytes: Option<u64>,
}

/// Where an append put its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Appended {
    /// The offset of the first.
    pub(crate) first: u64,
    /// The id of the first; each next one is 1 more.
    pub(crate) id: u128,
}

/// A log.
#[derive(Debug)]
pub(crate) struct Log {
    shared: Arc<Shared>,
    groups: Groups,
    running: Mutex<Option<Running>>,
    #[cfg(test)]
    faults: Arc<tests::Faults>,
}

/// What a log has until it is closed.
#[derive(Debug)]
struct Running {
    /// Answers whether everything is on disk.
    writer: JoinHandle<bool>,
    /// Locked as long as the directory is.
    dir_lock: File,
}

impl Log {
    /// Opens the log in a directory, and makes both when there are none.
    pub(crate) fn open(options: LogOptions) -> Result<Arc<Self>> {
        let dir = &options.dir;
        private::create_dir_all(dir).map_err(|error| unopened(dir, error))?;
        let dir_lock = lock_dir(dir)?;
        let groups = Groups::open(dir)?;
        let Recovered { closed, active, next, last_id, holes } = recover(dir, groups.most())?;
        let tail = Tail::new(closed, Arc::clone(&active.segment), next, last_id, holes);
        let name = format!("log {}", dir.file_name().unwrap_or_default().display());
        #[cfg(test)]
        let faults = Arc::clone(&active.faults);
        let shared = Arc::new(Shared::new(options.balanced(), tail, active));
        let writer = Writer::new(Arc::clone(&shared));
        let writer = std::thread::Builder::new()
            .name(name)
            .spawn(move || writer.run())
            .map_err(|error| Error::internal("the thread of a log can't be started").with_source(error))?;
        let running = Mutex::new(Some(Running { writer, dir_lock }));
        Ok(Arc::new(Self {
            shared,
            groups,
            running,
            #[cfg(test)]
            faults,
        }))
    }

    /// Gives a frame its place; never waits.
    ///
    /// `Backlogged` when too much waits to be written; `StreamUnavailable` when that is so because writing fails, when
    /// too much is on disk, or when the log is closed.
    pub(crate) fn append(&self, frame: SealedFrame) -> Result<Appended> {
        self.shared.append(frame)
    }

    /// Waits until not too much waits to be written.
    pub(crate) async fn room(&self) {
        let shared = &self.shared;
        let has_room = || {
            let waiting_bytes = shared.waiting_bytes.load(Ordering::SeqCst);
            let is_over = shared.has_ended.load(Ordering::SeqCst);
            (is_over || waiting_bytes <= STREAM_WAITING_BYTES_MAX / 4 * 3).then_some(())
        };
        shared.drained.until(has_room).await;
    }

    /// Why writing to disk fails at present; `None` when it does not. What is appended meanwhile stays in memory until
    /// that changes.
    pub(crate) fn fault(&self) -> Option<Error> {
        lock(&self.shared.fault).as_ref().map(Fault::error)
    }

    /// Where it begins and ends, counting what is in memory only.
    pub(crate) fn ends(&self) -> Ends {
        lock(&self.shared.tail).ends()
    }

    /// Where what may be shown begins and ends: what was appended until now, in the file, unless that takes nothing at
    /// the moment.
    pub(crate) fn shown(&self) -> Ends {
        let next = self.shared.show();
        Ends { next, ..self.ends() }
    }

    /// Waits until the event at `from` may be shown.
    pub(crate) async fn appears(&self, from: u64) {
        let shared = &self.shared;
        loop {
            self.arrived(from).await;
            if shared.is_urgent() {
                // Somebody waits for the disk: it is about to be written, together with others.
                let _ = tokio::time::timeout(URGENT_MAX, self.written(from)).await;
            }
            if shared.show() > from {
                return;
            }
            self.hasten(from.saturating_add(1));
            self.written(from).await;
        }
    }

    /// Everything below is on disk.
    pub(crate) fn durable_end(&self) -> u64 {
        self.shared.durable.load(Ordering::SeqCst)
    }

    /// Waits until everything below `end` is on disk; `StreamUnavailable` when writing fails.
    pub(crate) async fn durable(&self, end: u64) -> Result<()> {
        let shared = &self.shared;
        let end = end.min(shared.next.load(Ordering::SeqCst));
        if shared.is_durable(end) {
            return Ok(());
        }
        let is_settled = || shared.is_durable(end) || shared.has_ended.load(Ordering::SeqCst);
        let told = match shared.waiters.wait(end, is_settled) {
            Some(told) => {
                shared.bell.ring();
                told.await.unwrap_or_else(|_| Err(Fault::closed(&shared.options.dir)))
            }
            None if shared.is_durable(end) => Ok(()),
            None => Err(Fault::closed(&shared.options.dir)),
        };
        told.map_err(|fault| fault.error())
    }

    /// Waits until there is an event at `from`.
    pub(crate) async fn arrived(&self, from: u64) {
        let shared = &self.shared;
        shared.arrived.until(|| (shared.next.load(Ordering::SeqCst) > from).then_some(())).await;
    }

    /// Everything below is written: no end of this process takes it any more, only one of the machine. After a disk's
    /// failure it may be less than before, until that is written again elsewhere.
    pub(crate) fn written_end(&self) -> u64 {
        self.shared.written.load(Ordering::SeqCst)
    }

    /// Waits until the event at `from` is written.
    pub(crate) async fn written(&self, from: u64) {
        let shared = &self.shared;
        shared.wrote.until(|| (shared.written.load(Ordering::SeqCst) > from).then_some(())).await;
    }

    /// Sees that everything below `end` is written soon: somebody waits for it.
    pub(crate) fn hasten(&self, end: u64) {
        let shared = &self.shared;
        let end = end.min(shared.next.load(Ordering::SeqCst));
        if shared.written.load(Ordering::SeqCst) < end && shared.wished.fetch_max(end, Ordering::SeqCst) < end {
            shared.bell.ring();
        }
    }

    /// The closed segments, oldest first.
    pub(crate) fn segments(&self) -> Vec<Arc<Segment>> {
        let closed = Arc::clone(&lock(&self.shared.tail).closed);
        closed.to_vec()
    }

    /// Waits for the oldest closed segment, or for the next after the one with that base.
    pub(crate) async fn closed_segment(&self, after_base: Option<u64>) -> Arc<Segment> {
        let find = || {
            let tail = lock(&self.shared.tail);
            let known = tail.closed.partition_point(|segment| Some(segment.base()) <= after_base);
            tail.closed.get(known).cloned()
        };
        self.shared.closed_one.until(find).await
    }

    /// Everything there is now, kept as long as it is held.
    pub(crate) fn hold(&self) -> HeldLog {
        HeldLog::of(&self.shared)
    }

    /// Retention keeps everything from `offset` on.
    pub(crate) fn need_from(&self, offset: u64) {
        self.shared.needed_from.store(offset, Ordering::SeqCst);
        self.shared.is_retention_due.store(true, Ordering::SeqCst);
        self.shared.bell.nudge();
    }

    /// Remembers where a consumer group goes on, on disk; `StreamUnavailable` when that can't be written. Blocks.
    pub(crate) fn commit(&self, group: &str, offset: u64) -> Result<()> {
        self.groups.commit(group, offset)
    }

    /// Where a consumer group goes on; `None` when it never said.
    pub(crate) fn committed(&self, group: &str) -> Option<u64> {
        self.groups.committed(group)
    }

    /// Every consumer group with its offset.
    pub(crate) fn groups(&self) -> Vec<(String, u64)> {
        self.groups.all()
    }

    /// The next syncs fail, so many.
    #[cfg(test)]
    pub(crate) fn fail_syncs(&self, count: u32) {
        self.faults.fail_syncs(count);
    }

    /// How many syncs are still to fail.
    #[cfg(test)]
    pub(crate) fn syncs_to_fail(&self) -> u32 {
        self.faults.syncs_to_fail()
    }

    /// Bytes of events on disk.
    #[cfg(test)]
    pub(crate) fn bytes_on_disk(&self) -> u64 {
        lock(&self.shared.tail).disk_bytes
    }

    /// Writes what is in memory and lets go of the directory; appends fail from then on. `StreamUnavailable` when that
    /// can't be written, and is lost. Blocks.
    pub(crate) fn close(&self) -> Result<()> {
        let Some(running) = lock(&self.running).take() else { return Ok(()) };
        lock(&self.shared.tail).is_closed = true;
        self.shared.is_closing.store(true, Ordering::SeqCst);
        self.shared.bell.ring();
        running.writer.thread().unpark();
        let ended = running.writer.join();
        // Said, and not left to the file's end: a process that is being started shares the file for a moment.
        if let Err(error) = running.dir_lock.unlock() {
            tracing::debug!(%error, "the lock of a log's directory was not released");
        }
        match ended {
            Ok(true) => Ok(()),
            Ok(false) => {
                let lost = self.shared.next.load(Ordering::SeqCst) - self.shared.durable.load(Ordering::SeqCst);
                let dir = self.shared.options.dir.display();
                let why = self.fault().map_or_else(String::new, |fault| format!(": {}", fault.message));
                Err(Error::new(
                    Code::StreamUnavailable,
                    format!("{lost} events were in memory only when the log in `{dir}` was closed, and are lost{why}"),
                ))
            }
            Err(_) => Err(Error::internal("the thread of a log has panicked")),
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Err(error) = self.close() {
            tracing::error!("{}", error.message);
        }
    }
}

/// Takes the directory for this process.
fn lock_dir(dir: &std::path::Path) -> Result<File> {
    let path = dir.join("lock");
    let file = private::create(&path).map_err(|error| unopened(&path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::new(
            Code::StreamUnavailable,
            format!("the log in `{}` is in use by another process", dir.display()),
        )
        .with_hint("end that process, or give this stream another directory")),
        Err(TryLockError::Error(error)) => Err(unopened(&path, error)),
    }
}
