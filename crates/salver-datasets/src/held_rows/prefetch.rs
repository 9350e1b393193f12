//! Decodes on blocking threads, one batch ahead of the reader.

use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::{StreamExt, stream};
use salver_model::Result;
use salver_model::reply::BatchStream;

use super::decode::Decoder;
use crate::engine::{Engine, Started};

/// The result of decoding one batch.
type DecodedBatch = (Decoder, Option<RecordBatch>);

/// A decoder whose batches are being read.
struct PrefetchedDecoder {
    engine: Arc<Engine>,
    /// The decoder, unless it is decoding.
    decoder: Option<Decoder>,
    /// The batch that is being decoded.
    ahead: Option<Started<DecodedBatch>>,
    /// Whether a batch was already read: a client that wants one page only must not pay for the next.
    goes_on: bool,
}

/// Returns the batches of `decoder` as a stream. While the reader handles one batch, the next one is decoded, but no
/// more than that; no thread waits for the reader. Dropping the stream cancels the work.
pub(super) fn stream_of(engine: Arc<Engine>, decoder: Decoder) -> BatchStream {
    let reading = PrefetchedDecoder { engine, decoder: Some(decoder), ahead: None, goes_on: false };
    let batches = stream::unfold(reading, async |mut reading| {
        let next = reading.next().await.transpose()?;
        Some((next, reading))
    });
    Box::pin(batches.fuse())
}

impl PrefetchedDecoder {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(decoder) = self.decoder.take() {
            self.ahead = Some(self.decode(decoder)?);
        }
        let Some(ahead) = self.ahead.take() else { return Ok(None) };
        // After an error there is neither, and the stream ends.
        let (decoder, batch) = ahead.done().await?;
        if batch.is_some() && !decoder.is_done() {
            if self.goes_on && decoder.has_place() {
                self.ahead = Some(self.decode(decoder)?);
            } else {
                self.decoder = Some(decoder);
            }
        }
        self.goes_on = true;
        Ok(batch)
    }

    fn decode(&self, mut decoder: Decoder) -> Result<Started<DecodedBatch>> {
        self.engine.start_decoding(move || {
            let batch = decoder.next()?;
            Ok((decoder, batch))
        })
    }
}
