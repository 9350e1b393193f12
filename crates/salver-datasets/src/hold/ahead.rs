//! Decodes on threads that may block, one batch ahead of who takes them.

use std::sync::Arc;

use arrow::array::RecordBatch;
use futures::{StreamExt, stream};
use salver_model::Result;
use salver_model::reply::BatchStream;

use super::decode::Decoder;
use crate::engine::{Engine, Started};

/// What a turn of decoding gives back.
type Turn = (Decoder, Option<RecordBatch>);

/// A decoder whose batches are taken.
struct Reading {
    engine: Arc<Engine>,
    /// The decoder while nothing is decoded.
    decoder: Option<Decoder>,
    /// The batch that is being decoded.
    ahead: Option<Started<Turn>>,
    /// Whether a batch was taken already: whoever wants one page only shall not pay for the next.
    goes_on: bool,
}

/// The batches of `decoder`. While one is taken the next is decoded, and no more than that; no thread waits for whoever
/// takes them. Dropping the stream ends the work.
pub(super) fn stream_of(engine: Arc<Engine>, decoder: Decoder) -> BatchStream {
    let reading = Reading { engine, decoder: Some(decoder), ahead: None, goes_on: false };
    let batches = stream::unfold(reading, async |mut reading| {
        let next = reading.next().await.transpose()?;
        Some((next, reading))
    });
    Box::pin(batches.fuse())
}

impl Reading {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        if let Some(decoder) = self.decoder.take() {
            self.ahead = Some(self.decode(decoder)?);
        }
        let Some(ahead) = self.ahead.take() else { return Ok(None) };
        // After a failure there is neither, and that is the end.
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

    fn decode(&self, mut decoder: Decoder) -> Result<Started<Turn>> {
        self.engine.start_decoding(move || {
            let batch = decoder.next()?;
            Ok((decoder, batch))
        })
    }
}
