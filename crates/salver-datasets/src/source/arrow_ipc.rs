//! Arrow IPC, file and stream. A file is a stream with a magic in front and an index behind; reading it as a stream
//! needs no trust in the index.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::Schema;
use arrow::ipc::reader::StreamDecoder;
use salver_model::Result;
use salver_model::spec::SourceFormat;

use super::{Input, Sink, Stop, damaged, io_error, renamed};
use crate::decompress;

const MAGIC: &[u8; 6] = b"ARROW1";
const PIECE_BYTES: u64 = 1024 * 1024;

pub(super) fn schema(input: &Input) -> Result<Schema> {
    let mut stream = Stream::open(input)?;
    while stream.decoder.schema().is_none() {
        if stream.step()?.is_none() {
            return Err(damaged(input, "it ends before its schema"));
        }
    }
    stream.decoder.schema().map(|schema| schema.as_ref().clone()).ok_or_else(|| damaged(input, "it has no schema"))
}

/// Gives the rows to `sink`.
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
        // Both formats go by either name often enough.
        let is_file =
            head.starts_with(MAGIC) || input.format == SourceFormat::ArrowFile && !head.starts_with(&[0xff; 4]);
        let reader: Box<dyn Read> = if is_file {
            Box::new(stream_of_file(input)?)
        } else {
            Box::new(decompress::open(&input.path).map_err(failed)?)
        };
        Ok(Self { input, reader, decoder: StreamDecoder::new(), piece: Buffer::from_vec(Vec::<u8>::new()) })
    }

    /// Goes on by one batch or one piece of the file; the outer `None` is the end.
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

fn stream_of_file(input: &Input) -> Result<impl Read + use<>> {
    let failed = |cause| io_error(input, cause);
    let mut file = File::open(&input.path).map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    let mut head = [0; 8];
    let mut tail = [0; 10];
    if bytes < 18 {
        return Err(damaged(input, "it is too short"));
    }
    file.read_exact(&mut head).map_err(failed)?;
    file.seek(SeekFrom::End(-10)).and_then(|_| file.read_exact(&mut tail)).map_err(failed)?;
    if !head.starts_with(MAGIC) {
        return Err(damaged(input, "it does not begin as an Arrow file"));
    }
    if &tail[4..] != MAGIC {
        return Err(damaged(input, "its end is missing"));
    }
    let footer_bytes = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    // The magic is padded to 8 bytes, or to as many as the writer aligns to; no stream begins with zeros.
    let mut start = 0;
    let mut word = head;
    while word == [0; 8] || start == 0 {
        start += 8;
        file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut word)).map_err(failed)?;
    }
    let stream_bytes = bytes
        .checked_sub(10 + start + footer_bytes)
        .ok_or_else(|| damaged(input, "its footer is longer than the file"))?;
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    Ok(file.take(stream_bytes))
}
