//! Appends short runs of bytes without calling `memcpy`.
//!
//! A row takes dozens of appends of a few bytes each. A copy of constant length is one or two moves; so short runs are
//! copied as one or two overlapping blocks of fixed size, and then the vector's length is set.

use crate::slice_write;

/// Appends the first `len` bytes of `block`. It copies the whole block, which makes it fast.
#[inline(always)]
pub(crate) fn block<const N: usize>(block: &[u8; N], len: usize, out: &mut Vec<u8>) {
    debug_assert!(len <= N, "{len} of {N} bytes");
    let end = out.len() + len;
    out.extend_from_slice(block);
    out.truncate(end);
}

/// Appends `bytes`, which are expected to be few.
#[inline(always)]
pub(crate) fn short(bytes: &[u8], out: &mut Vec<u8>) {
    match bytes.len() {
        0 => {}
        1..4 => {
            for byte in bytes {
                out.push(*byte);
            }
        }
        4..8 => overlapping::<4>(bytes, out),
        8..16 => overlapping::<8>(bytes, out),
        16..=32 => overlapping::<16>(bytes, out),
        _ => out.extend_from_slice(bytes),
    }
}

/// Appends `N` to `2 * N` bytes as two blocks, which may overlap.
#[inline(always)]
fn overlapping<const N: usize>(bytes: &[u8], out: &mut Vec<u8>) {
    if let (Some(head), Some(tail)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) {
        let end = out.len() + bytes.len();
        out.extend_from_slice(head);
        out.truncate(end - N);
        out.extend_from_slice(tail);
    }
}

/// Bytes that are written repeatedly: a key with its quotes and colon, the end of a row.
#[derive(Clone, Debug)]
pub(crate) struct WrittenToken {
    /// Padded, so that short tokens are one block of fixed size.
    block: [u8; 32],
    len: usize,
    /// The whole token, if it is longer than a block.
    long: Box<[u8]>,
}

impl WrittenToken {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let mut block = [0; 32];
        let long = match block.get_mut(..bytes.len()) {
            Some(start) => {
                start.copy_from_slice(bytes);
                Box::default()
            }
            None => bytes.into(),
        };
        Self { block, len: bytes.len(), long }
    }

    #[inline(always)]
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        match self.block.first_chunk::<16>() {
            Some(half) if self.len <= 16 => block(half, self.len, out),
            _ if self.len <= 32 => block(&self.block, self.len, out),
            _ => out.extend_from_slice(&self.long),
        }
    }

    /// Writes the token at an offset in a slice.
    #[inline(always)]
    pub(crate) fn place(&self, bytes: &mut [u8], at: usize) -> Option<usize> {
        match self.block.first_chunk::<16>() {
            Some(half) if self.len <= 16 => slice_write::block(bytes, at, half, self.len),
            _ if self.len <= 32 => slice_write::block(bytes, at, &self.block, self.len),
            _ => slice_write::run(bytes, at, &self.long),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }
}
