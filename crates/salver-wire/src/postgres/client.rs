//! Both directions of a connection, and why an answer stops.

use std::sync::Arc;

use salver_model::limits::STARTUP_PACKET_BYTES_MAX;
use salver_model::{Error, Result as ModelResult};
use tokio::io::{AsyncRead, AsyncWrite, ReadHalf, WriteHalf};

use super::cancellation::CancelRequest;
use super::frames::{Frames, NoFrame};
use super::message::PROOF;
use super::outbox::Outbox;
use super::refusal::Refusal;

/// A connection, with TLS or without.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}

/// Both directions of a connection.
pub(super) struct Client {
    frames: Frames<ReadHalf<Box<dyn ByteStream>>>,
    writer: WriteHalf<Box<dyn ByteStream>>,
    pub(super) outbox: Outbox,
    /// Told when the client asks to cancel what runs.
    pub(super) requested: Arc<CancelRequest>,
}

/// Why a message was not answered to its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// It is refused.
    Refused(Refusal),
    /// The client has left.
    Left,
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<NoFrame> for Stop {
    fn from(none: NoFrame) -> Self {
        match none {
            NoFrame::Left => Self::Left,
            NoFrame::TooLong(bytes) => Self::Refused(
                Refusal::new("54000", format!("a message of {bytes} bytes is larger than the server takes"))
                    .with_hint("the limit is `limits.body_bytes_max`")
                    .fatal(),
            ),
            NoFrame::Malformed => Self::Refused(Refusal::broken("invalid message length")),
        }
    }
}

impl Client {
    pub(super) fn new(stream: Box<dyn ByteStream>) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        let frames = Frames::new(reader);
        Self { frames, writer, outbox: Outbox::default(), requested: Arc::default() }
    }

    /// Reads the packet that a session begins with.
    pub(super) async fn packet(&mut self) -> Result<bytes::Bytes, Stop> {
        Ok(self.frames.packet().await?)
    }

    /// Reads the next message, of at most `bytes_max` bytes: its kind and its body.
    pub(super) async fn message(&mut self, bytes_max: usize) -> Result<(u8, bytes::Bytes), Stop> {
        Ok(self.frames.message(bytes_max).await?)
    }

    /// Reads what the client says to prove who it is.
    pub(super) async fn proof(&mut self) -> Result<bytes::Bytes, Stop> {
        match self.message(STARTUP_PACKET_BYTES_MAX).await? {
            (PROOF, body) => Ok(body),
            _ => Err(Refusal::broken("expected a password or what proves that it is known").into()),
        }
    }

    /// Sends what is collected.
    pub(super) async fn send(&mut self) -> Result<(), Stop> {
        self.outbox.send(&mut self.writer).await.map_err(|_| Stop::Left)
    }

    /// Waits for `work`, unless the client cancels it or leaves; the work is dropped then. `told` makes the refusal of
    /// an error.
    pub(super) async fn watch<T>(
        &mut self,
        work: impl Future<Output = ModelResult<T>>,
        told: impl FnOnce(Error) -> Refusal,
    ) -> Result<T, Stop> {
        // Work that never has to wait would not let anything else be seen.
        if self.requested.is_there() {
            return Err(Stop::Refused(Refusal::canceled()));
        }
        tokio::select! {
            biased;
            done = work => done.map_err(|error| Stop::Refused(told(error))),
            () = self.requested.wait() => Err(Stop::Refused(Refusal::canceled())),
            () = self.frames.left() => Err(Stop::Left),
        }
    }
}
