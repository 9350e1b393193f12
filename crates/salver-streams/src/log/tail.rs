//! The end of the log in memory: the latest frames, for the writer thread and for readers that follow the log.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use salver_model::limits::{STREAM_RECENT_BYTES_MAX, STREAM_WAITING_BYTES_MAX};
use salver_model::streams::Ends;

use super::Appended;
use super::batch::FrameBatch;
use super::frame::{Frame, SealedFrame};
use super::record_ids::Ids;
use super::segment::Segment;

/// Most frames examined while the lock is held, so that appends do not wait for long.
const FRAMES_AT_ONCE: usize = 512;
/// Approximate number of bytes copied while the lock is held.
const BYTES_AT_ONCE: usize = 256 * 1024;

/// State under the one lock that every append takes. Nothing here touches a file.
#[derive(Debug)]
pub(super) struct Tail {
    /// Latest frames without a gap, including all that are not durable.
    frames: VecDeque<Frame>,
    frames_bytes: usize,
    waiting_bytes: usize,
    next: u64,
    durable: u64,
    ids: Ids,
    pub(super) is_closed: bool,
    /// Bytes of frames in files.
    pub(super) disk_bytes: u64,
    /// Closed segments, oldest first; shared with readers and copied on change.
    pub(super) closed: Arc<Vec<Arc<Segment>>>,
    /// Active segment.
    pub(super) open: Arc<Segment>,
    /// Offset ranges whose events are lost: between segments when the log was opened, and damaged ones since they were
    /// found. In order, without overlaps.
    pub(super) holes: Arc<[Range<u64>]>,
}

/// Reason why a frame is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AppendRefusal {
    /// The log is closed.
    Closed,
    /// Too many bytes are waiting to be written.
    Backlogged,
    /// The disk limit is reached.
    Full,
}

/// Segment with its successor.
#[derive(Debug)]
pub(super) struct Located {
    pub(super) segment: Arc<Segment>,
    /// Base of the next segment; `None` for the active one.
    pub(super) next_base: Option<u64>,
}

impl Tail {
    pub(super) fn new(
        closed: Vec<Arc<Segment>>,
        open: Arc<Segment>,
        next: u64,
        last_id: u128,
        holes: Vec<Range<u64>>,
    ) -> Self {
        let disk_bytes = closed.iter().map(|segment| segment.bytes()).sum::<u64>() + open.bytes();
        Self {
            frames: VecDeque::new(),
            frames_bytes: 0,
            waiting_bytes: 0,
            next,
            durable: next,
            ids: Ids::after(last_id),
            is_closed: false,
            disk_bytes,
            closed: Arc::new(closed),
            open,
            holes: holes.into(),
        }
    }

    /// Adds a range to those whose events are lost; returns whether any of them is new.
    pub(super) fn lose(&mut self, offsets: &Range<u64>) -> bool {
        let mut start = offsets.start;
        let mut holes = self.holes.to_vec();
        for hole in self.holes.iter().filter(|hole| hole.end > offsets.start && hole.start < offsets.end) {
            if start < hole.start {
                holes.push(start..hole.start);
            }
            start = start.max(hole.end);
        }
        if start < offsets.end {
            holes.push(start..offsets.end);
        }
        if holes.len() == self.holes.len() {
            return false;
        }
        holes.sort_unstable_by_key(|hole| hole.start);
        self.holes = holes.into();
        true
    }

    /// Checks that a frame of this size can be accepted.
    pub(super) fn admit(&self, bytes: usize, refuse_bytes: Option<u64>) -> Result<(), AppendRefusal> {
        let waiting = self.waiting_bytes + bytes;
        if self.is_closed {
            Err(AppendRefusal::Closed)
        } else if refuse_bytes.is_some_and(|most| self.disk_bytes + waiting as u64 > most) {
            Err(AppendRefusal::Full)
        } else if waiting > STREAM_WAITING_BYTES_MAX && self.waiting_bytes > 0 {
            Err(AppendRefusal::Backlogged)
        } else {
            Ok(())
        }
    }

    /// Assigns a frame its offset; one without records needs none.
    pub(super) fn push(&mut self, frame: SealedFrame, now_ms: u64) -> Appended {
        let (count, bytes, first) = (frame.count(), frame.len(), self.next);
        let id = self.ids.next(now_ms, count);
        if count == 0 {
            return Appended { first, id };
        }
        let unsynced = u32::try_from(first - self.durable).unwrap_or(u32::MAX);
        self.frames.push_back(frame.behind(first, id, unsynced));
        self.frames_bytes += bytes;
        self.waiting_bytes += bytes;
        self.next += u64::from(count);
        Appended { first, id }
    }

    pub(super) fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    pub(super) fn ends(&self) -> Ends {
        let oldest = self.closed.first().unwrap_or(&self.open);
        Ends { first: oldest.base(), next: self.next }
    }

    pub(super) fn durable(&self) -> u64 {
        self.durable
    }

    /// Returns the segment that has or would have `offset`.
    pub(super) fn segment_of(&self, offset: u64) -> Located {
        let open_base = self.open.base();
        let behind = self.closed.partition_point(|segment| segment.base() <= offset);
        match behind.checked_sub(1).and_then(|own| self.closed.get(own)) {
            Some(own) if offset < open_base => {
                let next_base = self.closed.get(behind).map_or(open_base, |next| next.base());
                Located { segment: Arc::clone(own), next_base: Some(next_base) }
            }
            _ => Located { segment: Arc::clone(&self.open), next_base: None },
        }
    }

    /// Appends frames from `from` on to `frames`, some at a time, up to about `bytes_max` bytes; returns whether there
    /// may be more. `None` when `from` is not in memory.
    pub(super) fn copy(&self, from: u64, bytes_max: usize, frames: &mut Vec<Frame>) -> Option<bool> {
        if from >= self.next {
            return Some(false);
        }
        // Frames that retention has removed from the log may still be in memory.
        if self.frames.front()?.head.offset > from || self.ends().first > from {
            return None;
        }
        let start = self.frames.partition_point(|frame| frame.head.end() <= from);
        let mut bytes = 0;
        for frame in self.frames.range(start..).take(FRAMES_AT_ONCE) {
            bytes += frame.bytes.len();
            frames.push(frame.clone());
            if bytes >= bytes_max {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Adds frames from `from` up to `end` to a batch of at most `bytes_max` bytes, some at a time; returns whether
    /// there may be more.
    pub(super) fn fill(&self, batch: &mut FrameBatch, from: u64, end: u64, bytes_max: usize) -> bool {
        let start = self.frames.partition_point(|frame| frame.head.offset < from);
        let stop = batch.bytes() + BYTES_AT_ONCE;
        let mut frames = self.frames.range(start..).take_while(|frame| frame.head.offset < end);
        for frame in frames.by_ref().take(FRAMES_AT_ONCE) {
            if batch.bytes() > 0 && batch.bytes() + frame.bytes.len() > bytes_max {
                return false;
            }
            batch.push(frame);
            if batch.bytes() >= stop {
                break;
            }
        }
        frames.next().is_some()
    }

    /// Marks everything below `end` as durable, with its bytes.
    pub(super) fn synced(&mut self, end: u64, bytes: u64) {
        self.durable = end;
        self.waiting_bytes -= bytes as usize;
        self.disk_bytes += bytes;
    }

    /// Removes some frames that need not stay in memory, for the caller to drop outside the lock; empty when all others
    /// stay.
    pub(super) fn forget(&mut self) -> Vec<Frame> {
        let (mut count, mut bytes) = (0, 0);
        for frame in self.frames.iter().take(FRAMES_AT_ONCE) {
            if self.frames_bytes - bytes <= STREAM_RECENT_BYTES_MAX || frame.head.end() > self.durable {
                break;
            }
            count += 1;
            bytes += frame.bytes.len();
        }
        self.frames_bytes -= bytes;
        self.frames.drain(..count).collect()
    }

    /// Returns the frames that are not durable.
    pub(super) fn pending(&self) -> Vec<Frame> {
        let start = self.frames.partition_point(|frame| frame.head.offset < self.durable);
        self.frames.range(start..).cloned().collect()
    }

    /// Returns the offset of the first frame that is not durable and at or after a time.
    pub(super) fn pending_at(&self, time_ms: i64) -> Option<u64> {
        let start = self.frames.partition_point(|frame| frame.head.offset < self.durable);
        self.frames.range(start..).map(|frame| frame.head).find(|head| head.time_ms >= time_ms).map(|head| head.offset)
    }
}
