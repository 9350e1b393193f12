//! Writes text in JSON and delimited text, 32 bytes at a time.
//!
//! The texts of a column are contiguous, so a block of 32 bytes can be read at the start of nearly every one, whatever
//! its length. The whole block is copied, and scanned for special bytes in two or four vector registers; a mask selects
//! the bytes that belong to the text.

use crate::slice_write::{block, byte};

const BLOCK: usize = 32;

/// A text in a larger buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'a> {
    /// The buffer.
    pub(crate) buffer: &'a [u8],
    /// Offset of the text in it.
    pub(crate) start: usize,
    /// Length of the text.
    pub(crate) len: usize,
}

/// Writes the content of a JSON string.
#[inline(always)]
pub(crate) fn json(bytes: &mut [u8], at: usize, text: Text<'_>) -> Option<usize> {
    let is_special = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\');
    match copied(bytes, at, text, is_special)? {
        Copied::Clean(end) => Some(end),
        Copied::Special => json_escaped(bytes, at, text),
    }
}

/// Writes a field of delimited text.
#[inline(always)]
pub(crate) fn delimited(bytes: &mut [u8], at: usize, text: Text<'_>, delimiter: u8) -> Option<usize> {
    let is_special = |byte: u8| (byte == delimiter) | (byte == b'"') | (byte == b'\n') | (byte == b'\r');
    match copied(bytes, at, text, is_special)? {
        Copied::Clean(end) if text.len > 0 => Some(end),
        Copied::Clean(_) => block(bytes, at, b"\"\"", 2),
        Copied::Special => quoted(bytes, at, text),
    }
}

enum Copied {
    Clean(usize),
    /// The text has a special byte; what was written must be discarded.
    Special,
}

#[inline(always)]
fn copied(bytes: &mut [u8], at: usize, text: Text<'_>, is_special: impl Fn(u8) -> bool + Copy) -> Option<Copied> {
    let Text { buffer, start, len } = text;
    if len <= BLOCK
        && let Some(source) = buffer.get(start..).and_then(<[u8]>::first_chunk::<BLOCK>)
    {
        let end = block(bytes, at, source, len)?;
        return Some(if any(source, len, is_special) { Copied::Special } else { Copied::Clean(end) });
    }
    copied_in_blocks(bytes, at, buffer.get(start..start + len)?, is_special)
}

/// Like [`copied`], for long texts, and short ones at the end of their buffer.
#[inline(never)]
fn copied_in_blocks(
    bytes: &mut [u8],
    at: usize,
    text: &[u8],
    is_special: impl Fn(u8) -> bool + Copy,
) -> Option<Copied> {
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let mut special = false;
    let mut place = at;
    for source in blocks {
        place = block(bytes, place, source, BLOCK)?;
        special |= any(source, BLOCK, is_special);
    }
    if !rest.is_empty() {
        let mut source = [0; BLOCK];
        source.get_mut(..rest.len())?.copy_from_slice(rest);
        place = block(bytes, place, &source, rest.len())?;
        special |= any(&source, rest.len(), is_special);
    }
    Some(if special { Copied::Special } else { Copied::Clean(place) })
}

/// Returns whether one of the first `len` bytes is special.
#[inline(always)]
fn any(source: &[u8; BLOCK], len: usize, is_special: impl Fn(u8) -> bool) -> bool {
    // A loop that compares indexes with the length would be vectorized with fewer lanes.
    let Some(mask) = MASK.get(BLOCK - len.min(BLOCK)..).and_then(<[u8]>::first_chunk::<BLOCK>) else { return true };
    let mut any = 0;
    for (byte, mask) in source.iter().zip(mask) {
        any |= u8::from(is_special(*byte)) & mask;
    }
    any != 0
}

/// From `BLOCK - len` on, it has `len` ones, then zeros.
const MASK: [u8; 2 * BLOCK] = {
    let mut mask = [0; 2 * BLOCK];
    let mut i = 0;
    while i < BLOCK {
        mask[i] = 1;
        i += 1;
    }
    mask
};

/// The escaped form of each byte in a JSON string; the last byte is its length.
const ESCAPES: [[u8; 8]; 256] = {
    let mut escapes = [[0; 8]; 256];
    let mut i = 0;
    while i < 256 {
        let byte = i as u8;
        let hex = b"0123456789abcdef";
        escapes[i] = match byte {
            b'"' | b'\\' => [b'\\', byte, 0, 0, 0, 0, 0, 2],
            0x08 => *b"\\b\0\0\0\0\0\x02",
            b'\t' => *b"\\t\0\0\0\0\0\x02",
            b'\n' => *b"\\n\0\0\0\0\0\x02",
            0x0c => *b"\\f\0\0\0\0\0\x02",
            b'\r' => *b"\\r\0\0\0\0\0\x02",
            0..0x20 => [b'\\', b'u', b'0', b'0', hex[i >> 4], hex[i & 15], 0, 6],
            _ => [byte, 0, 0, 0, 0, 0, 0, 1],
        };
        i += 1;
    }
    escapes
};

/// Copies runs without special bytes eight at a time, and looks up the byte after each run.
#[inline(never)]
fn json_escaped(bytes: &mut [u8], mut at: usize, text: Text<'_>) -> Option<usize> {
    let mut rest = text.buffer.get(text.start..text.start + text.len)?;
    while let Some(word) = rest.first_chunk::<8>() {
        at = block(bytes, at, word, 8)?;
        let hits = crate::escape::json_hits(u64::from_le_bytes(*word));
        if hits == 0 {
            rest = rest.get(8..)?;
            continue;
        }
        let clean = hits.trailing_zeros() as usize / 8;
        at = escaped(bytes, at - 8 + clean, *rest.get(clean)?)?;
        rest = rest.get(clean + 1..)?;
    }
    for byte in rest {
        at = escaped(bytes, at, *byte)?;
    }
    Some(at)
}

#[inline(always)]
fn escaped(bytes: &mut [u8], at: usize, byte: u8) -> Option<usize> {
    let escape = &ESCAPES[usize::from(byte)];
    block(bytes, at, escape, usize::from(escape[7]))
}

/// Writes a quoted field, with the quotes in it doubled.
#[inline(never)]
fn quoted(bytes: &mut [u8], at: usize, text: Text<'_>) -> Option<usize> {
    let mut rest = text.buffer.get(text.start..text.start + text.len)?;
    let mut at = byte(bytes, at, b'"')?;
    while let Some(word) = rest.first_chunk::<8>() {
        at = block(bytes, at, word, 8)?;
        let hits = crate::escape::equals(u64::from_le_bytes(*word), b'"');
        if hits == 0 {
            rest = rest.get(8..)?;
            continue;
        }
        let clean = hits.trailing_zeros() as usize / 8;
        at = block(bytes, at - 8 + clean, b"\"\"", 2)?;
        rest = rest.get(clean + 1..)?;
    }
    for one in rest {
        block(bytes, at, &[*one, b'"'], 2)?;
        at += 1 + usize::from(*one == b'"');
    }
    byte(bytes, at, b'"')
}
