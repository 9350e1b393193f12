//! Snapshot of a log.

use std::ops::Range;
use std::sync::Arc;

use salver_model::streams::Ends;
use salver_model::{Error, Result};

use super::frame::Frame;
use super::lock::lock;
use super::segment::Segment;
use super::shared::Shared;

/// Snapshot of a log; nothing in it is deleted before it is dropped.
#[derive(Debug)]
pub(crate) struct HeldLog {
    /// Closed segments, oldest first.
    pub(crate) closed: Vec<Arc<Segment>>,
    /// Part behind the closed segments.
    pub(crate) open: OpenPart,
    /// First and end offset.
    pub(crate) ends: Ends,
    /// Offset ranges whose events are lost, in order.
    pub(crate) holes: Arc<[Range<u64>]>,
}

/// Part of a snapshot behind the closed segments.
#[derive(Debug)]
pub(crate) struct OpenPart {
    shared: Arc<Shared>,
    /// Segment that was active; it has everything before the pending frames.
    segment: Arc<Segment>,
    pending: Vec<Frame>,
    pending_base: u64,
    end: u64,
}

impl HeldLog {
    pub(super) fn of(shared: &Arc<Shared>) -> Self {
        let shown = shared.show();
        let (closed, open, holes, mut pending, pending_base, mut ends) = {
            let tail = lock(&shared.tail);
            let (closed, open, holes) = (Arc::clone(&tail.closed), Arc::clone(&tail.open), Arc::clone(&tail.holes));
            (closed, open, holes, tail.pending(), tail.durable(), tail.ends())
        };
        ends.next = shown.clamp(pending_base, ends.next);
        pending.truncate(pending.partition_point(|frame| frame.head.offset < ends.next));
        let open = OpenPart { shared: Arc::clone(shared), segment: open, pending, pending_base, end: ends.next };
        Self { closed: closed.to_vec(), open, ends, holes }
    }

    /// Returns the number of events in a range of offsets.
    pub(crate) fn events(&self, offsets: &Range<u64>) -> u64 {
        let all = offsets.end.saturating_sub(offsets.start);
        let missing = |hole: &Range<u64>| hole.end.min(offsets.end).saturating_sub(hole.start.max(offsets.start));
        all - self.holes.iter().map(missing).sum::<u64>()
    }

    /// Returns the offset behind the first `count` events from `start` on.
    pub(crate) fn behind(&self, start: u64, count: u64) -> u64 {
        let mut end = start.saturating_add(count);
        for hole in self.holes.iter().filter(|hole| hole.end > start) {
            if hole.start >= end {
                break;
            }
            end = end.saturating_add(hole.end - hole.start.max(start));
        }
        end
    }
}

impl HeldLog {
    /// Records that events can't be read, so that later snapshots don't count them. Tells the log of each once.
    pub(crate) fn lose(&self, offsets: Range<u64>, why: &Error) {
        if lock(&self.open.shared.tail).lose(&offsets) {
            let last = offsets.end.saturating_sub(1);
            tracing::error!(
                "events {} to {last} are left out of the table of the stream: {}",
                offsets.start,
                why.message
            );
        }
    }
}

impl OpenPart {
    /// Returns the offset of its first event.
    pub(crate) fn base(&self) -> u64 {
        self.segment.base()
    }

    /// Returns frames of this part, the first containing `from` or the very first: at least one, and about `bytes_max`
    /// bytes at most, from memory if available. Empty at the end; `Source` when it is damaged at `from`. May block.
    pub(crate) fn read(&self, from: u64, bytes_max: usize) -> Result<Vec<Frame>> {
        let from = from.max(self.base());
        if from >= self.pending_base {
            let start = self.pending.partition_point(|frame| frame.head.end() <= from);
            let mut bytes = 0;
            let rest = self.pending.get(start..).unwrap_or_default().iter();
            // The frame that exceeds the limit is included.
            let is_within = |frame: &&Frame| {
                let before = bytes;
                bytes += frame.bytes.len();
                before == 0 || before < bytes_max
            };
            return Ok(rest.take_while(is_within).cloned().collect());
        }
        let mut frames = match self.shared.recent(from, bytes_max) {
            Some(frames) => frames,
            None => self.segment.read(from, bytes_max)?,
        };
        frames.truncate(frames.partition_point(|frame| frame.head.offset < self.end));
        Ok(frames)
    }

    /// Returns the first offset from `from` on that is not damaged. May block.
    pub(crate) fn good_from(&self, from: u64) -> Result<u64> {
        let from = from.max(self.base());
        if from >= self.pending_base { Ok(from) } else { self.segment.good_from(from) }
    }
}
