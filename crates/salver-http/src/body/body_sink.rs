//! The producer's end of a body, with backpressure from the client.
//!
//! A piece counts as taken when its last byte was handed to the operating system, not when the connection picked it up:
//! the connection would buffer half a megabyte of its own for a client that reads nothing. So the bytes that are
//! produced and not taken have one bound per body, wherever they are buffered. The buffer of a taken piece is returned
//! and reused: it is warm in the cache and costs no page fault.
//!
//! The bound and the length of the pieces adapt to the client. Short pieces cost a fast client several thread switches
//! each; long ones occupy memory for each of many slow clients. So pieces grow with the number of bytes taken without a
//! pause, not counting what the system buffers for a connection, which says nothing about the client's speed.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use salver_model::Error;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::{Body, Pieces};

/// Initial length of a piece in bytes, and that for a client that pauses.
const FIRST_PIECE_BYTES: usize = 64 * 1024;
/// Length of a piece in bytes for a client that keeps up with the producer: some fit in a processor's L2 cache.
const FULL_PIECE_BYTES: usize = 512 * 1024;
/// Bytes that the system buffers for a connection even if the client reads nothing.
const SYSTEM_BYTES: usize = 8 * 1024 * 1024;
/// Number of bytes taken beyond that for each byte that a piece grows.
const GROWTH: usize = 16;
/// Pieces that may be produced and not taken.
const UNTAKEN_PIECES: usize = 3;
/// Time without progress after which a client counts as pausing.
const PAUSE: Duration = Duration::from_millis(100);
/// Capacity in bytes above which a buffer is not reused.
const KEPT_CAPACITY: usize = 1024 * 1024;
/// Most buffers that are kept for reuse.
const KEPT_BUFFERS: usize = 4;

/// A part of a body on its way from the producer.
#[derive(Debug)]
pub(super) enum Part {
    /// Some bytes of the body.
    Bytes(Bytes),
    /// The end of the body, with its trailers.
    End(Option<HeaderMap>),
    /// The error that the body failed with, instead of its end.
    Failed(Error),
}

/// The producer's end of a body. Dropping it without [`Outlet::end`] aborts the response.
#[derive(Debug)]
pub(crate) struct Outlet {
    sender: UnboundedSender<Part>,
    home: UnboundedSender<Vec<u8>>,
    returned: UnboundedReceiver<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    untaken_bytes: usize,
    /// Bytes taken since the client last paused.
    run_bytes: usize,
}

/// The error of a client that took nothing for as long as the producer was willing to wait.
#[derive(Debug)]
pub(crate) struct Idle;

impl Outlet {
    /// Returns an outlet and its body, of `bytes` bytes in all, where that is known.
    pub(crate) fn new(bytes: Option<u64>) -> (Self, Body) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let (home, returned) = mpsc::unbounded_channel();
        let outlet = Self { sender, home, returned, spare: Vec::new(), untaken_bytes: 0, run_bytes: 0 };
        let pieces = Pieces {
            receiver,
            first: None,
            failed: None,
            left: bytes,
            ended: false,
            flushed: false,
            turn: None,
            running: None,
            bound: None,
            watch: None,
        };
        (outlet, Body::Stream(Box::new(pieces)))
    }

    /// Returns an empty buffer for the next piece, a used one if possible.
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.gather();
        self.spare.pop().unwrap_or_default()
    }

    /// Returns the approximate length of the next piece in bytes.
    pub(crate) fn piece_bytes(&self) -> usize {
        let grown = self.run_bytes.saturating_sub(SYSTEM_BYTES) / GROWTH;
        (FIRST_PIECE_BYTES + grown).min(FULL_PIECE_BYTES)
    }

    /// Returns whether the producer should wait for the client, given `begun_bytes` bytes that are still being
    /// produced.
    pub(crate) fn is_full(&mut self, begun_bytes: usize) -> bool {
        self.gather();
        self.untaken_bytes + begun_bytes >= UNTAKEN_PIECES * self.piece_bytes()
    }

    /// Sends a piece. It is never refused: the producer must call [`Outlet::room`] before.
    pub(crate) fn send(&mut self, piece: Vec<u8>) {
        if piece.is_empty() {
            return self.keep(piece);
        }
        self.untaken_bytes += piece.len();
        let piece = Bytes::from_owner(BodyPiece { bytes: piece, home: self.home.clone() });
        // If this fails, the receiver is gone and dropping the piece returns its buffer.
        let _ = self.sender.send(Part::Bytes(piece));
    }

    /// Waits until the client takes something, if the body is full.
    ///
    /// # Errors
    /// [`Idle`] when it took nothing for `patience`; the caller may wait again.
    pub(crate) async fn room(&mut self, patience: Duration) -> Result<(), Idle> {
        self.below(UNTAKEN_PIECES, patience).await
    }

    /// Waits until the client has taken nearly everything, for a producer that is expensive to restart.
    ///
    /// # Errors
    /// As [`Outlet::room`].
    pub(crate) async fn drained(&mut self, patience: Duration) -> Result<(), Idle> {
        self.below(1, patience).await
    }

    /// Waits until fewer bytes are untaken than `pieces` pieces have.
    async fn below(&mut self, pieces: usize, patience: Duration) -> Result<(), Idle> {
        self.gather();
        while self.untaken_bytes >= pieces * self.piece_bytes() {
            let since = Instant::now();
            let taken = tokio::time::timeout(patience, self.taken()).await;
            if since.elapsed() >= PAUSE {
                self.run_bytes = 0;
                self.trim();
            }
            taken.map_err(|_| Idle)?;
            self.gather();
        }
        Ok(())
    }

    /// Waits until the client has taken a piece. Cancel-safe.
    pub(crate) async fn taken(&mut self) {
        // The outlet holds a sender itself, so the channel never closes.
        if let Some(buffer) = self.returned.recv().await {
            self.take_back(buffer);
        }
    }

    /// Waits until the client has disconnected.
    pub(crate) fn left(&self) -> impl Future<Output = ()> + Send + 'static {
        let sender = self.sender.clone();
        async move { sender.closed().await }
    }

    /// Returns a function that reports an error of the body after the outlet is gone.
    pub(super) fn failure(&self) -> impl FnOnce(Error) + Send + 'static {
        let sender = self.sender.clone();
        // Fails only if the receiver is gone.
        move |error| drop(sender.send(Part::Failed(error)))
    }

    /// Drops the buffers that are kept for reuse.
    pub(crate) fn trim(&mut self) {
        self.gather();
        self.spare = Vec::new();
    }

    /// Ends the body, with optional trailers.
    pub(crate) fn end(self, trailers: Option<HeaderMap>) {
        let _ = self.sender.send(Part::End(trailers));
    }

    fn gather(&mut self) {
        while let Ok(buffer) = self.returned.try_recv() {
            self.take_back(buffer);
        }
    }

    fn take_back(&mut self, buffer: Vec<u8>) {
        self.untaken_bytes = self.untaken_bytes.saturating_sub(buffer.len());
        self.run_bytes = self.run_bytes.saturating_add(buffer.len());
        self.keep(buffer);
    }

    fn keep(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < KEPT_BUFFERS && buffer.capacity() <= KEPT_CAPACITY {
            buffer.clear();
            self.spare.push(buffer);
        }
    }
}

/// Bytes on their way out, whose buffer is returned once the last of them is gone.
struct BodyPiece {
    bytes: Vec<u8>,
    home: UnboundedSender<Vec<u8>>,
}

impl AsRef<[u8]> for BodyPiece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for BodyPiece {
    fn drop(&mut self) {
        // The producer may be gone already.
        let _ = self.home.send(std::mem::take(&mut self.bytes));
    }
}
