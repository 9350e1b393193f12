//! Avro object containers.

mod expansion;

use std::io::{BufRead, Read};
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use arrow_avro::reader::{Reader, ReaderBuilder};
use salver_model::Result;
use salver_model::limits::{AVRO_HEADER_BYTES_MAX, AVRO_HEADER_ENTRIES_MAX, AVRO_TYPES_MAX};

use super::{Input, Sink, Stop, damaged, io_error, renamed};
use crate::decompress;

const BATCH_ROWS: usize = 16_384;

pub(super) fn schema(input: &Input) -> Result<Schema> {
    Ok(texts_of_uuids(open(input)?.schema().as_ref()))
}

/// Passes the rows to `sink`.
pub(super) fn read(input: &Input, sink: Sink<'_>) -> Result<(), Stop> {
    // The reader takes a truncated block for the end of the file.
    Frames::check(input)?;
    for batch in open(input)? {
        let batch =
            batch.and_then(|batch| renamed(&batch)).map_err(|cause| damaged(input, &cause).with_source(cause))?;
        sink(with_uuids(batch).map_err(|cause| damaged(input, &cause).with_source(cause))?)?;
    }
    Ok(())
}

/// Returns whether the column contains UUIDs, which are text in Avro and bytes in Arrow.
fn is_uuid(field: &Field) -> bool {
    let said = |key: &str, value: &str| field.metadata().get(key).is_some_and(|found| found == value);
    *field.data_type() == DataType::FixedSizeBinary(16)
        && (said("logicalType", "uuid") || said("ARROW:extension:name", "arrow.uuid"))
}

fn texts_of_uuids(schema: &Schema) -> Schema {
    let text = |field: &Arc<Field>| match is_uuid(field) {
        true => Field::new(field.name(), DataType::Utf8, field.is_nullable()),
        false => field.as_ref().clone(),
    };
    Schema::new(schema.fields().iter().map(text).collect::<Vec<_>>())
}

/// Formats UUIDs as text: `67e55044-10b1-426f-9247-bb680e5fe0c8`.
fn with_uuids(batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = batch.schema();
    if !schema.fields().iter().any(|field| is_uuid(field)) {
        return Ok(batch);
    }
    let text = |(field, column): (&Arc<Field>, &ArrayRef)| match column.as_fixed_size_binary_opt() {
        Some(bytes) if is_uuid(field) => Arc::new(bytes.iter().map(|id| id.map(uuid_text)).collect::<StringArray>()),
        _ => ArrayRef::clone(column),
    };
    let columns: Vec<ArrayRef> = schema.fields().iter().zip(batch.columns()).map(text).collect();
    RecordBatch::try_new(Arc::new(texts_of_uuids(&schema)), columns)
}

fn uuid_text(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn open(input: &Input) -> Result<Reader<Box<dyn BufRead + Send>>> {
    if expansion::are_too_many(&Frames::schema(input)?) {
        let why = format!("the types of its schema have more than {AVRO_TYPES_MAX} parts, all names written out");
        return Err(damaged(input, why));
    }
    let file = decompress::open(&input.path).map_err(|cause| io_error(input, cause))?;
    ReaderBuilder::new()
        .with_batch_size(BATCH_ROWS)
        .build(file)
        .map_err(|cause| damaged(input, &cause).with_source(cause))
}

/// Iterates over the blocks of a container without decoding them.
struct Frames<'a> {
    input: &'a Input,
    reader: Box<dyn BufRead + Send>,
}

impl<'a> Frames<'a> {
    fn begin(input: &'a Input) -> Result<Self> {
        let reader = decompress::open(&input.path).map_err(|cause| io_error(input, cause))?;
        let mut frames = Self { input, reader };
        if frames.bytes::<4>()? != *b"Obj\x01" {
            return Err(damaged(input, "it does not begin as an Avro container"));
        }
        Ok(frames)
    }

    /// Returns the text of the schema.
    fn schema(input: &'a Input) -> Result<Vec<u8>> {
        Self::begin(input)?.metadata()
    }

    fn check(input: &'a Input) -> Result<()> {
        let mut frames = Self::begin(input)?;
        frames.metadata()?;
        let sync = frames.bytes::<16>()?;
        loop {
            let is_end = frames.reader.fill_buf().map_err(|cause| io_error(input, cause))?.is_empty();
            if is_end {
                return Ok(());
            }
            let rows = frames.number()?;
            let bytes = frames.number()?;
            if rows < 0 || bytes < 0 {
                return Err(damaged(input, "a block has a negative size"));
            }
            frames.skip(bytes)?;
            if frames.bytes::<16>()? != sync {
                return Err(damaged(input, "a block does not end where it should"));
            }
        }
    }

    /// Reads the metadata, and returns the schema from it.
    fn metadata(&mut self) -> Result<Vec<u8>> {
        let mut schema = Vec::new();
        loop {
            let mut entries = self.number()?;
            if entries == 0 {
                return Ok(schema);
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
                if name == b"avro.schema" {
                    schema = value;
                }
            }
        }
    }

    fn entry(&mut self) -> Result<Vec<u8>> {
        let bytes = self.number()?;
        if !(0..=AVRO_HEADER_BYTES_MAX).contains(&bytes) {
            return Err(damaged(self.input, "its header is too long"));
        }
        let wanted = u64::try_from(bytes).unwrap_or(0);
        let mut entry = Vec::new();
        let read = (&mut self.reader).take(wanted).read_to_end(&mut entry).map_err(|cause| self.cut(cause))?;
        if read as u64 == wanted { Ok(entry) } else { Err(damaged(self.input, "it ends in its header")) }
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

    fn skip(&mut self, bytes: i64) -> Result<()> {
        let wanted = u64::try_from(bytes).unwrap_or(0);
        let skipped = std::io::copy(&mut (&mut self.reader).take(wanted), &mut std::io::sink());
        match skipped {
            Ok(skipped) if skipped == wanted => Ok(()),
            Ok(_) => Err(damaged(self.input, "it ends in the middle of a block")),
            Err(cause) => Err(self.cut(cause)),
        }
    }

    fn cut(&self, cause: std::io::Error) -> salver_model::Error {
        if cause.kind() == std::io::ErrorKind::UnexpectedEof {
            return damaged(self.input, "it ends in the middle of a block");
        }
        io_error(self.input, cause)
    }
}
