//! A connection that is closed so that its client gets everything.
//!
//! What the client still sends is read and dropped until it closes, too: a system resets a connection that is closed
//! with unread data, and a reset discards what was sent and not yet read at the other end. Clients of HTTP/2 send while
//! they read: how much more they can take.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use salver_model::limits::STALL_MS_MAX;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Bytes that are dropped at a time.
const DROPPED_BYTES: usize = 1_024;

/// A stream that lingers when it is shut down.
#[derive(Debug)]
pub(crate) struct Lingering<S> {
    stream: S,
    /// End of the wait for the client, once nothing more is sent.
    until: Option<Pin<Box<Sleep>>>,
}

impl<S> Lingering<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, until: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let own = &mut *self;
        if own.until.is_none() {
            ready!(Pin::new(&mut own.stream).poll_shutdown(context))?;
        }
        let patience = || Box::pin(tokio::time::sleep(Duration::from_millis(STALL_MS_MAX)));
        let until = own.until.get_or_insert_with(patience);
        if until.as_mut().poll(context).is_ready() {
            return Poll::Ready(Ok(()));
        }
        let mut dropped = [0; DROPPED_BYTES];
        loop {
            let mut buffer = ReadBuf::new(&mut dropped);
            match ready!(Pin::new(&mut own.stream).poll_read(context, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {}
                // The client has closed, or is gone.
                _ => return Poll::Ready(Ok(())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::Lingering;

    #[tokio::test]
    async fn what_comes_before_the_end_is_read() {
        let (ours, mut theirs) = duplex(16);
        let closing = tokio::spawn(async move {
            let mut ours = Lingering::new(ours);
            ours.write_all(b"all").await.unwrap();
            ours.shutdown().await
        });
        // More than fits: it could not be written if nobody read it.
        theirs.write_all(&[0; 4_096]).await.unwrap();
        assert!(!closing.is_finished(), "the client has not closed");
        let mut said = Vec::new();
        theirs.read_to_end(&mut said).await.unwrap();
        assert_eq!(said, b"all");
        drop(theirs);
        closing.await.unwrap().unwrap();
    }
}
