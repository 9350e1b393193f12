//! Sparse index of a segment: its end, its times, and some frame positions.

use std::fs;
use std::path::Path;

use super::frame::Head;
use crate::private_files;

/// Bytes between two indexed places.
const STRIDE_BYTES: u64 = 256 * 1024;
const MAGIC: u64 = u64::from_le_bytes(*b"SLVINDX1");
const NUMBERS: usize = 9;

/// Indexed place in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IndexedFrame {
    /// Offset of the frame's first record.
    pub(super) offset: u64,
    /// Position of the frame in the file.
    pub(super) at: u64,
    /// Latest time of the frames before it.
    pub(super) time_ms_before: i64,
}

/// Index of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Index {
    /// Offset of its first record.
    pub(super) base: u64,
    /// Offset behind its last record.
    pub(super) end: u64,
    /// Bytes of its frames.
    pub(super) bytes: u64,
    /// Time of its first frame; `i64::MAX` when there is none.
    pub(super) first_time_ms: i64,
    /// Latest time of a frame; `i64::MIN` when there is none.
    pub(super) last_time_ms: i64,
    /// Id of its last record; 0 when there is none.
    pub(super) last_id: u128,
    places: Vec<IndexedFrame>,
}

impl Index {
    /// Creates the index of a segment without frames.
    pub(super) fn new(base: u64) -> Self {
        Self {
            base,
            end: base,
            bytes: 0,
            first_time_ms: i64::MAX,
            last_time_ms: i64::MIN,
            last_id: 0,
            places: Vec::new(),
        }
    }

    /// Returns whether there are no frames.
    pub(super) fn is_empty(&self) -> bool {
        self.end == self.base
    }

    /// Adds the frame at this position in the file.
    pub(super) fn add(&mut self, at: u64, head: &Head) {
        if self.places.last().is_none_or(|place| at - place.at >= STRIDE_BYTES) {
            self.places.push(IndexedFrame { offset: head.offset, at, time_ms_before: self.last_time_ms });
        }
        if self.is_empty() {
            self.first_time_ms = head.time_ms;
        }
        self.end = head.end();
        self.bytes = at + head.frame_bytes() as u64;
        self.last_time_ms = self.last_time_ms.max(head.time_ms);
        self.last_id = head.last_id();
    }

    /// Returns the last place that is not behind `offset`.
    pub(super) fn place_of(&self, offset: u64) -> IndexedFrame {
        self.last_place(|place| place.offset <= offset)
    }

    /// Returns the last place before which no frame is at or after `time_ms`.
    pub(super) fn place_at(&self, time_ms: i64) -> IndexedFrame {
        self.last_place(|place| place.time_ms_before < time_ms)
    }

    fn last_place(&self, is_before: impl FnMut(&IndexedFrame) -> bool) -> IndexedFrame {
        let count = self.places.partition_point(is_before);
        let start = IndexedFrame { offset: self.base, at: 0, time_ms_before: i64::MIN };
        count.checked_sub(1).and_then(|last| self.places.get(last)).copied().unwrap_or(start)
    }

    /// Stores the index for the next start, without an fsync, since it can be rebuilt from the segment.
    pub(super) fn store(&self, path: &Path) {
        let mut out = Vec::with_capacity(8 * (NUMBERS + 3 * self.places.len()) + 4);
        let numbers = [
            MAGIC,
            self.base,
            self.end,
            self.bytes,
            self.first_time_ms as u64,
            self.last_time_ms as u64,
            self.last_id as u64,
            (self.last_id >> 64) as u64,
            self.places.len() as u64,
        ];
        let places = self.places.iter().flat_map(|place| [place.offset, place.at, place.time_ms_before as u64]);
        for number in numbers.into_iter().chain(places) {
            out.extend_from_slice(&number.to_le_bytes());
        }
        let sum = crc32fast::hash(&out);
        out.extend_from_slice(&sum.to_le_bytes());
        if let Err(error) = private_files::write(path, out) {
            tracing::debug!(%error, path = %path.display(), "the index of a log file was not written");
        }
    }

    /// Loads the file that [`Index::store`] wrote; `None` when it is incomplete.
    pub(super) fn load(path: &Path) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let (body, sum) = bytes.split_last_chunk::<4>()?;
        if u32::from_le_bytes(*sum) != crc32fast::hash(body) {
            return None;
        }
        let (numbers, []) = body.as_chunks::<8>() else { return None };
        let mut numbers = numbers.iter().map(|number| u64::from_le_bytes(*number));
        let mut next = || numbers.next();
        if next()? != MAGIC {
            return None;
        }
        let mut index = Self::new(next()?);
        (index.end, index.bytes) = (next()?, next()?);
        (index.first_time_ms, index.last_time_ms) = (next()? as i64, next()? as i64);
        index.last_id = u128::from(next()?) | (u128::from(next()?) << 64);
        for _ in 0..next()? {
            index.places.push(IndexedFrame { offset: next()?, at: next()?, time_ms_before: next()? as i64 });
        }
        Some(index)
    }
}
