//! State shared by the callers of a log and its writer thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use salver_model::limits::STREAM_WAITING_BYTES_MAX;
use salver_model::{Code, Error, Result};

use super::active::Active;
use super::batch::FrameBatch;
use super::disk_error::Fault;
use super::frame::{Frame, SealedFrame};
use super::lock::lock;
use super::segment::Segment;
use super::signal::Signal;
use super::tail::{AppendRefusal, Tail};
use super::waiters::Waiters;
use super::writer_wakeup::Bell;
use super::{Appended, LogOptions, RemovalListener};
use crate::clock::now_ms;

/// Pending bytes from which on a write is not delayed.
const WAITING_BYTES_LARGE: usize = 4 * 1024 * 1024;
/// Most bytes written at once: a waiter for the first of them waits for all.
pub(super) const WRITE_BYTES: u64 = 8 * 1024 * 1024;

/// Shared state of a log.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) options: LogOptions,
    pub(super) tail: Mutex<Tail>,
    /// Active file, written by the writer thread and by readers that need pending frames. The lock is not held during
    /// an fsync, and is taken before that of `tail`.
    pub(super) active: Mutex<Active>,
    /// Copy of the tail's next offset, readable without its lock.
    pub(super) next: AtomicU64,
    pub(super) durable: AtomicU64,
    /// Offset below which everything is written: only a crash of the machine loses it. Not less than `durable`.
    pub(super) written: AtomicU64,
    /// Offset below which a caller waits for everything to be written.
    pub(super) wished: AtomicU64,
    pub(super) waiting_bytes: AtomicUsize,
    /// Offset from which on retention keeps everything.
    pub(super) needed_from: AtomicU64,
    pub(super) is_retention_due: AtomicBool,
    /// Called before segments are deleted.
    pub(super) removal: OnceLock<RemovalListener>,
    pub(super) is_closing: AtomicBool,
    /// Whether the writer thread has ended.
    pub(super) has_ended: AtomicBool,
    /// Current write failure.
    pub(super) fault: Mutex<Option<Fault>>,
    pub(super) bell: Bell,
    pub(super) waiters: Waiters,
    pub(super) arrived: Signal,
    pub(super) drained: Signal,
    pub(super) wrote: Signal,
    pub(super) closed_one: Signal,
}

impl Shared {
    pub(super) fn new(options: LogOptions, tail: Tail, active: Active) -> Self {
        let next = tail.durable();
        // A forwarding stream reports the offset from which on it needs events; until then, everything is needed.
        let needed_from = if options.refuse_bytes.is_some() { 0 } else { u64::MAX };
        Self {
            options,
            tail: Mutex::new(tail),
            active: Mutex::new(active),
            next: AtomicU64::new(next),
            durable: AtomicU64::new(next),
            written: AtomicU64::new(next),
            wished: AtomicU64::new(0),
            waiting_bytes: AtomicUsize::new(0),
            needed_from: AtomicU64::new(needed_from),
            is_retention_due: AtomicBool::new(true),
            removal: OnceLock::new(),
            is_closing: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            fault: Mutex::default(),
            bell: Bell::default(),
            waiters: Waiters::default(),
            arrived: Signal::default(),
            drained: Signal::default(),
            wrote: Signal::default(),
            closed_one: Signal::default(),
        }
    }

    pub(super) fn append(&self, frame: SealedFrame) -> Result<Appended> {
        let now_ms = now_ms();
        let mut tail = lock(&self.tail);
        if let Err(refusal) = tail.admit(frame.len(), self.options.refuse_bytes) {
            drop(tail);
            return Err(self.refused(refusal));
        }
        let appended = tail.push(frame, now_ms.unsigned_abs());
        let waiting_bytes = tail.waiting_bytes();
        self.waiting_bytes.store(waiting_bytes, Ordering::SeqCst);
        self.next.store(tail.ends().next, Ordering::SeqCst);
        drop(tail);
        self.arrived.raise();
        if waiting_bytes < WAITING_BYTES_LARGE {
            self.bell.nudge()
        } else {
            self.bell.ring()
        }
        Ok(appended)
    }

    fn refused(&self, refusal: AppendRefusal) -> Error {
        let dir = &self.options.dir;
        match refusal {
            AppendRefusal::Closed => Fault::closed(dir).error(),
            AppendRefusal::Full => Fault::full(dir, self.options.refuse_bytes.unwrap_or_default()).error(),
            AppendRefusal::Backlogged => {
                let fault = lock(&self.fault).clone();
                fault.map_or_else(
                    || {
                        Error::new(
                            Code::Backlogged,
                            format!("{STREAM_WAITING_BYTES_MAX} bytes of events wait to be written"),
                        )
                        .with_hint("try again in a moment")
                    },
                    |fault| fault.error(),
                )
            }
        }
    }

    /// Returns whether there are events that are not durable.
    pub(super) fn has_waiting(&self) -> bool {
        self.next.load(Ordering::SeqCst) > self.durable.load(Ordering::SeqCst)
    }

    /// Returns whether a caller waits for events that are not written.
    pub(super) fn is_wished(&self) -> bool {
        self.wished.load(Ordering::SeqCst) > self.written.load(Ordering::SeqCst)
    }

    /// Returns whether pending events should be synced at once.
    pub(super) fn is_urgent(&self) -> bool {
        !self.waiters.is_empty() || self.waiting_bytes.load(Ordering::SeqCst) >= WAITING_BYTES_LARGE
    }

    /// Returns whether everything below `end` is durable.
    pub(super) fn is_durable(&self, end: u64) -> bool {
        self.durable.load(Ordering::SeqCst) >= end
    }

    /// Returns frames from memory; `None` when `from` is not there.
    pub(super) fn recent(&self, from: u64, bytes_max: usize) -> Option<Vec<Frame>> {
        let (mut frames, mut next, mut left) = (Vec::new(), from, bytes_max);
        loop {
            let before = frames.len();
            // Frames evicted between two iterations end the run; those copied so far are valid.
            let copied = lock(&self.tail).copy(next, left, &mut frames);
            let Some(has_more) = copied else { return (!frames.is_empty()).then_some(frames) };
            let added = frames.get(before..).unwrap_or_default();
            left = left.saturating_sub(added.iter().map(|frame| frame.bytes.len()).sum());
            match added.last() {
                Some(last) if has_more && left > 0 => next = last.head.end(),
                _ => return Some(frames),
            }
        }
    }

    /// Writes the pending frames, up to `bytes_max`.
    pub(super) fn write(&self, active: &mut Active, bytes_max: usize) -> io::Result<()> {
        if let Some(end) = active.write(|batch| self.take(batch, bytes_max))? {
            self.set_written(end);
        }
        Ok(())
    }

    /// Writes everything appended so far so that readers may see it, unless the file cannot be written at the moment,
    /// and returns the end of the readable range. An offset that a reader has seen must not be reused when this process
    /// is killed.
    pub(super) fn show(&self) -> u64 {
        let next = self.next.load(Ordering::SeqCst);
        while self.written.load(Ordering::SeqCst) < next {
            // While writing fails, the writer thread retries now and then.
            let is_failing = lock(&self.fault).is_some();
            let mut active = lock(&self.active);
            let is_open = !is_failing && !active.is_broken && !active.is_sealed;
            if !is_open || self.write(&mut active, WRITE_BYTES as usize).is_err() {
                break;
            }
        }
        self.written.load(Ordering::SeqCst)
    }

    /// Fills a batch with pending frames. The active file must be locked.
    fn take(&self, batch: &mut FrameBatch, bytes_max: usize) {
        batch.clear();
        let (mut from, end) = (self.written.load(Ordering::SeqCst), self.next.load(Ordering::SeqCst));
        while lock(&self.tail).fill(batch, from, end, bytes_max) {
            from = batch.end().unwrap_or(end);
        }
    }

    /// Sets the end of the written events; a failed sync may move it back.
    pub(super) fn set_written(&self, end: u64) {
        self.written.store(end, Ordering::SeqCst);
        self.wrote.raise();
    }

    /// Marks the events below `end` as durable, `bytes` more than before.
    pub(super) fn publish(&self, end: u64, bytes: u64) {
        {
            let mut tail = lock(&self.tail);
            tail.synced(end, bytes);
            self.waiting_bytes.store(tail.waiting_bytes(), Ordering::SeqCst);
            self.durable.store(end, Ordering::SeqCst);
        }
        self.waiters.tell(end);
        self.drained.raise();
        loop {
            let forgotten = lock(&self.tail).forget();
            if forgotten.is_empty() {
                break;
            }
        }
    }

    /// Switches to another active segment.
    pub(super) fn rolled(&self, closed: Option<Arc<Segment>>, open: &Arc<Segment>) {
        {
            let mut tail = lock(&self.tail);
            if let Some(closed) = closed {
                Arc::make_mut(&mut tail.closed).push(closed);
            }
            tail.open = Arc::clone(open);
        }
        self.closed_one.raise();
    }
}
