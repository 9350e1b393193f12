//! Writes an archive (APPNOTE.TXT of PKWARE) part by part as a stream: sizes and checksums follow each part, so that
//! nothing is written twice and nothing is held but what the compressor needs.

use flate2::{Compress, Compression, FlushCompress, Status};
use salver_model::{Error, Result};

/// Bytes that are compressed at a time. Constant, because the compressed bytes may depend on it.
const PIECE_BYTES: usize = 32 * 1024;
/// Sizes and checksum follow the part.
const FLAGS: u16 = 1 << 3;
const DEFLATE: u16 = 8;
/// The version of the format that has what is used of it: 2.0.
const VERSION: u16 = 20;
/// 1980-01-01, the first date there is: equal rows give equal bytes.
const DATE: u16 = 0x21;

/// A part of the archive that is complete, or being written.
struct Part {
    name: &'static str,
    start: u64,
    sum: flate2::Crc,
    packed_bytes: u64,
}

/// Writes one archive. The parts have less than 4 GB together.
pub(super) struct ArchiveWriter {
    parts: Vec<Part>,
    packer: Compress,
    /// Bytes that wait to be compressed.
    pending: Vec<u8>,
    /// Bytes that were written.
    at: u64,
}

impl ArchiveWriter {
    pub(super) fn new() -> Self {
        Self { parts: Vec::new(), packer: Compress::new(Compression::fast(), false), pending: Vec::new(), at: 0 }
    }

    /// Returns the bytes of the current part so far, compressed or not.
    pub(super) fn part_bytes(&self) -> u64 {
        self.packer.total_in() + self.pending.len() as u64
    }

    /// Begins a part.
    pub(super) fn begin(&mut self, name: &'static str, out: &mut Vec<u8>) {
        self.packer.reset();
        self.parts.push(Part { name, start: self.at, sum: flate2::Crc::new(), packed_bytes: 0 });
        let begin = out.len();
        number(out, 0x0403_4b50_u32.to_le_bytes());
        for field in [VERSION, FLAGS, DEFLATE, 0, DATE] {
            number(out, field.to_le_bytes());
        }
        number(out, [0; 12]);
        number(out, short(name.len()).to_le_bytes());
        number(out, [0; 2]);
        out.extend_from_slice(name.as_bytes());
        self.at += (out.len() - begin) as u64;
    }

    /// Returns the buffer for the next bytes of the part; [`Self::pack`] must be called now and then.
    pub(super) fn content(&mut self) -> &mut Vec<u8> {
        &mut self.pending
    }

    /// Compresses what there is of full pieces.
    pub(super) fn pack(&mut self, out: &mut Vec<u8>) -> Result<()> {
        if self.pending.len() < PIECE_BYTES {
            return Ok(());
        }
        let full = self.pending.len() / PIECE_BYTES * PIECE_BYTES;
        let mut done = 0;
        while done < full {
            self.compress(done..done + PIECE_BYTES, FlushCompress::None, out)?;
            done += PIECE_BYTES;
        }
        self.pending.drain(..full);
        Ok(())
    }

    /// Ends the part.
    pub(super) fn end(&mut self, out: &mut Vec<u8>) -> Result<()> {
        self.pack(out)?;
        self.compress(0..self.pending.len(), FlushCompress::Finish, out)?;
        self.pending.clear();
        if let Some(part) = self.parts.last() {
            number(out, 0x0807_4b50_u32.to_le_bytes());
            number(out, part.sum.sum().to_le_bytes());
            number(out, small(part.packed_bytes)?.to_le_bytes());
            number(out, small(self.packer.total_in())?.to_le_bytes());
            self.at += 16;
        }
        Ok(())
    }

    /// Writes the directory, which ends the archive.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) -> Result<()> {
        let (start, begin) = (self.at, out.len());
        for part in &self.parts {
            number(out, 0x0201_4b50_u32.to_le_bytes());
            for field in [VERSION, VERSION, FLAGS, DEFLATE, 0, DATE] {
                number(out, field.to_le_bytes());
            }
            number(out, part.sum.sum().to_le_bytes());
            number(out, small(part.packed_bytes)?.to_le_bytes());
            number(out, part.sum.amount().to_le_bytes());
            number(out, short(part.name.len()).to_le_bytes());
            // Neither extra fields nor a comment, the first disk, no attributes.
            number(out, [0; 12]);
            number(out, small(part.start)?.to_le_bytes());
            out.extend_from_slice(part.name.as_bytes());
        }
        let bytes = (out.len() - begin) as u64;
        number(out, 0x0605_4b50_u32.to_le_bytes());
        number(out, [0; 4]);
        number(out, short(self.parts.len()).to_le_bytes());
        number(out, short(self.parts.len()).to_le_bytes());
        number(out, small(bytes)?.to_le_bytes());
        number(out, small(start)?.to_le_bytes());
        number(out, [0; 2]);
        Ok(())
    }

    /// Compresses a range of the pending bytes, with room for all that may come of it: the compressor would otherwise
    /// be called again, and the bytes would depend on the size of the buffer.
    fn compress(&mut self, range: std::ops::Range<usize>, flush: FlushCompress, out: &mut Vec<u8>) -> Result<()> {
        let Some(part) = self.parts.last_mut() else { return Err(Error::internal("a workbook has no part to write")) };
        let begin = out.len();
        let mut input = &self.pending[range];
        part.sum.update(input);
        loop {
            out.reserve(2 * PIECE_BYTES);
            let before = self.packer.total_in();
            let status = self
                .packer
                .compress_vec(input, out, flush)
                .map_err(|cause| Error::internal("the compressor of a workbook broke down").with_source(cause))?;
            let taken = usize::try_from(self.packer.total_in() - before).unwrap_or(input.len());
            input = input.get(taken..).unwrap_or_default();
            let is_done = match flush {
                FlushCompress::Finish => status == Status::StreamEnd,
                _ => input.is_empty(),
            };
            if is_done {
                break;
            }
        }
        let bytes = (out.len() - begin) as u64;
        part.packed_bytes += bytes;
        self.at += bytes;
        Ok(())
    }
}

fn number<const N: usize>(out: &mut Vec<u8>, bytes: [u8; N]) {
    out.extend_from_slice(&bytes);
}

/// Lengths of names and numbers of parts, which this crate chooses.
fn short(value: usize) -> u16 {
    u16::try_from(value).unwrap_or(u16::MAX)
}

fn small(value: u64) -> Result<u32> {
    u32::try_from(value).map_err(|_| Error::internal("a workbook has more than 4 GB"))
}
