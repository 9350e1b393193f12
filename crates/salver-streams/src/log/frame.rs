//! Frames: the binary format of an append in the log.
//!
//! A frame is a header of [`HEADER_BYTES`] and the records of one append. All numbers are little-endian; `varint` is
//! LEB128. The header, by position:
//!
//! | at | bytes | what |
//! |---|---|---|
//! | 0 | 4 | [`MAGIC`] |
//! | 4 | 4 | bytes of the body |
//! | 8 | 4 | CRC-32 of the body |
//! | 12 | 4 | records |
//! | 16 | 8 | offset of the first record |
//! | 24 | 8 | time of the frame, in milliseconds since 1970 |
//! | 32 | 16 | id of the first record; each next one is 1 more |
//! | 48 | 4 | records before this frame that were not known to be on disk when it got its place |
//! | 52 | 4 | CRC-32 of the 52 bytes before |
//!
//! A record: varint of the value's length, one byte of attributes, then for each attribute that is set, in this order,
//! the key (varint length, bytes), the id (the same), the partition (varint), the headers (varint count, then name and
//! value of each, both as varint length and bytes), the time (zigzag varint, milliseconds after the frame's), the
//! headers without a value (varint count, then the varint index of each); then the value. The sixth attribute marks a
//! record without a value. A plain event has two bytes more than its text.

use bytes::Bytes;

/// First bytes of a frame.
pub(crate) const MAGIC: u32 = u32::from_le_bytes(*b"SLV1");
/// Length of a frame's header.
pub(crate) const HEADER_BYTES: usize = 56;

const KEY: u8 = 1;
const ID: u8 = 2;
const PARTITION: u8 = 4;
const HEADERS: u8 = 8;
const TIME: u8 = 16;
/// Attribute of a record without a value.
const NULL: u8 = 32;
/// Attribute of a record with headers that have no value.
const NULL_HEADERS: u8 = 64;

/// Record with borrowed data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    /// Value; empty when `is_null`.
    pub(crate) value: &'a [u8],
    /// Whether the record has no value: a tombstone.
    pub(crate) is_null: bool,
    pub(crate) key: Option<&'a [u8]>,
    /// Id set by the client; `None` for a generated one.
    pub(crate) id: Option<&'a [u8]>,
    pub(crate) partition: Option<u32>,
    pub(crate) headers: Vec<(&'a str, Option<&'a [u8]>)>,
    /// Time of the record; `None` for the frame's.
    pub(crate) time_ms: Option<i64>,
}

/// Builder of a frame from the records of one append.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameBuilder {
    bytes: Vec<u8>,
    count: u32,
    time_ms: i64,
}

impl FrameBuilder {
    /// Creates a builder for a frame with the time `time_ms`, with capacity for `bytes` of records.
    pub(crate) fn new(time_ms: i64, bytes: usize) -> Self {
        let mut buffer = Vec::with_capacity(HEADER_BYTES + bytes);
        buffer.resize(HEADER_BYTES, 0);
        Self { bytes: buffer, count: 0, time_ms }
    }

    /// Returns the number of records.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Adds a record that consists of a value only.
    pub(crate) fn push_plain(&mut self, value: &[u8]) {
        put_varint(&mut self.bytes, value.len() as u64);
        self.bytes.push(0);
        self.bytes.extend_from_slice(value);
        self.count += 1;
    }

    /// Adds a record.
    pub(crate) fn push(&mut self, record: &Record<'_>) {
        let out = &mut self.bytes;
        put_varint(out, record.value.len() as u64);
        let mut attributes = 0;
        for (is_set, flag) in [
            (record.key.is_some(), KEY),
            (record.id.is_some(), ID),
            (record.partition.is_some(), PARTITION),
            (!record.headers.is_empty(), HEADERS),
            (record.time_ms.is_some(), TIME),
            (record.is_null, NULL),
            (record.headers.iter().any(|(_, value)| value.is_none()), NULL_HEADERS),
        ] {
            attributes |= if is_set { flag } else { 0 };
        }
        out.push(attributes);
        for part in [record.key, record.id].into_iter().flatten() {
            put_bytes(out, part);
        }
        if let Some(partition) = record.partition {
            put_varint(out, u64::from(partition));
        }
        if !record.headers.is_empty() {
            put_varint(out, record.headers.len() as u64);
            for (name, value) in &record.headers {
                put_bytes(out, name.as_bytes());
                put_bytes(out, value.unwrap_or_default());
            }
        }
        if let Some(time_ms) = record.time_ms {
            let after = time_ms.wrapping_sub(self.time_ms);
            put_varint(out, ((after << 1) ^ (after >> 63)) as u64);
        }
        if attributes & NULL_HEADERS != 0 {
            let nulls = || record.headers.iter().enumerate().filter(|(_, (_, value))| value.is_none());
            put_varint(out, nulls().count() as u64);
            nulls().for_each(|(index, _)| put_varint(out, index as u64));
        }
        out.extend_from_slice(record.value);
        self.count += 1;
    }

    /// Computes the checksum of the body, outside of any lock.
    pub(crate) fn seal(self) -> SealedFrame {
        let crc = crc32fast::hash(&self.bytes[HEADER_BYTES..]);
        SealedFrame { bytes: self.bytes, count: self.count, time_ms: self.time_ms, crc }
    }
}

/// Complete frame without an offset.
#[derive(Clone, Debug)]
pub(crate) struct SealedFrame {
    bytes: Vec<u8>,
    count: u32,
    time_ms: i64,
    crc: u32,
}

impl SealedFrame {
    /// Returns the number of records.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Returns its length in bytes, including the header.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Assigns the frame its offset, with everything before it durable.
    #[cfg(test)]
    pub(crate) fn at(self, offset: u64, id: u128) -> Frame {
        self.behind(offset, id, 0)
    }

    /// Assigns the frame its offset, behind `unsynced` records that may not be durable yet. Takes a fraction of a
    /// microsecond.
    pub(crate) fn behind(mut self, offset: u64, id: u128, unsynced: u32) -> Frame {
        let head = Head {
            body: self.bytes.len() - HEADER_BYTES,
            crc: self.crc,
            count: self.count,
            offset,
            time_ms: self.time_ms,
            id,
            unsynced,
        };
        head.write(&mut self.bytes[..HEADER_BYTES]);
        Frame { head, bytes: Bytes::from(self.bytes) }
    }
}

/// Decoded header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// Bytes of the body.
    pub(crate) body: usize,
    crc: u32,
    /// Number of records.
    pub(crate) count: u32,
    /// Offset of the first record.
    pub(crate) offset: u64,
    /// Time of the frame, in milliseconds since 1970.
    pub(crate) time_ms: i64,
    /// Id of the first record.
    pub(crate) id: u128,
    /// Number of records before it that were not known to be durable when it was assigned its offset. Damage further
    /// back is not a torn write.
    pub(crate) unsynced: u32,
}

impl Head {
    /// Decodes a header; `None` when the bytes are not one.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let head = bytes.get(..HEADER_BYTES)?;
        let word = |at: usize| head.get(at..at + 4).and_then(|own| own.try_into().ok()).map(u32::from_le_bytes);
        let long = |at: usize| head.get(at..at + 8).and_then(|own| own.try_into().ok()).map(u64::from_le_bytes);
        if word(0)? != MAGIC || word(52)? != crc32fast::hash(&head[..52]) {
            return None;
        }
        let id = u128::from_le_bytes(head.get(32..48)?.try_into().ok()?);
        let (body, crc, count, unsynced) = (word(4)? as usize, word(8)?, word(12)?, word(48)?);
        Some(Self { body, crc, count, offset: long(16)?, time_ms: long(24)? as i64, id, unsynced })
    }

    fn write(&self, out: &mut [u8]) {
        out[0..4].copy_from_slice(&MAGIC.to_le_bytes());
        out[4..8].copy_from_slice(&(self.body as u32).to_le_bytes());
        out[8..12].copy_from_slice(&self.crc.to_le_bytes());
        out[12..16].copy_from_slice(&self.count.to_le_bytes());
        out[16..24].copy_from_slice(&self.offset.to_le_bytes());
        out[24..32].copy_from_slice(&self.time_ms.to_le_bytes());
        out[32..48].copy_from_slice(&self.id.to_le_bytes());
        out[48..52].copy_from_slice(&self.unsynced.to_le_bytes());
        let crc = crc32fast::hash(&out[..52]);
        out[52..56].copy_from_slice(&crc.to_le_bytes());
    }

    /// Returns the offset behind the last record.
    pub(crate) fn end(&self) -> u64 {
        self.offset + u64::from(self.count)
    }

    /// Returns the bytes of the whole frame.
    pub(crate) fn frame_bytes(&self) -> usize {
        HEADER_BYTES + self.body
    }

    /// Returns the id of the last record.
    pub(crate) fn last_id(&self) -> u128 {
        self.id + u128::from(self.count.saturating_sub(1))
    }
}

/// Frame with its offset in the log.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) head: Head,
    /// Header and body.
    pub(crate) bytes: Bytes,
}

impl Frame {
    /// Decodes and verifies the frame at the beginning of `bytes`; `None` when there is no complete one.
    pub(crate) fn read(bytes: &Bytes) -> Option<Self> {
        let head = Head::read(bytes)?;
        let end = HEADER_BYTES.checked_add(head.body)?;
        let body = bytes.get(HEADER_BYTES..end)?;
        (crc32fast::hash(body) == head.crc).then(|| Self { head, bytes: bytes.slice(..end) })
    }

    /// Returns its records in order, each with its offset.
    pub(crate) fn records(&self) -> Records<'_> {
        Records { head: self.head, left: self.head.count, rest: &self.bytes[HEADER_BYTES..] }
    }

    /// Returns a slice of the frame that one of its records borrowed, without copying.
    pub(crate) fn share(&self, part: &[u8]) -> Bytes {
        self.bytes.slice_ref(part)
    }
}

/// Record with its offset.
#[derive(Clone, Debug)]
pub(crate) struct Placed<'a> {
    pub(crate) offset: u64,
    /// Time of the record, or else of the frame.
    pub(crate) time_ms: i64,
    /// Generated id, used when the record has none of its own.
    pub(crate) made_id: u128,
    pub(crate) record: Record<'a>,
}

/// Iterator over the records of a frame.
#[derive(Debug)]
pub(crate) struct Records<'a> {
    head: Head,
    left: u32,
    rest: &'a [u8],
}

impl<'a> Iterator for Records<'a> {
    type Item = Placed<'a>;

    fn next(&mut self) -> Option<Placed<'a>> {
        self.left = self.left.checked_sub(1)?;
        let index = u64::from(self.head.count - 1 - self.left);
        let record = take_record(&mut self.rest, self.head.time_ms)?;
        Some(Placed {
            offset: self.head.offset + index,
            time_ms: record.time_ms.unwrap_or(self.head.time_ms),
            made_id: self.head.id.wrapping_add(u128::from(index)),
            record,
        })
    }
}

fn take_record<'a>(rest: &mut &'a [u8], time_ms: i64) -> Option<Record<'a>> {
    let length = usize::try_from(take_varint(rest)?).ok()?;
    let (attributes, tail) = rest.split_first()?;
    *rest = tail;
    let has = |flag: u8| attributes & flag != 0;
    let mut record = Record { is_null: has(NULL), ..Record::default() };
    if has(KEY) {
        record.key = Some(take_bytes(rest)?);
    }
    if has(ID) {
        record.id = Some(take_bytes(rest)?);
    }
    if has(PARTITION) {
        record.partition = Some(u32::try_from(take_varint(rest)?).ok()?);
    }
    if has(HEADERS) {
        for _ in 0..take_varint(rest)? {
            let name = std::str::from_utf8(take_bytes(rest)?).ok()?;
            record.headers.push((name, Some(take_bytes(rest)?)));
        }
    }
    if has(TIME) {
        let zigzag = take_varint(rest)?;
        let after = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        record.time_ms = Some(time_ms.wrapping_add(after));
    }
    if has(NULL_HEADERS) {
        for _ in 0..take_varint(rest)? {
            let index = usize::try_from(take_varint(rest)?).ok()?;
            record.headers.get_mut(index)?.1 = None;
        }
    }
    let (value, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    record.value = value;
    Some(record)
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

fn put_varint(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(take_varint(rest)?).ok()?;
    let (bytes, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(bytes)
}

fn take_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut n = 0_u64;
    for shift in (0..64).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        n |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(n);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{Frame, FrameBuilder, Record};

    #[test]
    fn round_trip_and_damage() {
        let mut builder = FrameBuilder::new(1_000, 100);
        builder.push_plain(b"{}");
        let record = Record {
            value: br#"{"a":1}"#,
            is_null: false,
            key: Some(b"k"),
            id: Some(b"id"),
            partition: Some(300),
            headers: vec![("h", Some(b"v")), ("", Some(b"")), ("n", None), ("h", None)],
            time_ms: Some(-5),
        };
        builder.push(&record);
        assert_eq!(builder.count(), 2);
        let frame = builder.seal().at(7, 9);
        let read = Frame::read(&frame.bytes).expect("a frame");
        assert_eq!((read.head, read.head.end()), (frame.head, 9));
        let records: Vec<_> = read.records().collect();
        assert_eq!((records[0].offset, records[0].time_ms, records[0].record.value), (7, 1_000, &b"{}"[..]));
        assert_eq!((records[1].offset, records[1].made_id, &records[1].record), (8, 10, &record));
        for at in 0..frame.bytes.len() {
            let mut bytes = frame.bytes.to_vec();
            bytes[at] ^= 1;
            assert!(Frame::read(&Bytes::from(bytes)).is_none(), "{at}");
            assert!(Frame::read(&frame.bytes.slice(..at)).is_none(), "{at}");
        }
    }
}
