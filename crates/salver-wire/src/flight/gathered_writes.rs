//! A socket that gathers what is written to it while its connection is polled, and sends it afterwards. HTTP/2 writes a
//! frame at a time, and clients take frames of 16 KiB: each would be a call of the system, and wake the client.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Size at which gathered bytes are sent at once.
const GATHERED_BYTES: usize = 256 * 1024;
/// How many times what was sent the memory for it may be.
const SPARE_FACTOR: usize = 16;

/// The socket as the connection has it.
#[derive(Debug)]
pub(super) struct GatheredWrites<S>(Arc<Mutex<Gathered<S>>>);

/// Sends what was gathered.
#[derive(Debug)]
pub(super) struct Sender<S>(Arc<Mutex<Gathered<S>>>);

#[derive(Debug)]
struct Gathered<S> {
    stream: S,
    bytes: Vec<u8>,
    /// Length of the part of `bytes` that was sent.
    sent: usize,
}

impl<S: AsyncRead + AsyncWrite + Unpin> GatheredWrites<S> {
    /// Gathers the writes to `stream`. What its poll left must be sent after each poll of the connection.
    pub(super) fn new(stream: S) -> (Self, Sender<S>) {
        let gathered = Arc::new(Mutex::new(Gathered { stream, bytes: Vec::new(), sent: 0 }));
        (Self(Arc::clone(&gathered)), Sender(gathered))
    }

    fn lock(&self) -> MutexGuard<'_, Gathered<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: AsyncWrite + Unpin> Sender<S> {
    /// Sends what the socket takes; the rest is sent by a later call, for which the task is woken.
    pub(super) fn send(&self, context: &mut Context<'_>) {
        let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A socket that fails tells the connection at its next call.
        let _ = gathered.poll_send(context);
    }
}

impl<S: AsyncWrite + Unpin> Gathered<S> {
    fn poll_send(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.bytes.len() {
            match ready!(Pin::new(&mut self.stream).poll_write(context, &self.bytes[self.sent..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                sent => self.sent += sent,
            }
        }
        // A connection that says little keeps little memory.
        if self.bytes.capacity() / SPARE_FACTOR > self.sent {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        self.sent = 0;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    /// Waits until there is room for more.
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.bytes.len() < GATHERED_BYTES { Poll::Ready(Ok(())) } else { self.poll_send(context) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for GatheredWrites<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut gathered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Pin::new(&mut gathered.stream).poll_read(context, out)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for GatheredWrites<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(context, &[io::IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut gathered = self.lock();
        ready!(gathered.poll_room(context))?;
        let before = gathered.bytes.len();
        slices.iter().for_each(|slice| gathered.bytes.extend_from_slice(slice));
        Poll::Ready(Ok(gathered.bytes.len() - before))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Leaves what was gathered for [`Sender::send`].
    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.lock().poll_room(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut gathered = self.lock();
        ready!(gathered.poll_send(context))?;
        Pin::new(&mut gathered.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::{GATHERED_BYTES, GatheredWrites};

    #[tokio::test]
    async fn everything_arrives_in_order() {
        let (near, mut far) = duplex(1_000);
        let (mut writes, sender) = GatheredWrites::new(near);
        let sent: Vec<u8> = (0..3 * GATHERED_BYTES).map(|byte| (byte % 251) as u8).collect();
        let (text, length) = (sent.clone(), sent.len());
        let reading = tokio::spawn(async move {
            let mut read = vec![0; length];
            far.read_exact(&mut read).await.unwrap();
            read
        });
        let mut writing = Box::pin(async move {
            for part in text.chunks(16_393) {
                writes.write_all(part).await.unwrap();
                writes.flush().await.unwrap();
            }
            std::future::pending::<()>().await;
        });
        let connection = poll_fn(|context| {
            let polled = writing.as_mut().poll(context);
            sender.send(context);
            polled
        });
        tokio::select! {
            () = connection => unreachable!("it does not end"),
            read = reading => assert_eq!(read.unwrap(), sent),
        }
    }
}
