//! A batch: frames that are written with one system call.

use bytes::Bytes;

use super::frame::{Frame, Head};

/// Size from which on a frame is written without copying it; copying many small ones is faster than many separate
/// buffers.
const LARGE_FRAME_BYTES: usize = 64 * 1024;

/// Frames in order.
#[derive(Debug, Default)]
pub(super) struct FrameBatch {
    heads: Vec<Head>,
    /// Small frames, concatenated.
    small: Vec<u8>,
    /// Large frames, each with the number of bytes of small ones before it.
    large: Vec<(usize, Bytes)>,
    bytes: usize,
}

impl FrameBatch {
    /// Clears the batch, but keeps its allocation.
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

    /// Returns the bytes of its frames.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn heads(&self) -> &[Head] {
        &self.heads
    }

    /// Returns the offset behind its last record.
    pub(super) fn end(&self) -> Option<u64> {
        self.heads.last().map(Head::end)
    }

    /// Returns its bytes, followed by some zeros.
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
