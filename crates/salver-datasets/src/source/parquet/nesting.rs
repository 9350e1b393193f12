//! Measures the nesting of the columns of a Parquet file from the bytes of its footer, without recursion: the Parquet
//! reader recurses to any depth, so that a malicious file would overflow the stack and end the process.
//!
//! The footer is a struct in Thrift's compact protocol, whose second field is the list of all columns and groups in
//! pre-order (<https://github.com/apache/parquet-format>). A footer that can't be parsed here is left to the reader to
//! refuse.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use salver_model::limits::PARQUET_DEPTH_MAX;

/// Deepest nesting of structs in the metadata of one column.
const METADATA_DEPTH: usize = 16;
/// Length of the end of a file: the footer's length and the magic number.
const TAIL_BYTES: usize = 8;

const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
const I32: u8 = 5;

/// Returns whether columns of `file` are nested deeper than [`PARQUET_DEPTH_MAX`].
pub(super) fn is_too_deep(file: &File) -> bool {
    footer(file)
        .is_some_and(|footer| Thrift { bytes: &footer, at: 0 }.depth().is_some_and(|depth| depth > PARQUET_DEPTH_MAX))
}

/// Reads the bytes of the footer; `None` if it is not where it should be.
fn footer(mut file: &File) -> Option<Vec<u8>> {
    let end = file.seek(SeekFrom::End(0)).ok()?;
    let tail = i64::try_from(TAIL_BYTES).ok()?;
    file.seek(SeekFrom::End(-tail)).ok()?;
    let mut last = [0; TAIL_BYTES];
    file.read_exact(&mut last).ok()?;
    let length = u32::from_le_bytes([last[0], last[1], last[2], last[3]]);
    let start = end.checked_sub(u64::from(length) + TAIL_BYTES as u64)?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut footer = vec![0; usize::try_from(length).ok()?];
    file.read_exact(&mut footer).ok()?;
    file.rewind().ok()?;
    Some(footer)
}

struct Thrift<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Thrift<'_> {
    /// Returns the depth of the deepest column.
    fn depth(&mut self) -> Option<usize> {
        let mut id = 0;
        while let Some((field, kind)) = self.field(&mut id)? {
            if (field, kind) == (2, LIST) {
                return self.schema();
            }
            self.skip(kind, 0)?;
        }
        None
    }

    /// Reads the list of columns and groups; the open groups count how many children are still to come.
    fn schema(&mut self) -> Option<usize> {
        let (count, kind) = self.list()?;
        (kind == STRUCT).then_some(())?;
        let mut open: Vec<u64> = Vec::new();
        let mut deepest = 0;
        for _ in 0..count {
            let children = self.children()?;
            while open.last() == Some(&0) {
                open.pop();
            }
            if let Some(left) = open.last_mut() {
                *left -= 1;
            }
            if children > 0 {
                open.push(children);
                deepest = deepest.max(open.len());
                if deepest > PARQUET_DEPTH_MAX {
                    break;
                }
            }
        }
        Some(deepest)
    }

    /// Returns the number of children of a column or group.
    fn children(&mut self) -> Option<u64> {
        let (mut id, mut children) = (0, 0);
        while let Some((field, kind)) = self.field(&mut id)? {
            if (field, kind) == (5, I32) {
                // Zig-zag encoding: the lowest bit is the sign.
                children = self.varint()? >> 1;
            } else {
                self.skip(kind, 0)?;
            }
        }
        Some(children)
    }

    fn byte(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Returns the number and type of the next field; `Some(None)` at the end of the struct.
    fn field(&mut self, id: &mut i64) -> Option<Option<(i64, u8)>> {
        let head = self.byte()?;
        if head == 0 {
            return Some(None);
        }
        let delta = i64::from(head >> 4);
        if delta == 0 {
            let number = self.varint()?;
            *id = (number >> 1).cast_signed() ^ -((number & 1).cast_signed());
        } else {
            *id += delta;
        }
        Some(Some((*id, head & 0x0f)))
    }

    /// Returns the number of a list's elements, and their type.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        Some((count, head & 0x0f))
    }

    /// Skips a value.
    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        (depth < METADATA_DEPTH).then_some(())?;
        match kind {
            // As a field, a boolean has no bytes of its own.
            1 | 2 => {}
            3 => self.at += 1,
            4..=6 => drop(self.varint()?),
            7 => self.at += 8,
            BINARY => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.at = self.at.checked_add(length)?;
            }
            LIST | 10 => {
                let (count, kind) = self.list()?;
                for _ in 0..count {
                    // In a list, it has one byte.
                    if matches!(kind, 1 | 2) {
                        self.at += 1
                    } else {
                        self.skip(kind, depth + 1)?
                    }
                    (self.at <= self.bytes.len()).then_some(())?;
                }
            }
            STRUCT => {
                let mut id = 0;
                while let Some((_, kind)) = self.field(&mut id)? {
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => return None,
        }
        (self.at <= self.bytes.len()).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::{PARQUET_DEPTH_MAX, Thrift};

    /// Encodes a group or column with this number of children in Thrift's compact protocol.
    fn element(children: u8) -> Vec<u8> {
        // Optional, called `g`, and the number of children.
        vec![0x35, 2, 0x18, 1, b'g', 0x15, children * 2, 0]
    }

    fn footer(elements: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = vec![0x15, 2, 0x19, 0xfc];
        let mut count = elements.len();
        while count >= 0x80 {
            bytes.push((count & 0x7f) as u8 | 0x80);
            count >>= 7;
        }
        bytes.push(count as u8);
        bytes.extend(elements.concat());
        bytes.push(0);
        bytes
    }

    #[test]
    fn depths() {
        let depth = |elements: &[Vec<u8>]| Thrift { bytes: &footer(elements), at: 0 }.depth();
        assert_eq!(depth(&[element(2), element(0), element(0)]), Some(1));
        assert_eq!(depth(&[element(2), element(1), element(0), element(1), element(0)]), Some(2));
        let nested = |count: usize| [vec![element(1); count], vec![element(0)]].concat();
        assert_eq!(depth(&nested(PARQUET_DEPTH_MAX)), Some(PARQUET_DEPTH_MAX));
        assert!(depth(&nested(100_000)).unwrap() > PARQUET_DEPTH_MAX);
        for cut in 0..40 {
            let bytes = footer(&nested(20));
            Thrift { bytes: &bytes[..cut], at: 0 }.depth();
        }
    }
}
