//! The log: frames of events in files, in order, durable once it reports so.
//!
//! An append assigns its frame an offset under a short lock (`tail`) and returns. One thread (`writer`) moves
//! everything pending into the `active` segment with one write and one fsync, and notifies all waiters. Events that
//! only have to outlive the process are written, and synced some milliseconds later together with those that arrived in
//! between. Readers take frames from memory, or iterate over a `segment` (`frame_iterator`). Whatever they return is
//! written to the file first, so that a killed process never reuses an offset that a reader has seen; a reader writes
//! pending frames itself. `recover` restores the log after any kind of shutdown.
//!
//! Files: `BASE.log` with the frames, `BASE` being the offset of the first event in 20 digits; beside closed ones
//! `BASE.index`, which can be rebuilt, and `BASE.parquet`, which `table` writes; `groups.json`; `lock`.

use std::fs::{File, TryLockError};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use salver_model::limits::STREAM_WAITING_BYTES_MAX;
use salver_model::streams::Ends;
use salver_model::{Code, Error, Result};

pub(crate) use self::segment::Segment;
pub(crate) use self::snapshot::HeldLog;

use self::consumer_groups::Groups;
use self::disk_error::{Fault, unopened};
use self::frame::SealedFrame;
use self::lock::lock;
use self::recover::{Recovered, recover};
use self::shared::Shared;
use self::tail::Tail;
use self::writer::Writer;
use crate::private_files;

mod active;
mod batch;
mod batch_delay;
mod consumer_groups;
mod disk_error;
pub(crate) mod frame;
mod frame_iterator;
mod index;
mod lock;
mod read;
mod record_ids;
mod recover;
mod retention;
mod segment;
mod shared;
mod signal;
mod snapshot;
mod tail;
#[cfg(test)]
mod tests;
mod waiters;
mod writer;
mod writer_wakeup;

/// Time a reader leaves the writer thread to write the events it waits for.
const URGENT_PATIENCE: Duration = Duration::from_millis(3);

/// Options of a log.
#[derive(Clone, Debug)]
pub(crate) struct LogOptions {
    /// Directory of the files, created if missing.
    pub(crate) dir: PathBuf,
    /// Size at which a segment is closed, in bytes.
    pub(crate) segment_bytes: u64,
    /// Retention period of events; `None` for unlimited.
    pub(crate) retain: Option<Duration>,
    /// Most bytes of events on disk; above it the oldest segments are deleted.
    pub(crate) retain_bytes: Option<u64>,
    /// Bytes of events on disk from which on appends are refused. Segments below the offset given to [`Log::need_from`]
    /// are deleted before that; until it is called, everything is needed. A stream that forwards its events uses
    /// `u64::MAX` for no limit.
    pub(crate) refuse_bytes: Option<u64>,
    /// Whether nothing is deleted before [`Log::before_removal`] was called.
    pub(crate) has_listener: bool,
}

/// Function that is called, on a thread that may block, before segments are deleted, with the offset behind them.
pub(crate) struct RemovalListener(Box<dyn Fn(u64) + Send + Sync>);

impl std::fmt::Debug for RemovalListener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RemovalListener")
    }
}

/// Position of the events of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Appended {
    /// Offset of the first event.
    pub(crate) first: u64,
    /// Id of the first event; ids increase by 1.
    pub(crate) id: u128,
}

/// A log.
#[derive(Debug)]
pub(crate) struct Log {
    shared: Arc<Shared>,
    groups: Groups,
    running: Mutex<Option<OpenLog>>,
    #[cfg(test)]
    faults: Arc<tests::Faults>,
}

/// Parts of a log that exist until it is closed.
#[derive(Debug)]
struct OpenLog {
    /// Writer thread; its result says whether everything is durable.
    writer: JoinHandle<bool>,
    /// Lock on the directory, held while the log is open.
    dir_lock: File,
}

impl Log {
    /// Opens the log in a directory, and creates both if missing.
    pub(crate) fn open(options: LogOptions) -> Result<Arc<Self>> {
        let dir = &options.dir;
        private_files::create_dir_all(dir).map_err(|error| unopened(dir, error))?;
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
        let running = Mutex::new(Some(OpenLog { writer, dir_lock }));
        Ok(Arc::new(Self {
            shared,
            groups,
            running,
            #[cfg(test)]
            faults,
        }))
    }

    /// Assigns a frame its offset; never waits.
    ///
    /// Returns `Backlogged` when too many bytes are waiting to be written, and `StreamUnavailable` when that is because
    /// writing fails, when the disk limit is reached, or when the log is closed.
    pub(crate) fn append(&self, frame: SealedFrame) -> Result<Appended> {
        self.shared.append(frame)
    }

    /// Calls `listener` before segments are deleted, on a thread that may block, with the offset behind them.
    pub(crate) fn before_removal(&self, listener: impl Fn(u64) + Send + Sync + 'static) {
        let _ = self.shared.removal.set(RemovalListener(Box::new(listener)));
        self.shared.is_retention_due.store(true, Ordering::SeqCst);
        self.shared.bell.ring();
    }

    /// Waits until the backlog has room.
    pub(crate) async fn room(&self) {
        let shared = &self.shared;
        let has_room = || {
            let waiting_bytes = shared.waiting_bytes.load(Ordering::SeqCst);
            let is_over = shared.has_ended.load(Ordering::SeqCst);
            (is_over || waiting_bytes <= STREAM_WAITING_BYTES_MAX / 4 * 3).then_some(())
        };
        shared.drained.until(has_room).await;
    }

    /// Returns the current write failure, if any. Events appended during a failure stay in memory until it ends.
    pub(crate) fn fault(&self) -> Option<Error> {
        lock(&self.shared.fault).as_ref().map(Fault::error)
    }

    /// Returns the first and the end offset, including events only in memory.
    pub(crate) fn ends(&self) -> Ends {
        lock(&self.shared.tail).ends()
    }

    /// Returns the range of offsets that readers may see: everything appended so far is written to the file first,
    /// unless writing fails at the moment.
    pub(crate) fn shown(&self) -> Ends {
        let next = self.shared.show();
        Ends { next, ..self.ends() }
    }

    /// Waits until readers may see the event at `from`.
    pub(crate) async fn appears(&self, from: u64) {
        let shared = &self.shared;
        loop {
            self.arrived(from).await;
            if shared.is_urgent() {
                // A request waits for the fsync: the writer thread is about to write this event together with others.
                let _ = tokio::time::timeout(URGENT_PATIENCE, self.written(from)).await;
            }
            if shared.show() > from {
                return;
            }
            self.hasten(from.saturating_add(1));
            self.written(from).await;
        }
    }

    /// Returns the offset below which everything is durable.
    pub(crate) fn durable_end(&self) -> u64 {
        self.shared.durable.load(Ordering::SeqCst)
    }

    /// Waits until everything below `end` is durable; returns `StreamUnavailable` when writing fails.
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

    /// Returns the offset below which everything is written: it survives the end of the process, but not a crash of the
    /// machine. It may decrease after a disk failure, until the events are rewritten elsewhere.
    pub(crate) fn written_end(&self) -> u64 {
        self.shared.written.load(Ordering::SeqCst)
    }

    /// Waits until the event at `from` is written.
    pub(crate) async fn written(&self, from: u64) {
        let shared = &self.shared;
        shared.wrote.until(|| (shared.written.load(Ordering::SeqCst) > from).then_some(())).await;
    }

    /// Requests that everything below `end` be written soon.
    pub(crate) fn hasten(&self, end: u64) {
        let shared = &self.shared;
        let end = end.min(shared.next.load(Ordering::SeqCst));
        if shared.written.load(Ordering::SeqCst) < end && shared.wished.fetch_max(end, Ordering::SeqCst) < end {
            shared.bell.ring();
        }
    }

    /// Returns the closed segments, oldest first.
    pub(crate) fn segments(&self) -> Vec<Arc<Segment>> {
        let closed = Arc::clone(&lock(&self.shared.tail).closed);
        closed.to_vec()
    }

    /// Waits for the oldest closed segment, or for the one after the segment with that base.
    pub(crate) async fn closed_segment(&self, after_base: Option<u64>) -> Arc<Segment> {
        let find = || {
            let tail = lock(&self.shared.tail);
            let known = tail.closed.partition_point(|segment| Some(segment.base()) <= after_base);
            tail.closed.get(known).cloned()
        };
        self.shared.closed_one.until(find).await
    }

    /// Returns a snapshot of the log; nothing in it is deleted while it is held.
    pub(crate) fn hold(&self) -> HeldLog {
        HeldLog::of(&self.shared)
    }

    /// Makes retention keep everything from `offset` on.
    pub(crate) fn need_from(&self, offset: u64) {
        self.shared.needed_from.store(offset, Ordering::SeqCst);
        self.shared.is_retention_due.store(true, Ordering::SeqCst);
        self.shared.bell.nudge();
    }

    /// Stores the offset of a consumer group on disk; returns `StreamUnavailable` when it cannot be written. Blocks.
    pub(crate) fn commit(&self, group: &str, offset: u64) -> Result<()> {
        self.groups.commit(group, offset)
    }

    /// Returns the committed offset of a consumer group; `None` when it never committed.
    pub(crate) fn committed(&self, group: &str) -> Option<u64> {
        self.groups.committed(group)
    }

    /// Returns every consumer group with its offset.
    pub(crate) fn groups(&self) -> Vec<(String, u64)> {
        self.groups.all()
    }

    /// Makes the next `count` syncs fail.
    #[cfg(test)]
    pub(crate) fn fail_syncs(&self, count: u32) {
        self.faults.fail_syncs(count);
    }

    /// Returns the number of syncs that will still fail.
    #[cfg(test)]
    pub(crate) fn syncs_to_fail(&self) -> u32 {
        self.faults.syncs_to_fail()
    }

    /// Returns the bytes of events on disk.
    #[cfg(test)]
    pub(crate) fn bytes_on_disk(&self) -> u64 {
        lock(&self.shared.tail).disk_bytes
    }

    /// Writes pending events and releases the directory; later appends fail. Returns `StreamUnavailable` when they
    /// cannot be written and are lost. Blocks.
    pub(crate) fn close(&self) -> Result<()> {
        let Some(running) = lock(&self.running).take() else { return Ok(()) };
        lock(&self.shared.tail).is_closed = true;
        self.shared.is_closing.store(true, Ordering::SeqCst);
        self.shared.bell.ring();
        running.writer.thread().unpark();
        let ended = running.writer.join();
        // Unlock explicitly instead of on drop: a child process being spawned shares the file for a moment.
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

/// Locks the directory for this process.
fn lock_dir(dir: &std::path::Path) -> Result<File> {
    let path = dir.join("lock");
    let file = private_files::create(&path).map_err(|error| unopened(&path, error))?;
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
