//! Primitives to write at an offset in a slice, used by `in_place`.
//!
//! Every function returns the offset after what it wrote, or `None` if the slice has no room for the block.

/// Writes the first `len` bytes of `block`; the rest of it is written after them.
#[inline(always)]
pub(crate) fn block<const N: usize>(bytes: &mut [u8], at: usize, block: &[u8; N], len: usize) -> Option<usize> {
    debug_assert!(len <= N, "{len} of {N} bytes");
    *bytes.get_mut(at..)?.first_chunk_mut::<N>()? = *block;
    Some(at + len)
}

/// Writes one byte.
#[inline(always)]
pub(crate) fn byte(bytes: &mut [u8], at: usize, byte: u8) -> Option<usize> {
    *bytes.get_mut(at)? = byte;
    Some(at + 1)
}

/// Writes a run of any length.
#[inline]
pub(crate) fn run(bytes: &mut [u8], at: usize, run: &[u8]) -> Option<usize> {
    let end = at + run.len();
    bytes.get_mut(at..end)?.copy_from_slice(run);
    Some(end)
}
