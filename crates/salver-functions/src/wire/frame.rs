//! Frames on a connection: read completely, each into its own memory.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

/// Length of the prefix of a frame.
const PREFIX_BYTES: usize = 4;
/// Default size of the read buffer; usual answers need one system call.
const READ_BYTES: usize = 4 * 1024;
/// Size up to which a frame is copied out of the read buffer, so that keeping it does not keep the buffer alive.
const COPIED_BYTES: usize = 4 * 1024;

/// Read buffer of a connection.
#[derive(Debug, Default)]
pub(crate) struct Input(BytesMut);

impl Input {
    /// Returns whether the buffer is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the next frame: its kind and its payload.
    ///
    /// # Errors
    /// Returns `UnexpectedEof` when the connection ends, `InvalidData` for a frame of more than `bytes_max`, and the
    /// connection's own.
    pub(crate) async fn frame(
        &mut self,
        source: &mut (impl AsyncRead + Unpin),
        bytes_max: usize,
    ) -> io::Result<(u8, Bytes)> {
        let length = loop {
            if let Some(prefix) = self.0.first_chunk::<PREFIX_BYTES>() {
                break u32::from_le_bytes(*prefix) as usize;
            }
            self.fill(source, READ_BYTES).await?;
        };
        if length == 0 || length > bytes_max {
            let message = format!("a frame of {length} bytes, where {bytes_max} are allowed");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let whole = PREFIX_BYTES + length;
        while self.0.len() < whole {
            let missing = whole - self.0.len();
            self.fill(source, missing).await?;
        }
        let mut frame = if length <= COPIED_BYTES {
            let frame = Bytes::copy_from_slice(&self.0[PREFIX_BYTES..whole]);
            self.0.advance(whole);
            frame
        } else {
            self.0.advance(PREFIX_BYTES);
            self.0.split_to(length).freeze()
        };
        Ok((frame.get_u8(), frame))
    }

    async fn fill(&mut self, source: &mut (impl AsyncRead + Unpin), room: usize) -> io::Result<()> {
        self.0.reserve(room);
        match source.read_buf(&mut self.0).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::Input;

    /// Checks frames of all sizes, in chunks of all sizes.
    #[tokio::test]
    async fn frames_in_pieces() {
        let sizes = [1, 2, 100, 4_096, 4_097, 70_000, 1];
        let mut sent = Vec::new();
        for (number, size) in sizes.iter().enumerate() {
            sent.extend_from_slice(&u32::try_from(*size).unwrap().to_le_bytes());
            sent.extend(std::iter::repeat_n(u8::try_from(number).unwrap(), *size));
        }
        for piece in [1, 3, 5, 4_099, sent.len()] {
            let mut mock = sent.chunks(piece).fold(tokio_test_reader(), |mut reader, piece| {
                reader.0.push_back(piece.to_vec());
                reader
            });
            let mut input = Input::default();
            for (number, size) in sizes.iter().enumerate() {
                let (kind, payload) = input.frame(&mut mock, 100_000).await.unwrap();
                assert_eq!((usize::from(kind), payload.len()), (number, size - 1));
                assert!(payload.iter().all(|byte| *byte == kind));
            }
            assert!(input.is_empty());
            assert_eq!(input.frame(&mut mock, 9).await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        }
        let mut input = Input::default();
        let refused = input.frame(&mut &sent[..], 1).await.and(input.frame(&mut &sent[5..], 1).await);
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    /// Reader that returns one chunk per read.
    struct Pieces(std::collections::VecDeque<Vec<u8>>);

    fn tokio_test_reader() -> Pieces {
        Pieces(std::collections::VecDeque::new())
    }

    impl tokio::io::AsyncRead for Pieces {
        fn poll_read(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            buffer: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<io::Result<()>> {
            if let Some(mut piece) = self.0.pop_front() {
                let rest = piece.split_off(piece.len().min(buffer.remaining()));
                buffer.put_slice(&piece);
                if !rest.is_empty() {
                    self.0.push_front(rest);
                }
            }
            std::task::Poll::Ready(Ok(()))
        }
    }
}
