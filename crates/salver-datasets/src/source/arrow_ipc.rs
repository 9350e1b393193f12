//! Arrow IPC files and streams. A file is a stream between a magic number and a footer with an index; it is read as a
//! stream, so that the index need not be trusted.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::Schema;
use arrow::ipc::Endianness;
use arrow::ipc::convert::fb_to_schema;
use arrow::ipc::reader::StreamDecoder;
use salver_model::Result;
use salver_model::limits::ARROW_FOOTER_BYTES_MAX;
use salver_model::spec::SourceFormat;

use super::{Input, Sink, Stop, damaged, io_error, renamed};
use crate::decompress;

const MAGIC: &[u8; 6] = b"ARROW1";
const PIECE_BYTES: u64 = 1024 * 1024;
/// Length of a message's prefix in a stream: the continuation marker and the length.
const PREFIX_BYTES: u64 = 8;
/// Length of the end of a file: the footer's length and the magic number.
const TAIL_BYTES: usize = 10;

pub(super) fn schema(input: &Input) -> Result<Schema> {
    let mut stream = Stream::open(input)?;
    while stream.decoder.schema().is_none() {
        if stream.step()?.is_none() {
            return Err(damaged(input, "it ends before its schema"));
        }
    }
    stream.decoder.schema().map(|schema| schema.as_ref().clone()).ok_or_else(|| damaged(input, "it has no schema"))
}

/// Returns the columns from a file's footer; `None` for a stream, or if the footer can't be read.
pub(super) fn footer(input: &Input) -> Result<Option<Schema>> {
    let failed = |cause| io_error(input, cause);
    let mut file = File::open(&input.path).map_err(failed)?;
    if !decompress::head(&input.path).map_err(failed)?.starts_with(MAGIC) {
        return Ok(None);
    }
    let end = file.metadata().map_err(failed)?.len().saturating_sub(TAIL_BYTES as u64);
    let mut tail = [0; TAIL_BYTES];
    file.seek(SeekFrom::Start(end)).and_then(|_| file.read_exact(&mut tail)).map_err(failed)?;
    let bytes = footer_bytes(&tail);
    if &tail[4..] != MAGIC || bytes > end.min(ARROW_FOOTER_BYTES_MAX) {
        return Ok(None);
    }
    let mut footer = Vec::new();
    file.seek(SeekFrom::Start(end - bytes)).map_err(failed)?;
    file.take(bytes).read_to_end(&mut footer).map_err(failed)?;
    let footer = arrow::ipc::root_as_footer(&footer).ok();
    Ok(footer.and_then(|footer| footer.schema()).map(fb_to_schema))
}

fn footer_bytes(tail: &[u8; TAIL_BYTES]) -> u64 {
    u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]))
}

/// Passes the rows to `sink`.
pub(super) fn read(input: &Input, sink: Sink<'_>) -> Result<(), Stop> {
    let mut stream = Stream::open(input)?;
    while let Some(batch) = stream.step()? {
        if let Some(batch) = batch {
            sink(renamed(&batch).map_err(|cause| damaged(input, &cause).with_source(cause))?)?;
        }
    }
    Ok(stream.decoder.finish().map_err(|cause| damaged(input, &cause).with_source(cause))?)
}

struct Stream<'a> {
    input: &'a Input,
    reader: Box<dyn Read>,
    decoder: StreamDecoder,
    piece: Buffer,
}

impl<'a> Stream<'a> {
    fn open(input: &'a Input) -> Result<Self> {
        let failed = |cause| io_error(input, cause);
        let head = decompress::head(&input.path).map_err(failed)?;
        if head.starts_with(b"FEA1") {
            return Err(damaged(input, "it is Feather version 1")
                .with_hint("write it anew as version 2, which is Arrow: pyarrow.feather.write_feather(table, path)"));
        }
        // Both formats are often named with the suffix of the other.
        let is_file =
            head.starts_with(MAGIC) || input.format == SourceFormat::ArrowFile && !head.starts_with(&[0xff; 4]);
        let mut reader: Box<dyn Read> = if is_file {
            Box::new(stream_of_file(input)?)
        } else {
            Box::new(decompress::open(&input.path).map_err(failed)?)
        };
        let begin = begin(&mut reader).map_err(failed)?;
        if is_big_endian(&begin) {
            return Err(damaged(input, "its numbers are big-endian, which are not read here").with_hint(
                "let pyarrow swap them: pyarrow.feather.write_feather(pyarrow.ipc.open_file(path).read_all(), \
                 new_path)",
            ));
        }
        let reader: Box<dyn Read> = Box::new(Cursor::new(begin).chain(reader));
        Ok(Self { input, reader, decoder: StreamDecoder::new(), piece: Buffer::from_vec(Vec::<u8>::new()) })
    }

    /// Advances by one batch or one buffer of the file; the outer `None` is the end.
    fn step(&mut self) -> Result<Option<Option<RecordBatch>>> {
        if self.piece.is_empty() {
            let mut bytes = Vec::new();
            let mut part = (&mut self.reader).take(PIECE_BYTES);
            part.read_to_end(&mut bytes).map_err(|cause| io_error(self.input, cause))?;
            if bytes.is_empty() {
                return Ok(None);
            }
            self.piece = Buffer::from_vec(bytes);
        }
        let batch = self.decoder.decode(&mut self.piece);
        batch.map(Some).map_err(|cause| damaged(self.input, &cause).with_source(cause))
    }
}

/// Reads the first message of a stream, which is its schema, including the prefix; less if it is not a stream.
fn begin(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut begin = Vec::new();
    reader.by_ref().take(PREFIX_BYTES).read_to_end(&mut begin)?;
    let (_, bytes) = prefix(&begin);
    let missing = bytes.min(ARROW_FOOTER_BYTES_MAX);
    reader.take(missing).read_to_end(&mut begin)?;
    Ok(begin)
}

/// Returns the length of a message's prefix, and how many of the message's bytes follow the first [`PREFIX_BYTES`]. The
/// length is always little-endian.
fn prefix(begin: &[u8]) -> (usize, u64) {
    let word = |at: usize| match begin.get(at..at + 4) {
        Some(&[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    };
    // Before version 0.15 there was no continuation marker.
    match word(0) {
        u32::MAX => (8, u64::from(word(4))),
        bytes => (4, u64::from(bytes).saturating_sub(4)),
    }
}

/// Returns whether the schema message of a stream declares big-endian numbers. An invalid message is left to the
/// decoder.
fn is_big_endian(begin: &[u8]) -> bool {
    let (start, _) = prefix(begin);
    let message = begin.get(start..).and_then(|bytes| arrow::ipc::root_as_message(bytes).ok());
    message.and_then(|message| message.header_as_schema()).is_some_and(|schema| schema.endianness() == Endianness::Big)
}

fn stream_of_file(input: &Input) -> Result<impl Read + use<>> {
    let failed = |cause| io_error(input, cause);
    let mut file = File::open(&input.path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    let mut head = [0; 8];
    let mut tail = [0; TAIL_BYTES];
    if bytes < 8 + TAIL_BYTES as u64 {
        return Err(damaged(input, "it is too short"));
    }
    file.read_exact(&mut head).map_err(failed)?;
    file.seek(SeekFrom::Start(bytes - TAIL_BYTES as u64)).and_then(|_| file.read_exact(&mut tail)).map_err(failed)?;
    if !head.starts_with(MAGIC) {
        return Err(damaged(input, "it does not begin as an Arrow file"));
    }
    if &tail[4..] != MAGIC {
        return Err(damaged(input, "its end is missing"));
    }
    // The magic number is padded to 8 bytes or to the writer's alignment; no stream begins with zeros.
    let mut start = 0;
    let mut word = head;
    while word == [0; 8] || start == 0 {
        start += 8;
        file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut word)).map_err(failed)?;
    }
    let stream_bytes = bytes
        .checked_sub(TAIL_BYTES as u64 + start + footer_bytes(&tail))
        .ok_or_else(|| damaged(input, "its footer is longer than the file"))?;
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    Ok(file.take(stream_bytes))
}
