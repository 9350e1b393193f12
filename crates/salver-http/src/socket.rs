//! A connection of either kind: over the network, or to a Unix socket. What its first bytes are can be looked at before
//! they are read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

/// Longest response that is written in one piece, in bytes.
const ONE_PIECE_BYTES: usize = 1_024;

/// A connection.
#[derive(Debug)]
pub(crate) enum Socket {
    /// Over the network.
    Tcp(TcpStream),
    /// To a Unix socket.
    #[cfg(unix)]
    Unix(PeekableUnixStream),
}

/// A connection to a Unix socket. Its bytes can't be looked at without being read, so these are kept.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct PeekableUnixStream {
    stream: UnixStream,
    /// Bytes that were looked at and not read.
    peeked: Vec<u8>,
}

impl Socket {
    /// Returns a connection to a Unix socket.
    #[cfg(unix)]
    pub(crate) fn unix(stream: UnixStream) -> Self {
        Self::Unix(PeekableUnixStream { stream, peeked: Vec::new() })
    }

    /// Copies the next bytes to `buffer` and leaves them to be read; waits until there is one. Returns their number,
    /// which is 0 at the end.
    pub(crate) async fn peek(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.peek(buffer).await,
            #[cfg(unix)]
            Self::Unix(unix) => {
                if let wanted @ 1.. = buffer.len().saturating_sub(unix.peeked.len()) {
                    let mut more = vec![0; wanted];
                    let count = match unix.peeked.is_empty() {
                        true => unix.stream.read(&mut more).await?,
                        // What is there may be all that comes.
                        false => match unix.stream.try_read(&mut more) {
                            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                            read => read?,
                        },
                    };
                    unix.peeked.extend_from_slice(&more[..count]);
                }
                let count = unix.peeked.len().min(buffer.len());
                buffer[..count].copy_from_slice(&unix.peeked[..count]);
                Ok(count)
            }
        }
    }

    /// Reads the next `count` bytes, which were looked at before, and drops them.
    pub(crate) async fn skip(&mut self, count: usize) -> io::Result<()> {
        let mut skipped = vec![0; count];
        self.read_exact(&mut skipped).await.map(drop)
    }
}

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            #[cfg(unix)]
            Self::Unix(unix) if unix.peeked.is_empty() => Pin::new(&mut unix.stream).poll_read(context, buffer),
            #[cfg(unix)]
            Self::Unix(unix) => {
                let count = unix.peeked.len().min(buffer.remaining());
                buffer.put_slice(&unix.peeked[..count]);
                unix.peeked.drain(..count);
                Poll::Ready(Ok(()))
            }
        }
    }
}

/// Passes a call on to the stream inside.
macro_rules! inside {
    ($socket:expr, $stream:ident => $call:expr) => {
        match $socket {
            Self::Tcp($stream) => $call,
            #[cfg(unix)]
            Self::Unix(PeekableUnixStream { stream: $stream, .. }) => $call,
        }
    };
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        inside!(self.get_mut(), stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A small response costs the system less in one piece than its head and its body do in two.
        if slices.iter().map(|slice| slice.len()).sum::<usize>() <= ONE_PIECE_BYTES {
            let (mut piece, mut length) = ([0; ONE_PIECE_BYTES], 0);
            for slice in slices {
                piece[length..length + slice.len()].copy_from_slice(slice);
                length += slice.len();
            }
            return self.poll_write(context, &piece[..length]);
        }
        inside!(self.get_mut(), stream => Pin::new(stream).poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        inside!(self, stream => stream.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        inside!(self.get_mut(), stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        inside!(self.get_mut(), stream => Pin::new(stream).poll_shutdown(context))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::UnixStream;

    use super::Socket;

    #[tokio::test]
    async fn what_is_looked_at_is_read_once() {
        let (mut client, server) = UnixStream::pair().unwrap();
        let mut socket = Socket::unix(server);
        client.write_all(b"hello, world").await.unwrap();
        let mut buffer = [0; 5];
        assert_eq!(socket.peek(&mut buffer[..1]).await.unwrap(), 1);
        assert_eq!(socket.peek(&mut buffer).await.unwrap(), 5);
        let mut more = [0; 100];
        // Nothing else comes for now, and nobody waits for it.
        assert_eq!(socket.peek(&mut more).await.unwrap(), 12);
        assert_eq!(socket.peek(&mut more).await.unwrap(), 12);
        assert_eq!(&buffer, b"hello");
        socket.skip(3).await.unwrap();
        assert_eq!(socket.peek(&mut buffer[..2]).await.unwrap(), 2);
        assert_eq!(&buffer[..2], b"lo");
        drop(client);
        let mut rest = String::new();
        socket.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "lo, world");
        assert_eq!(socket.peek(&mut buffer).await.unwrap(), 0);
    }
}
