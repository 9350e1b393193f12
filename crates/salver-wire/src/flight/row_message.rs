//! One message of rows: a `FlightData` of Arrow Flight (`Flight.proto`) behind gRPC's prefix, in pieces that refer to
//! the buffers of the rows.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::buffer::Buffer;
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::ipc::root_as_message;
use arrow::ipc::writer::StreamEncoder;
use arrow_flight::FlightData;
use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};

/// Number of the field of `FlightData` with the rows.
const DATA_BODY: u32 = 1000;
/// Length of what comes before each message of gRPC: whether it is compressed, and its length.
const PREFIX_BYTES: usize = 5;
/// Length of what comes before each message of Arrow's stream: a marker, and the length of the metadata.
const CONTINUATION_BYTES: usize = 8;
/// Size below which a buffer is copied beside its neighbours: a frame of its own costs more.
const SMALL_BYTES: usize = 2048;

/// A message, ready to be sent.
#[derive(Debug)]
pub(super) struct RowMessage {
    pieces: Vec<Bytes>,
    bytes: u64,
}

impl RowMessage {
    /// Returns the message of this metadata and body.
    fn new(metadata: &[u8], body: Vec<Buffer>) -> Result<Self, ArrowError> {
        let rows: usize = body.iter().map(Buffer::len).sum();
        let data = FlightData { data_header: Bytes::copy_from_slice(metadata), ..FlightData::default() };
        let mut head = Vec::with_capacity(PREFIX_BYTES + data.encoded_len() + 16);
        head.resize(PREFIX_BYTES, 0);
        data.encode_raw(&mut head);
        if rows > 0 {
            // The fields of a message may come in any order; prost has this one last, too.
            encode_key(DATA_BODY, WireType::LengthDelimited, &mut head);
            encode_varint(rows as u64, &mut head);
        }
        let bytes = head.len() - PREFIX_BYTES + rows;
        let prefix = u32::try_from(bytes)
            .map_err(|_| ArrowError::IpcError("a row of more than 4 GiB can't be a message".to_owned()))?;
        (&mut head[1..PREFIX_BYTES]).put_u32(prefix);
        Ok(Self { pieces: joined(head, body), bytes: bytes as u64 })
    }

    /// Returns its length in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns its pieces, in their order.
    pub(super) fn pieces(self) -> impl Iterator<Item = Bytes> {
        self.pieces.into_iter()
    }
}

/// A buffer of rows as the owner of bytes.
struct Rows(Buffer);

impl AsRef<[u8]> for Rows {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Returns the pieces of a message: small buffers together, large ones as they are.
fn joined(head: Vec<u8>, body: Vec<Buffer>) -> Vec<Bytes> {
    let (mut pieces, mut small) = (Vec::new(), BytesMut::from(head.as_slice()));
    for buffer in body {
        if buffer.len() < SMALL_BYTES {
            small.extend_from_slice(&buffer);
            continue;
        }
        if !small.is_empty() {
            pieces.push(small.split().freeze());
        }
        pieces.push(Bytes::from_owner(Rows(buffer)));
    }
    if !small.is_empty() {
        pieces.push(small.freeze());
    }
    pieces
}

/// Encodes batches as messages.
pub(super) struct MessageEncoder {
    encoder: StreamEncoder,
}

impl MessageEncoder {
    /// Creates an encoder for batches with this schema, which has no dictionaries; returns it with the message of the
    /// schema, which comes first.
    pub(super) fn new(schema: &SchemaRef) -> Result<(Self, RowMessage), ArrowError> {
        let mut encoder = StreamEncoder::try_new(schema)?;
        // The schema comes with the first batch, which is of no use here.
        let first = encoder.encode(&RecordBatch::new_empty(Arc::clone(schema)))?;
        let first = messages(first)?.into_iter().next().ok_or_else(unknown)?;
        Ok((Self { encoder }, first))
    }

    /// Returns the message of a batch.
    pub(super) fn encode(&mut self, batch: &RecordBatch) -> Result<RowMessage, ArrowError> {
        let mut messages = messages(self.encoder.encode(batch)?)?;
        messages.pop().filter(|_| messages.is_empty()).ok_or_else(unknown)
    }
}

/// Takes a piece of Arrow's stream apart into its messages.
fn messages(buffers: Vec<Buffer>) -> Result<Vec<RowMessage>, ArrowError> {
    let mut buffers = buffers.into_iter().peekable();
    let mut messages = Vec::new();
    while let Some(continuation) = buffers.next() {
        let length = continuation.as_slice().get(4..CONTINUATION_BYTES).and_then(|length| length.try_into().ok());
        let mut padded = length.map(u32::from_le_bytes).ok_or_else(unknown)? as usize;
        if padded == 0 {
            break;
        }
        let metadata = buffers.next().ok_or_else(unknown)?;
        padded = padded.checked_sub(metadata.len()).ok_or_else(unknown)?;
        if padded > 0 && buffers.next().is_none_or(|padding| padding.len() != padded) {
            return Err(unknown());
        }
        let about = root_as_message(&metadata).map_err(|cause| ArrowError::IpcError(cause.to_string()))?;
        let (mut body, mut left) = (Vec::new(), usize::try_from(about.bodyLength()).map_err(|_| unknown())?);
        while left > 0 {
            let buffer = buffers.next().ok_or_else(unknown)?;
            left = left.checked_sub(buffer.len()).ok_or_else(unknown)?;
            body.push(buffer);
        }
        // Buffers without bytes may follow.
        while buffers.next_if(Buffer::is_empty).is_some() {}
        messages.push(RowMessage::new(&metadata, body)?);
    }
    Ok(messages)
}

fn unknown() -> ArrowError {
    ArrowError::IpcError("rows were encoded in an unknown way".to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{
        ArrayRef, BooleanArray, Int64Array, ListArray, NullArray, RecordBatch, StringArray, StructArray,
    };
    use arrow::datatypes::Int32Type;
    use arrow_flight::FlightData;
    use arrow_flight::decode::FlightRecordBatchStream;
    use futures::{TryStreamExt, stream};
    use prost::Message;

    use super::{MessageEncoder, PREFIX_BYTES, RowMessage};

    /// Reads a message as prost does.
    fn read(message: RowMessage) -> FlightData {
        let bytes = message.bytes();
        let whole = message.pieces().collect::<Vec<_>>().concat();
        let length = u32::from_be_bytes(whole[1..PREFIX_BYTES].try_into().unwrap());
        assert_eq!((whole[0], length as usize, u64::from(length)), (0, whole.len() - PREFIX_BYTES, bytes));
        FlightData::decode(&whole[PREFIX_BYTES..]).unwrap()
    }

    fn batch(rows: usize) -> RecordBatch {
        let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values((0..rows as i64).map(|row| row * 3)));
        let nulls = (0..rows).map(|row| (row % 3 > 0).then(|| "x".repeat(row % 50)));
        let texts: ArrayRef = Arc::new(StringArray::from_iter(nulls));
        let flags: ArrayRef = Arc::new(BooleanArray::from_iter((0..rows).map(|row| Some(row % 7 == 1))));
        let lists = (0..rows).map(|row| (row % 5 > 0).then(|| (0..row as i32 % 4).map(Some)));
        let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists));
        let nothing: ArrayRef = Arc::new(NullArray::new(rows));
        let parts: ArrayRef = Arc::new(StructArray::try_from(vec![("n", Arc::clone(&numbers))]).unwrap());
        RecordBatch::try_from_iter([
            ("n", numbers),
            ("t", texts),
            ("b", flags),
            ("l", lists),
            ("z", nothing),
            ("s", parts),
        ])
        .unwrap()
    }

    #[tokio::test]
    async fn clients_read_what_was_encoded() {
        for (rows, slices) in [(0, 1), (1, 1), (1_000, 7), (20_000, 3)] {
            let whole = batch(rows);
            let (mut encoder, first) = MessageEncoder::new(&whole.schema()).unwrap();
            let (mut data, step) = (vec![read(first)], rows.div_ceil(slices).max(1));
            for from in (0..rows.max(1)).step_by(step) {
                let slice = whole.slice(from, step.min(rows - from));
                data.push(read(encoder.encode(&slice).unwrap()));
            }
            let read = FlightRecordBatchStream::new_from_flight_data(stream::iter(data.into_iter().map(Ok)));
            let read: Vec<RecordBatch> = read.try_collect().await.unwrap();
            assert_eq!(arrow::compute::concat_batches(&whole.schema(), &read).unwrap(), whole);
        }
    }
}
