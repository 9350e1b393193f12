//! How deep the columns of a Parquet file are nested, told from the bytes of its footer without recursion: the reader
//! of the format follows them however deep they go, and a file of hostile make would end the process.
//!
//! The footer is a struct of Thrift's compact protocol, whose second field is the list of all columns and groups, each
//! before what is in it (<https://github.com/apache/parquet-format>). What can't be read here is for the reader to refuse.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Deepest nesting of columns that is read.
pub(super) const DEPTH_MAX: usize = 100;
/// Deepest nesting of structs in the description of one column.
const STRUCTS_MAX: usize = 16;
/// The footer's length and the magic word behind it.
const TAIL_BYTES: usize = 8;

const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
const I32: u8 = 5;

/// Whether columns of `file` are nested deeper than [`DEPTH_MAX`].
pub(super) fn is_too_deep(file: &File) -> bool {
    footer(file).is_some_and(|footer| Thrift { bytes: &footer, at: 0 }.depth().is_some_and(|depth| depth > DEPTH_MAX))
}

/// The bytes of the footer; `None` when it is not where it should be.
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
    /// How deep the deepest column lies.
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

    /// The list of columns and groups, in which the groups that are open say how many are still to come.
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
                if deepest > DEPTH_MAX {
                    break;
                }
            }
        }
        Some(deepest)
    }

    /// How many children a column or group has.
    fn children(&mut self) -> Option<u64> {
        let (mut id, mut children) = (0, 0);
        while let Some((field, kind)) = self.field(&mut id)? {
            if (field, kind) == (5, I32) {
                // The sign stands in the last bit.
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

    /// The next field's number and type; `Some(None)` at the end of the struct.
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

    /// How many elements a list has, and their type.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        Some((count, head & 0x0f))
    }

    /// Goes over a value.
    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        (depth < STRUCTS_MAX).then_some(())?;
        match kind {
            // True and false have no bytes of their own in a field.
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
                    // In a list they have one.
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
    use super::{DEPTH_MAX, Thrift};

    /// A group or column of Thrift's compact protocol, with so many children.
    fn element(children: u8) -> Vec<u8> {
        // Optional, called `g`, and how many children it has.
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
        assert_eq!(depth(&nested(DEPTH_MAX)), Some(DEPTH_MAX));
        assert!(depth(&nested(100_000)).unwrap() > DEPTH_MAX);
        for cut in 0..40 {
            let bytes = footer(&nested(20));
            Thrift { bytes: &bytes[..cut], at: 0 }.depth();
        }
    }
}
