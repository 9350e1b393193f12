//! The header and the blocks of an Avro file.

use std::io::{BufRead, Read};

use salver_model::Result;
use salver_model::limits::{AVRO_BLOCK_BYTES_MAX, AVRO_HEADER_BYTES_MAX, AVRO_HEADER_ENTRIES_MAX};

use super::super::{Input, damaged, io_error};
use super::codec::Codec;
use crate::decompress;

/// A file whose blocks are read one after the other.
pub(super) struct Container<'a> {
    input: &'a Input,
    reader: Box<dyn BufRead + Send>,
    /// The text of the schema.
    pub(super) schema: Vec<u8>,
    codec: Codec,
    sync: [u8; 16],
    /// How many blocks were begun.
    pub(super) blocks: u64,
}

/// The rows of a block, unpacked.
pub(super) struct Block {
    pub(super) rows: u64,
    pub(super) bytes: Vec<u8>,
}

impl<'a> Container<'a> {
    /// Opens a file and reads its header.
    pub(super) fn open(input: &'a Input) -> Result<Self> {
        let reader = decompress::open(&input.path).map_err(|cause| io_error(input, cause))?;
        let (schema, codec, sync) = (Vec::new(), Codec::None, [0; 16]);
        let mut container = Self { input, reader, schema, codec, sync, blocks: 0 };
        if container.bytes::<4>()? != *b"Obj\x01" {
            return Err(damaged(input, "it does not begin as an Avro container"));
        }
        container.metadata()?;
        container.sync = container.bytes()?;
        Ok(container)
    }

    /// Reads the next block; `None` at the end of the file.
    pub(super) fn next_block(&mut self) -> Result<Option<Block>> {
        if self.reader.fill_buf().map_err(|cause| io_error(self.input, cause))?.is_empty() {
            return Ok(None);
        }
        self.blocks += 1;
        let (rows, bytes) = (self.number()?, self.number()?);
        let (Ok(rows), Ok(bytes)) = (u64::try_from(rows), u64::try_from(bytes)) else {
            return Err(damaged(self.input, format!("block {} has a negative size", self.blocks)));
        };
        if bytes > AVRO_BLOCK_BYTES_MAX {
            let why = format!("block {} has more than {AVRO_BLOCK_BYTES_MAX} bytes", self.blocks);
            return Err(damaged(self.input, why).with_hint("write the file with smaller blocks"));
        }
        let packed = self.exactly(bytes, "it ends in the middle of a block")?;
        if self.bytes::<16>()? != self.sync {
            return Err(damaged(self.input, format!("block {} does not end where it should", self.blocks)));
        }
        let bytes = self.codec.unpacked(packed).map_err(|cause| {
            damaged(self.input, format!("block {} can't be unpacked: {cause}", self.blocks)).with_source(cause)
        })?;
        Ok(Some(Block { rows, bytes }))
    }

    fn metadata(&mut self) -> Result<()> {
        loop {
            let mut entries = self.number()?;
            if entries == 0 {
                return Ok(());
            }
            if entries < 0 {
                entries = entries.saturating_neg();
                self.number()?;
            }
            if entries > AVRO_HEADER_ENTRIES_MAX {
                return Err(damaged(self.input, "its header is too long"));
            }
            for _ in 0..entries {
                let (name, value) = (self.entry()?, self.entry()?);
                match &name[..] {
                    b"avro.schema" => self.schema = value,
                    b"avro.codec" => {
                        self.codec = Codec::of(&value).ok_or_else(|| {
                            let name = String::from_utf8_lossy(&value[..value.len().min(40)]).into_owned();
                            damaged(self.input, format!("its blocks are compressed with `{name}`"))
                                .with_hint("write it with deflate, snappy, zstandard, bzip2 or xz")
                        })?;
                    }
                    _ => {}
                }
            }
        }
    }

    fn entry(&mut self) -> Result<Vec<u8>> {
        let bytes = self.number()?;
        if !(0..=AVRO_HEADER_BYTES_MAX).contains(&bytes) {
            return Err(damaged(self.input, "its header is too long"));
        }
        self.exactly(bytes.unsigned_abs(), "it ends in its header")
    }

    /// Reads a zig-zag varint of up to ten bytes.
    fn number(&mut self) -> Result<i64> {
        let mut sum = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.bytes::<1>()?;
            sum |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok((sum >> 1).cast_signed() ^ -(sum & 1).cast_signed());
            }
        }
        Err(damaged(self.input, "a number has no end"))
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes).map_err(|cause| self.cut(cause))?;
        Ok(bytes)
    }

    /// Reads so many bytes, and takes no memory for those that the file only claims to have.
    fn exactly(&mut self, wanted: u64, why_not: &str) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(wanted).read_to_end(&mut bytes).map_err(|cause| self.cut(cause))?;
        if read as u64 == wanted { Ok(bytes) } else { Err(damaged(self.input, why_not)) }
    }

    fn cut(&self, cause: std::io::Error) -> salver_model::Error {
        if cause.kind() == std::io::ErrorKind::UnexpectedEof {
            return damaged(self.input, "it ends in the middle of a block");
        }
        io_error(self.input, cause)
    }
}
