//! Validates a stream of Arrow that a client sent, so that its readers can trust it.
//!
//! Readers of Arrow trust the lengths in a stream, and allocate memory for them. So the frames are walked first
//! (<https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc>) to check the
//! claimed lengths against the actual ones. Then every value is read once by a reader that validates offsets and text,
//! and written again in the one form that all readers support.

mod expanded_size;

use arrow::array::RecordBatch as Rows;
use arrow::buffer::Buffer;
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;
use arrow::ipc::writer::StreamWriter;
use arrow::ipc::{Endianness, Message, RecordBatch, root_as_message};
use salver_model::limits::{RECEIVED_BARE_VALUES_MAX, RECEIVED_SPREAD_MAX, RECEIVED_VALUES_PER_BYTE_MAX};
use salver_model::{Code, Error, Result, panics};

/// Marker before the length of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Validates a stream whose batches have at most `bytes_max` bytes, decompressed, and writes it anew.
///
/// # Errors
/// `InvalidBody` if it is damaged or has a column of a type whose values may overlap, `BodyTooLarge` if it decompresses
/// to more.
pub fn receive_arrow_stream(bytes: &[u8], bytes_max: u64) -> Result<Vec<u8>> {
    let mut claimed = Claimed::default();
    let mut rest = bytes;
    while let Some(frame) = IpcMessage::first_of(rest)? {
        match (batch_of(&frame.message), frame.message.header_as_schema()) {
            (Some(batch), _) => claimed.add(&batch, frame.body)?,
            (None, Some(schema)) if schema.endianness() == Endianness::Little => {}
            (None, Some(_)) => return Err(damaged("its numbers have their highest byte first")),
            (None, None) => return Err(damaged("one of its messages is neither a schema nor rows")),
        }
        rest = frame.after;
    }
    if claimed.bytes > bytes_max {
        return Err(too_large(claimed.bytes, bytes_max, "when unpacked"));
    }
    if claimed.values
        > claimed.bytes.saturating_mul(RECEIVED_VALUES_PER_BYTE_MAX).saturating_add(RECEIVED_BARE_VALUES_MAX)
    {
        return Err(damaged(format!("it tells of {} values, and has {} bytes", claimed.values, claimed.bytes)));
    }
    // The reader panics on some invalid streams.
    panics::caught(|| rewrite(bytes, bytes_max)).unwrap_or_else(|| Err(damaged("its values can't be")))
}

/// Returns how many rows a stream says it has, as far as it can be read.
#[must_use]
pub fn arrow_stream_rows(bytes: &[u8]) -> u64 {
    let (mut rest, mut rows) = (bytes, 0_u64);
    while let Ok(Some(frame)) = IpcMessage::first_of(rest) {
        let length = frame.message.header_as_record_batch().map_or(0, |batch| batch.length());
        rows = rows.saturating_add(u64::try_from(length).unwrap_or(0));
        rest = frame.after;
    }
    rows
}

fn rewrite(bytes: &[u8], bytes_max: u64) -> Result<Vec<u8>> {
    let (mut decoder, mut rest) = (StreamDecoder::new(), Buffer::from(bytes));
    let mut batches: Vec<Rows> = Vec::new();
    while !rest.is_empty() {
        batches.extend(decoder.decode(&mut rest).map_err(damaged)?);
    }
    decoder.finish().map_err(damaged)?;
    let schema = decoder.schema().ok_or_else(|| damaged("it has no schema"))?;
    if let Some(field) = schema.fields().iter().find(|field| expanded_size::is_shared(field.data_type())) {
        let (name, data_type) = (field.name(), field.data_type());
        return Err(damaged(format!("columns of the type of `{name}` are not taken, which is {data_type}"))
            .with_hint("send lists, texts or structures instead"));
    }
    let spread = batches.iter().flat_map(Rows::columns).map(expanded_size::bytes).fold(0, u64::saturating_add);
    if spread > bytes_max.saturating_mul(RECEIVED_SPREAD_MAX) {
        return Err(too_large(
            spread,
            bytes_max.saturating_mul(RECEIVED_SPREAD_MAX),
            "when each of its values is written out",
        ));
    }
    let write = || -> Result<Vec<u8>, ArrowError> {
        let mut writer = StreamWriter::try_new(Vec::with_capacity(bytes.len()), &schema)?;
        batches.iter().try_for_each(|batch| writer.write(batch))?;
        writer.into_inner()
    };
    write().map_err(damaged)
}

fn too_large(bytes: u64, bytes_max: u64, when: &str) -> Error {
    Error::new(Code::BodyTooLarge, format!("it has {bytes} bytes {when}"))
        .with_hint(format!("{bytes_max} are allowed; `limits.body_bytes_max` is the limit"))
}

/// The sizes that the batches of a stream claim.
#[derive(Default)]
struct Claimed {
    /// Bytes of their buffers, decompressed.
    bytes: u64,
    /// Values of their columns, including nested ones.
    values: u64,
}

impl Claimed {
    fn add(&mut self, batch: &RecordBatch<'_>, body: &[u8]) -> Result<()> {
        let lengths = batch.nodes().into_iter().flatten().map(|node| node.length());
        for length in lengths.chain([batch.length()]) {
            let length = u64::try_from(length).map_err(|_| damaged("it tells of less than no values"))?;
            self.values = self.values.saturating_add(length);
        }
        for buffer in batch.buffers().into_iter().flatten() {
            let (start, len) = (usize::try_from(buffer.offset()), usize::try_from(buffer.length()));
            let (Ok(start), Ok(len)) = (start, len) else { return Err(damaged("it tells of places that can't be")) };
            let held = start.checked_add(len).and_then(|end| body.get(start..end));
            let held = held.ok_or_else(|| damaged("it tells of bytes behind its end"))?;
            // A compressed buffer begins with its decompressed length, or with -1 if it is stored uncompressed.
            let unpacked = match held.first_chunk::<8>().filter(|_| batch.compression().is_some()) {
                Some(prefix) => match i64::from_le_bytes(*prefix) {
                    -1 => len as u64,
                    length => u64::try_from(length).map_err(|_| damaged("it tells of less than no bytes"))?,
                },
                None => len as u64,
            };
            self.bytes = self.bytes.saturating_add(unpacked);
        }
        Ok(())
    }
}

/// A message of the stream.
struct IpcMessage<'a> {
    message: Message<'a>,
    body: &'a [u8],
    /// The bytes after it.
    after: &'a [u8],
}

impl<'a> IpcMessage<'a> {
    /// Returns the first message; `None` at the end.
    fn first_of(bytes: &'a [u8]) -> Result<Option<Self>> {
        let bytes = bytes.strip_prefix(&CONTINUATION).unwrap_or(bytes);
        if bytes.is_empty() {
            return Ok(None);
        }
        let (length, bytes) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
        let length = u32::from_le_bytes(*length) as usize;
        if length == 0 {
            return Ok(None);
        }
        let (message, bytes) = bytes.split_at_checked(length).ok_or_else(cut)?;
        let message = root_as_message(message).map_err(damaged)?;
        let length = usize::try_from(message.bodyLength()).map_err(|_| damaged("it tells of less than no bytes"))?;
        let (body, after) = bytes.split_at_checked(length).ok_or_else(cut)?;
        Ok(Some(Self { message, body, after }))
    }
}

fn batch_of<'a>(message: &Message<'a>) -> Option<RecordBatch<'a>> {
    message.header_as_record_batch().or_else(|| message.header_as_dictionary_batch()?.data())
}

fn cut() -> Error {
    damaged("it is cut off")
}

fn damaged(what: impl std::fmt::Display) -> Error {
    Error::new(Code::InvalidBody, format!("it can't be read as an Arrow stream: {what}"))
}
