//! Reads the body of an append: joins frames to pieces, and decompresses them incrementally.

use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as _, Frame};
use http_body_util::BodyExt;
use salver_model::limits::APPEND_PIECE_BYTES;
use salver_model::{Code, Error, Result};

use crate::receive::{BodyBuffer, Incoming, Unpacker};
use crate::request_context::RequestContext;

/// Time that an incomplete piece waits for more bytes. Short, so that an occasional event is not delayed until the next
/// one arrives.
const LINGER: Duration = Duration::from_millis(5);

/// The body of an append.
#[derive(Debug)]
pub(in crate::streams) struct Intake {
    body: Incoming,
    first: Option<Bytes>,
    unpacker: Option<Unpacker>,
    patience: Duration,
    /// Whether the body fits in one piece.
    is_short: bool,
    has_ended: bool,
}

impl Intake {
    /// Wraps `body`, of which `first` was read already.
    ///
    /// # Errors
    /// `UnsupportedMediaType` for an unsupported content encoding.
    pub(in crate::streams) fn new(context: &RequestContext<'_>, body: Incoming, first: Option<Bytes>) -> Result<Self> {
        let length = body.size_hint().exact().unwrap_or(u64::MAX);
        Ok(Self {
            has_ended: false,
            is_short: length <= APPEND_PIECE_BYTES as u64,
            body,
            first,
            unpacker: Unpacker::of(context.headers)?,
            patience: Duration::from_millis(context.app.service.limits().head_ms_max),
        })
    }

    /// Returns the timeout for the next bytes of the client.
    pub(in crate::streams) fn patience(&self) -> Duration {
        self.patience
    }

    /// Returns `rest` followed by the next bytes, and whether that is the end of the body.
    ///
    /// # Errors
    /// `InvalidBody` when the body breaks off, stalls or can't be decompressed.
    pub(in crate::streams) async fn piece(&mut self, rest: Bytes) -> Result<(Bytes, bool)> {
        let begun = rest.len();
        let mut piece = BodyBuffer::of(rest);
        loop {
            if let Some(unpacker) = &mut self.unpacker {
                unpacker.unpack(&mut piece, begun + APPEND_PIECE_BYTES)?;
            }
            if piece.len() >= begun + APPEND_PIECE_BYTES {
                return Ok((piece.into_bytes(), false));
            }
            if self.has_ended {
                if let Some(unpacker) = &mut self.unpacker {
                    unpacker.finish(&mut piece)?;
                }
                return Ok((piece.into_bytes(), true));
            }
            let may_linger = !self.is_short && piece.len() > begun;
            match self.arrival(may_linger).await? {
                Arrival::Bytes(bytes) => match &mut self.unpacker {
                    Some(unpacker) => unpacker.take(bytes),
                    None => piece.push(bytes),
                },
                Arrival::End => self.has_ended = true,
                Arrival::Pause => return Ok((piece.into_bytes(), false)),
            }
        }
    }

    async fn arrival(&mut self, may_linger: bool) -> Result<Arrival> {
        if let Some(first) = self.first.take() {
            self.has_ended = self.body.is_end_stream();
            return Ok(Arrival::Bytes(first));
        }
        // Bytes that have arrived already need no timer.
        let ready = std::future::poll_fn(|task| Poll::Ready(Pin::new(&mut self.body).poll_frame(task))).await;
        let frame = match ready {
            Poll::Ready(frame) => frame,
            Poll::Pending => {
                let patience = if may_linger { LINGER } else { self.patience };
                match tokio::time::timeout(patience, self.body.frame()).await {
                    Ok(frame) => frame,
                    Err(_) if may_linger => return Ok(Arrival::Pause),
                    Err(_) => return Err(stalled(self.patience)),
                }
            }
        };
        self.has_ended = self.body.is_end_stream();
        match frame.map(|frame| frame.map(Frame::into_data)) {
            Some(Ok(Ok(data))) => Ok(Arrival::Bytes(data)),
            // Trailers are ignored.
            Some(Ok(Err(_))) => Ok(Arrival::Bytes(Bytes::new())),
            Some(Err(error)) => Err(error.into_error(Code::InvalidBody)),
            None => Ok(Arrival::End),
        }
    }
}

enum Arrival {
    Bytes(Bytes),
    End,
    /// No bytes arrived within the linger time.
    Pause,
}

fn stalled(patience: Duration) -> Error {
    Error::new(Code::InvalidBody, format!("the body stopped arriving: nothing came for {} ms", patience.as_millis()))
        .with_hint("send it faster, or raise `limits.head_ms_max`")
}
