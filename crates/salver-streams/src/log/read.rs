//! Reads from the log.

use std::sync::Arc;

use salver_model::{Error, Result};

use super::Log;
use super::disk_error::missing;
use super::frame::Frame;
use super::lock::lock;
use super::tail::Located;

/// Bytes that a walk over the log reads at a time.
const PIECE_BYTES: usize = 4 * 1024 * 1024;

/// Source of frames.
enum ReadSource {
    Memory(Vec<Frame>),
    /// Segment, from this offset on.
    Segment(u64, Located),
}

impl Log {
    /// Returns frames from memory, the first containing `from`; `None` when that one is not in memory. Empty at the
    /// end.
    pub(crate) fn recent(&self, from: u64, bytes_max: usize) -> Option<Vec<Frame>> {
        self.shared.recent(from, bytes_max)
    }

    /// Returns whole frames from memory or disk. The first contains `from` or is the oldest that is kept; there is at
    /// least one if any exists, and about `bytes_max` bytes at most. Empty at the end.
    ///
    /// Returns `Source` when the log is damaged at `from`; [`Log::good_from`] finds where it continues. May block.
    pub(crate) fn read(&self, from: u64, bytes_max: usize) -> Result<Vec<Frame>> {
        let (from, place) = match self.find(from, bytes_max) {
            ReadSource::Memory(frames) => return Ok(frames),
            ReadSource::Segment(from, place) => (from, place),
        };
        let frames = place.segment.read(from, bytes_max)?;
        match place.next_base {
            Some(base) if frames.is_empty() => Err(missing(&self.shared.options.dir, from, base)),
            _ => Ok(frames),
        }
    }

    /// Walks over all frames from `from` on. What is damaged is passed over, and `skipped` told of it, with the offset
    /// behind it. Blocks.
    pub(crate) fn walk(
        &self,
        mut from: u64,
        skipped: impl Fn(&Error, u64),
        mut each: impl FnMut(&Frame),
    ) -> Result<()> {
        loop {
            let frames = match self.read(from, PIECE_BYTES) {
                Ok(frames) => frames,
                Err(error) => match self.good_from(from)? {
                    next if next > from => {
                        skipped(&error, next);
                        from = next;
                        continue;
                    }
                    _ => return Err(error),
                },
            };
            let Some(last) = frames.last() else { return Ok(()) };
            from = last.head.end();
            frames.iter().for_each(&mut each);
        }
    }

    /// Returns the first offset from `from` on that is not damaged. May block.
    pub(crate) fn good_from(&self, from: u64) -> Result<u64> {
        let mut from = from;
        while let ReadSource::Segment(kept, place) = self.find(from, 0) {
            let good = place.segment.good_from(kept)?;
            match place.next_base {
                Some(base) if good >= place.segment.end() => from = base,
                _ => return Ok(good),
            }
        }
        Ok(from.max(self.ends().first))
    }

    /// Locates `from`, or the oldest offset that is kept.
    fn find(&self, from: u64, bytes_max: usize) -> ReadSource {
        let mut from = from;
        loop {
            if let Some(frames) = self.recent(from, bytes_max) {
                return ReadSource::Memory(frames);
            }
            let tail = lock(&self.shared.tail);
            let first = tail.ends().first;
            if from >= first {
                return ReadSource::Segment(from, tail.segment_of(from));
            }
            // The oldest frame may be in memory only.
            from = first;
        }
    }

    /// Returns the offset of the first frame at or after a time; the end when there is none. May block.
    pub(crate) fn offset_at(&self, time_ms: i64) -> Result<u64> {
        let shown = self.shared.show();
        let (closed, open, pending, end) = {
            let tail = lock(&self.shared.tail);
            (Arc::clone(&tail.closed), Arc::clone(&tail.open), tail.pending_at(time_ms), tail.ends().next)
        };
        for segment in closed.iter().chain([&open]) {
            if let Some(offset) = segment.offset_at(time_ms)? {
                return Ok(offset);
            }
        }
        Ok(pending.unwrap_or(end).min(shown))
    }
}
