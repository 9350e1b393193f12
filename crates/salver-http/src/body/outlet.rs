//! Where a producer puts the bytes of a body, and how it learns what the client takes of them.
//!
//! A piece counts as taken when the last byte of it was handed to the system, not when the connection picked it up:
//! the connection would hold half a megabyte of its own for a client that reads nothing. So what is made and not taken
//! has one bound for each body, wherever it lies. The buffer of a taken piece comes back and is filled again: it is
//! warm in the cache and costs no page fault.
//!
//! How much that bound is, and how long pieces should be, follows the client. Short pieces cost the quick one a turn
//! of several threads each; long ones lie about in memory for each of many slow ones. So they grow with what was taken
//! without a pause, beyond what the system buffers for a connection, which is not the client's haste.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use salver_model::Error;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::{Body, Pieces};

/// Bytes of a piece at first, and for a client that pauses.
const PIECE_BYTES_MIN: usize = 64 * 1024;
/// Bytes of a piece for a client that takes them as fast as they are made: some fit in a processor's second cache.
const PIECE_BYTES_MAX: usize = 512 * 1024;
/// What the system takes for a connection, in bytes, though the client reads nothing.
const SYSTEM_BYTES: usize = 8 * 1024 * 1024;
/// By how many bytes that were taken beyond that a piece gets one byte longer.
const GROWTH: usize = 16;
/// Pieces that may be made and not taken.
const UNTAKEN_PIECES: usize = 3;
/// A client that lets a piece wait for so long pauses.
const PAUSE: Duration = Duration::from_millis(100);
/// A larger buffer is not kept for another piece.
const KEPT_BYTES_MAX: usize = 1024 * 1024;
/// Buffers kept for other pieces.
const KEPT_MAX: usize = 4;

/// What a body is given.
#[derive(Debug)]
pub(super) enum Part {
    /// Some bytes of it.
    Bytes(Bytes),
    /// Its end, with what is said after it.
    End(Option<HeaderMap>),
    /// What it failed with, in place of its end.
    Failed(Error),
}

/// The side of a body where its pieces are put in. Dropping it without [`Outlet::end`] aborts the answer.
#[derive(Debug)]
pub(crate) struct Outlet {
    sender: UnboundedSender<Part>,
    home: UnboundedSender<Vec<u8>>,
    returned: UnboundedReceiver<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    untaken_bytes: usize,
    /// Bytes that were taken since the client last paused.
    run_bytes: usize,
}

/// The client took nothing for as long as the producer wanted to wait.
#[derive(Debug)]
pub(crate) struct Idle;

impl Outlet {
    /// An outlet, and the body that gives out what is put in; of `bytes` in all, where that is known.
    pub(crate) fn new(bytes: Option<u64>) -> (Self, Body) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let (home, returned) = mpsc::unbounded_channel();
        let outlet = Self { sender, home, returned, spare: Vec::new(), untaken_bytes: 0, run_bytes: 0 };
        let pieces =
            Pieces { receiver, first: None, failed: None, left: bytes, ended: false, flushed: false, turn: None };
        (outlet, Body::Stream(Box::new(pieces)))
    }

    /// An empty buffer for the next piece; one that was used before where there is one.
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.gather();
        self.spare.pop().unwrap_or_default()
    }

    /// How many bytes the next piece should have, about.
    pub(crate) fn piece_bytes(&self) -> usize {
        let grown = self.run_bytes.saturating_sub(SYSTEM_BYTES) / GROWTH;
        (PIECE_BYTES_MIN + grown).min(PIECE_BYTES_MAX)
    }

    /// Whether the client should take something before more is made than what is begun already, `begun_bytes`.
    pub(crate) fn is_full(&mut self, begun_bytes: usize) -> bool {
        self.gather();
        self.untaken_bytes + begun_bytes >= UNTAKEN_PIECES * self.piece_bytes()
    }

    /// Gives a piece away. It is up to the producer to ask for room before; nothing is refused here.
    pub(crate) fn send(&mut self, piece: Vec<u8>) {
        if piece.is_empty() {
            return self.keep(piece);
        }
        self.untaken_bytes += piece.len();
        let piece = Bytes::from_owner(Piece { bytes: piece, home: self.home.clone() });
        // Nobody is there any more when this fails, and the piece comes home by being dropped.
        let _ = self.sender.send(Part::Bytes(piece));
    }

    /// Waits until the client takes something, where the body is full.
    ///
    /// # Errors
    /// [`Idle`] when it took nothing for `patience`; waiting may go on.
    pub(crate) async fn room(&mut self, patience: Duration) -> Result<(), Idle> {
        self.below(UNTAKEN_PIECES, patience).await
    }

    /// Waits until the client has taken nearly everything, for a producer that does not begin again for less.
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

    /// Waits until the client has taken a piece. Losing the future loses nothing.
    pub(crate) async fn taken(&mut self) {
        // The outlet has a sender itself, so that there always is a next one.
        if let Some(buffer) = self.returned.recv().await {
            self.take_back(buffer);
        }
    }

    /// Waits until the client has left.
    pub(crate) fn left(&self) -> impl Future<Output = ()> + Send + 'static {
        let sender = self.sender.clone();
        async move { sender.closed().await }
    }

    /// Says, once the outlet is gone, what the body failed with.
    pub(super) fn failure(&self) -> impl FnOnce(Error) + Send + 'static {
        let sender = self.sender.clone();
        // Nobody is there any more when this fails.
        move |error| drop(sender.send(Part::Failed(error)))
    }

    /// Drops the buffers that are kept for other pieces.
    pub(crate) fn trim(&mut self) {
        self.gather();
        self.spare = Vec::new();
    }

    /// Ends the body, with what is to be said after it.
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
        if self.spare.len() < KEPT_MAX && buffer.capacity() <= KEPT_BYTES_MAX {
            buffer.clear();
            self.spare.push(buffer);
        }
    }
}

/// Bytes on their way out, whose buffer comes home when the last of them is gone.
struct Piece {
    bytes: Vec<u8>,
    home: UnboundedSender<Vec<u8>>,
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // The producer may be done and gone.
        let _ = self.home.send(std::mem::take(&mut self.bytes));
    }
}
