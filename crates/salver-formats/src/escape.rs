//! Escapes text for JSON, delimited text and HTML.
//!
//! Most text needs no escaping, so each writer first scans for special bytes, eight at a time ("SIMD within a
//! register": S. E. Anderson, Bit Twiddling Hacks, "Determine if a word has a byte less than n"), and then copies whole
//! runs.

use crate::short_copy;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Sets the high bit of each byte of `word` that is zero. Exact up to the lowest match, which is all that is needed.
#[inline(always)]
const fn zeros(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

/// Sets the high bit of each byte of `word` that equals `byte`.
#[inline(always)]
pub(crate) const fn equals(word: u64, byte: u8) -> u64 {
    zeros(word ^ (ONES * byte as u64))
}

/// Sets the high bit of each byte of `word` that must be escaped in a JSON string.
#[inline(always)]
pub(crate) const fn json_hits(word: u64) -> u64 {
    (word.wrapping_sub(ONES * 0x20) & !word & HIGHS) | equals(word, b'"') | equals(word, b'\\')
}

/// Returns up to seven bytes as a word; missing bytes are `fill`.
#[inline(always)]
fn partial_word(bytes: &[u8], fill: u8) -> u64 {
    let mut word = [fill; 8];
    for (to, from) in word.iter_mut().zip(bytes) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}

/// Returns the index of the first byte for which `hits` sets a high bit. It must set none for `fill`.
#[inline(always)]
fn find(bytes: &[u8], fill: u8, hits: impl Fn(u64) -> u64) -> Option<usize> {
    let (words, rest) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        let hit = hits(u64::from_le_bytes(*word));
        if hit != 0 {
            return Some(8 * i + hit.trailing_zeros() as usize / 8);
        }
    }
    if rest.is_empty() {
        return None;
    }
    let hit = match bytes.last_chunk::<8>() {
        // Scanning some bytes twice is cheaper than assembling the rest byte by byte. They are known to be clean.
        Some(tail) => {
            let hit = hits(u64::from_le_bytes(*tail));
            return (hit != 0).then(|| bytes.len() - 8 + hit.trailing_zeros() as usize / 8);
        }
        None => hits(partial_word(rest, fill)),
    };
    (hit != 0).then(|| hit.trailing_zeros() as usize / 8)
}

/// Writes a JSON string with its quotes.
#[inline(always)]
pub(crate) fn json_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    json_text(text.as_bytes(), out);
    out.push(b'"');
}

/// Writes the content of a JSON string.
#[inline(always)]
pub(crate) fn json_text(bytes: &[u8], out: &mut Vec<u8>) {
    match find(bytes, b' ', json_hits) {
        None => short_copy::short(bytes, out),
        Some(first) => json_escaped(bytes, first, out),
    }
}

/// Writes the content of a JSON string whose byte at `at` needs an escape.
#[cold]
fn json_escaped(bytes: &[u8], mut at: usize, out: &mut Vec<u8>) {
    let mut rest = bytes;
    loop {
        let (run, tail) = rest.split_at(at);
        out.extend_from_slice(run);
        let Some((byte, tail)) = tail.split_first() else { return };
        json_escape(*byte, out);
        rest = tail;
        at = find(rest, b' ', json_hits).unwrap_or(rest.len());
    }
}

/// Writes one escape, in the short form if JSON has one.
fn json_escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0c => b'f',
        b'\r' => b'r',
        _ => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
            return out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]);
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Writes a field of delimited text. It is quoted if it contains the delimiter, a quote or a line end, and if it is
/// empty, because an empty field without quotes means null.
#[inline(always)]
pub(crate) fn delimited(bytes: &[u8], delimiter: u8, out: &mut Vec<u8>) {
    let hits = |word| equals(word, delimiter) | equals(word, b'"') | equals(word, b'\n') | equals(word, b'\r');
    if bytes.is_empty() || find(bytes, b' ', hits).is_some() {
        quoted(bytes, out);
    } else {
        short_copy::short(bytes, out);
    }
}

/// Writes a quoted field, with the quotes in it doubled.
#[cold]
fn quoted(mut bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    while let Some(at) = memchr::memchr(b'"', bytes) {
        let (run, rest) = bytes.split_at(at + 1);
        out.extend_from_slice(run);
        out.push(b'"');
        bytes = rest;
    }
    out.extend_from_slice(bytes);
    out.push(b'"');
}

/// Escapes text for HTML elements and quoted attributes. Control characters that HTML forbids become U+FFFD.
pub(crate) fn html(mut bytes: &[u8], out: &mut Vec<u8>) {
    let special = |byte: &u8| matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'' | 0..=8 | 11..=31 | 127);
    while let Some(at) = bytes.iter().position(special) {
        out.extend_from_slice(&bytes[..at]);
        out.extend_from_slice(match bytes[at] {
            b'&' => "&amp;".as_bytes(),
            b'<' => b"&lt;",
            b'>' => b"&gt;",
            b'"' => b"&quot;",
            b'\'' => b"&#39;",
            b'\r' => b"&#13;",
            _ => "\u{fffd}".as_bytes(),
        });
        bytes = &bytes[at + 1..];
    }
    out.extend_from_slice(bytes);
}

/// Writes lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.extend(bytes.iter().flat_map(|byte| [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]));
}
