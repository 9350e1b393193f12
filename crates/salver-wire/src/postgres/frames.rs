//! Reads the messages of a client: a byte that says which kind it is, and a length that counts itself
//! (<https://www.postgresql.org/docs/16/protocol-message-formats.html>). The first packets have no kind.

use bytes::{Buf, Bytes, BytesMut};
use salver_model::limits::{READ_AHEAD_BYTES_MAX, STARTUP_PACKET_BYTES_MAX};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes that are made room for at a time: a client gets memory for what it has sent, and not for what it announces.
const STEP_BYTES: usize = 64 * 1024;
/// Bytes of a length.
const LENGTH_BYTES: usize = 4;

/// Reader of messages.
#[derive(Debug)]
pub(super) struct Frames<R> {
    source: R,
    buffer: BytesMut,
}

/// Why there is no further message.
#[derive(Debug)]
pub(super) enum NoFrame {
    /// The client has left.
    Left,
    /// A message is longer than it may be, in bytes.
    TooLong(usize),
    /// A message has a length that none can have.
    Malformed,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, buffer: BytesMut::new() }
    }

    /// Returns the source, if nothing was read ahead from it.
    pub(super) fn into_source(self) -> Option<R> {
        self.buffer.is_empty().then_some(self.source)
    }

    /// Reads a packet without a kind, with which a connection begins.
    pub(super) async fn packet(&mut self) -> Result<Bytes, NoFrame> {
        self.body(0, STARTUP_PACKET_BYTES_MAX).await
    }

    /// Reads a message of up to `bytes_max` bytes: its kind and its body.
    pub(super) async fn message(&mut self, bytes_max: usize) -> Result<(u8, Bytes), NoFrame> {
        self.fill(1).await?;
        let kind = self.buffer[0];
        Ok((kind, self.body(1, bytes_max).await?))
    }

    /// Reads the body that follows `head` bytes and a length.
    async fn body(&mut self, head: usize, bytes_max: usize) -> Result<Bytes, NoFrame> {
        self.fill(head + LENGTH_BYTES).await?;
        let length = i32::from_be_bytes([0, 1, 2, 3].map(|at| self.buffer[head + at]));
        let length = usize::try_from(length).map_err(|_| NoFrame::Malformed)?;
        let bytes = length.checked_sub(LENGTH_BYTES).ok_or(NoFrame::Malformed)?;
        if bytes > bytes_max {
            return Err(NoFrame::TooLong(bytes));
        }
        self.fill(head + length).await?;
        self.buffer.advance(head + LENGTH_BYTES);
        Ok(self.buffer.split_to(bytes).freeze())
    }

    /// Reads until there are `bytes` bytes.
    async fn fill(&mut self, bytes: usize) -> Result<(), NoFrame> {
        while self.buffer.len() < bytes {
            self.buffer.reserve((bytes - self.buffer.len()).min(STEP_BYTES));
            if !matches!(self.source.read_buf(&mut self.buffer).await, Ok(1..)) {
                return Err(NoFrame::Left);
            }
        }
        Ok(())
    }

    /// Waits until the client leaves. Meanwhile it may send what is read later. Nothing is lost when this is dropped.
    pub(super) async fn left(&mut self) {
        loop {
            if self.buffer.len() >= READ_AHEAD_BYTES_MAX {
                // Whether the client is still there shows when it is written to.
                return std::future::pending().await;
            }
            self.buffer.reserve(LENGTH_BYTES);
            if !matches!(self.source.read_buf(&mut self.buffer).await, Ok(1..)) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Frames, NoFrame};

    #[tokio::test]
    async fn messages_in_any_pieces() {
        let sent = [&b"Q\0\0\0\x0dselect 1\0"[..], b"S\0\0\0\x04"].concat();
        for step in 1..sent.len() {
            let pieces = sent.chunks(step).fold(tokio_pieces(), |built, piece| built.read(piece));
            let mut frames = Frames::new(pieces);
            let (kind, body) = frames.message(100).await.unwrap();
            assert_eq!((kind, &body[..]), (b'Q', &b"select 1\0"[..]));
            let (kind, body) = frames.message(100).await.unwrap();
            assert_eq!((kind, body.len()), (b'S', 0));
            assert!(matches!(frames.message(100).await, Err(NoFrame::Left)));
        }
    }

    #[tokio::test]
    async fn lengths_that_none_can_have() {
        let read = async |sent: &'static [u8]| Frames::new(sent).message(8).await.map(|_| ()).unwrap_err();
        assert!(matches!(read(b"Q\0\0\0\x03").await, NoFrame::Malformed));
        assert!(matches!(read(b"Q\xff\xff\xff\xff").await, NoFrame::Malformed));
        assert!(matches!(read(b"Q\x7f\xff\xff\xff").await, NoFrame::TooLong(2_147_483_643)));
        assert!(matches!(read(b"Q\0\0\0\x0d123456789").await, NoFrame::TooLong(9)));
        assert!(matches!(read(b"Q\0\0\0\x08").await, NoFrame::Left));
    }

    /// A reader that gives its pieces one by one.
    #[derive(Default)]
    struct Pieces(std::collections::VecDeque<Vec<u8>>);

    fn tokio_pieces() -> Pieces {
        Pieces::default()
    }

    impl Pieces {
        fn read(mut self, piece: &[u8]) -> Self {
            self.0.push_back(piece.to_vec());
            self
        }
    }

    impl tokio::io::AsyncRead for Pieces {
        fn poll_read(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            buffer: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            if let Some(mut piece) = self.0.pop_front() {
                let taken = piece.len().min(buffer.remaining());
                buffer.put_slice(&piece[..taken]);
                let rest = piece.split_off(taken);
                if !rest.is_empty() {
                    self.0.push_front(rest);
                }
            }
            std::task::Poll::Ready(Ok(()))
        }
    }
}
