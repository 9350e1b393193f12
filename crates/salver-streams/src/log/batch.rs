//! A batch: the frames that are written at once.

use bytes::Bytes;

use super::frame::{Frame, Head};

/// Frames from this size on are written from where they lie; copying many small ones is quicker than many pieces.
const LARGE_FRAME_BYTES: usize = 64 * 1024;

/// Frames in order.
#[derive(Debug, Default)]
pub(super) struct Batch {
    heads: Vec<Head>,
    /// Small frames, one behind the other.
    small: Vec<u8>,
    /// Large frames, each with how many bytes of small ones come before it.
    large: Vec<(usize, Bytes)>,
    bytes: usize,
}

impl Batch {
    /// Forgets everything but its room.
    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.small.clear();
        self.large.clear();
        self.bytes = 0;
    }

    pub(super) fn push(&mut self, frame: &Frame) {
        self.heads.push(frame.head);
        self.bytes += frame.bytes.len();
        if frame.bytes.len() < LARGE_FRAME_BYTES {
            self.small.extend_from_slice(&frame.bytes);
        } else {
            self.large.push((self.small.len(), frame.bytes.clone()));
        }
    }

    /// Bytes of its frames.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// The offset behind its last record.
    pub(super) fn end(&self) -> Option<u64> {
        self.heads.last().map(Head::end)
    }

    /// Its bytes, with some zeros behind.
    pub(super) fn pieces(&mut self, zeros: usize) -> impl Iterator<Item = &[u8]> {
        let small_bytes = self.bytes - self.large.iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
        self.small.truncate(small_bytes);
        self.small.resize(small_bytes + zeros, 0);
        let starts = std::iter::once(0).chain(self.large.iter().map(|(before, _)| *before));
        let ends = self.large.iter().map(|(before, _)| *before).chain([self.small.len()]);
        let small = starts.zip(ends).map(|(start, end)| &self.small[start..end]);
        let large = self.large.iter().map(|(_, bytes)| &bytes[..]).chain([&[][..]]);
        small.zip(large).flat_map(|(small, large)| [small, large]).filter(|piece| !piece.is_empty())
    }
}
