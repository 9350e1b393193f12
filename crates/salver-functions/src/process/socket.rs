//! The server's end of the connection to a worker.
//!
//! Linux notifies both ends of a socket pair that there is room to write each time the other end has read
//! (`unix_write_space`). Waiting for writability thus costs a needless wake-up per call, so this end waits only for
//! input, and for room only when there was none.

use std::io::{self, IoSlice, Read, Write};
use std::os::unix::net::UnixStream as Plain;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWriteExt, Interest, ReadBuf};
use tokio::net::UnixStream;

/// Connection that is read through the runtime and written to directly.
#[derive(Debug)]
pub(crate) struct WorkerSocket {
    /// Registration with the reactor; `None` after waiting for room failed.
    watched: Option<AsyncFd<Plain>>,
}

impl WorkerSocket {
    /// Creates a line over this connection.
    ///
    /// # Errors
    /// Returns the reactor's errors.
    pub(crate) fn new(stream: UnixStream) -> io::Result<Self> {
        Ok(Self { watched: Some(watched(stream.into_std()?)?) })
    }

    /// Returns whether there is no input and the other side is alive. Needs no system call while the reactor has no
    /// event.
    pub(crate) fn is_quiet(&self) -> bool {
        let read = |mut stream: &Plain| stream.read(&mut [0]);
        let Some(watched) = &self.watched else { return false };
        matches!(watched.try_io(Interest::READABLE, read), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
    }

    /// Sends `head`, followed by `body`.
    ///
    /// # Errors
    /// Returns the connection's errors.
    pub(crate) async fn send(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        let stream = self.watched.as_ref().ok_or(io::ErrorKind::NotConnected)?.get_ref();
        let count = match (&*stream).write_vectored(&[IoSlice::new(head), IoSlice::new(body)]) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => return Err(error),
        };
        if count == head.len() + body.len() {
            return Ok(());
        }
        let mut rest = Buf::chain(head, body);
        rest.advance(count);
        self.send_all(rest).await
    }

    /// Sends the rest that did not fit at once.
    async fn send_all(&mut self, mut rest: impl Buf) -> io::Result<()> {
        let stream = self.watched.take().ok_or(io::ErrorKind::NotConnected)?.into_inner();
        let mut stream = UnixStream::from_std(stream)?;
        stream.write_all_buf(&mut rest).await?;
        self.watched = Some(watched(stream.into_std()?)?);
        Ok(())
    }
}

fn watched(stream: Plain) -> io::Result<AsyncFd<Plain>> {
    #[allow(unsafe_code, reason = "tokio has no other way to wait for one of the two")]
    // SAFETY: a stream of std keeps its one descriptor, open, until it is dropped, and nobody replaces it here.
    Ok(unsafe { AsyncFd::register_with_interest(stream, Interest::READABLE) }?)
}

impl AsyncRead for WorkerSocket {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let watched = self.watched.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        loop {
            let mut guard = ready!(watched.poll_read_ready(context))?;
            let room = into.initialize_unfilled();
            let length = room.len();
            match guard.try_io(|watched| watched.get_ref().read(room)) {
                Ok(Ok(count)) => {
                    if count > 0 && count < length {
                        // Everything was read: the next event is reported anew.
                        guard.clear_ready();
                    }
                    into.advance(count);
                    return Poll::Ready(Ok(()));
                }
                Ok(Err(error)) => return Poll::Ready(Err(error)),
                Err(_would_block) => {}
            }
        }
    }
}
