//! Complete responses while their clients take them. Their memory is charged to the client, so that no client fills the
//! memory with responses that it does not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, Version};
use salver_model::limits::{HELD_ANSWERS_BYTES_MIN, HELD_BYTES_FREE, HELD_BYTES_FREE_OF_STREAM, STALL_MS_MAX};
use salver_model::{Code, Error, Holder, Limits, Result, Share, Shares};

use crate::body::{self, Body, Broken, Idle};
use crate::connections::Connection;

/// Unit in which responses are counted, in bytes.
const HELD_BYTES: usize = 16 * 1024;

/// Memory budget for responses that were not taken yet, which callers share.
#[derive(Debug)]
pub(crate) struct Answers {
    places: Arc<Shares>,
    /// Set when a response was sent for which there was no room.
    are_full: AtomicBool,
}

impl Answers {
    pub(crate) fn new(limits: &Limits) -> Self {
        let bytes = HELD_ANSWERS_BYTES_MIN.max(limits.memory_bytes_max / 4);
        let count = usize::try_from(bytes).unwrap_or(usize::MAX / 4) / HELD_BYTES;
        Self { places: Shares::new("untaken answers (16 KiB)", count), are_full: AtomicBool::new(false) }
    }

    /// Reserves `bytes` bytes for `holder`; `None` where they are too few to be counted.
    ///
    /// # Errors
    /// `Overloaded`.
    pub(crate) fn take(&self, holder: &Holder, bytes: usize) -> Result<Option<Share>> {
        if bytes <= HELD_BYTES_FREE {
            return Ok(None);
        }
        self.places.try_take_many(holder, bytes.div_ceil(HELD_BYTES)).map(Some).ok_or_else(overloaded)
    }

    /// Returns the shares, which know what each holder has taken.
    pub(crate) fn places(&self) -> &Arc<Shares> {
        &self.places
    }
}

fn overloaded() -> Error {
    Error::new(Code::Overloaded, "responses that clients do not read fill the memory reserved for them")
        .with_hint("take answers as they come, or try again in a few seconds")
}

/// Marks a response that may be discarded for an error, because its request changed nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeatable;

/// The properties of a request that decide how its response may be held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ResponseTraits {
    /// Whether the method is read-only.
    reads: bool,
    /// Whether the response is one of several concurrent streams of a connection, each with its own flow control.
    is_stream: bool,
    /// Whether the response has a body.
    has_body: bool,
}

impl ResponseTraits {
    /// Extracts them from `request`.
    pub(crate) fn of<B>(request: &Request<B>) -> Self {
        Self {
            reads: *request.method() == Method::GET,
            is_stream: request.version() >= Version::HTTP_2,
            has_body: *request.method() != Method::HEAD,
        }
    }

    /// Checks that there is room for a response. A read is checked when its response is there; a request that may
    /// change something, before it begins.
    ///
    /// # Errors
    /// `Overloaded`.
    #[inline]
    pub(crate) fn admit(self, answers: &Answers, connection: &Connection) -> Result<()> {
        if self.reads || !answers.are_full.load(Relaxed) {
            return Ok(());
        }
        answers.places.try_take(connection.holder()).ok_or_else(overloaded)?;
        answers.are_full.store(false, Relaxed);
        Ok(())
    }

    /// Returns whether a response is large enough to be counted; the caller must then call [`ResponseTraits::hold`].
    #[inline]
    pub(crate) fn counts(self, response: &Response<Body>) -> bool {
        let free = if self.is_stream { HELD_BYTES_FREE_OF_STREAM } else { HELD_BYTES_FREE };
        matches!(response.body(), Body::Full(bytes) if bytes.len() > free) && self.has_body
    }

    /// Charges the response to its client until it is taken. If there is no memory for it and the request changed
    /// nothing, an error is returned instead.
    ///
    /// # Errors
    /// `Overloaded`.
    pub(crate) fn hold(
        self,
        answers: &Answers,
        connection: &Connection,
        mut response: Response<Body>,
    ) -> Result<Response<Body>> {
        let Body::Full(bytes) = response.body() else { return Ok(response) };
        let bytes = bytes.clone();
        let (places, holder, count) = (&answers.places, connection.holder(), bytes.len().div_ceil(HELD_BYTES));
        let mut share = places.try_take_many(holder, count);
        if share.is_none() {
            if self.reads || response.extensions().get::<Repeatable>().is_some() {
                return Err(overloaded());
            }
            // It is sent, since it may be the only report of a change, and counted as far as there is room.
            answers.are_full.store(true, Relaxed);
            let halves = std::iter::successors(Some(count / 2), |half| Some(half / 2).filter(|half| *half > 0));
            share = halves.filter(|half| *half > 0).find_map(|half| places.try_take_many(holder, half));
        }
        let bytes = Bytes::from_owner(Held { bytes, _share: share });
        *response.body_mut() = if self.is_stream { paced(bytes) } else { Body::Full(bytes) };
        Ok(response)
    }
}

/// Bytes that are counted until they are dropped.
struct Held {
    bytes: Bytes,
    _share: Option<Share>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns a body that is aborted when its client takes nothing for too long. On a connection with one response at a
/// time, the system closes the connection in that case; with many streams the connection lives on.
fn paced(bytes: Bytes) -> Body {
    body::made(
        Some(bytes.len() as u64),
        |_| {},
        move |mut outlet| async move {
            let mut left = &bytes[..];
            while !left.is_empty() {
                outlet.room(Duration::from_millis(STALL_MS_MAX)).await.map_err(|Idle| Broken::Gone)?;
                let (piece, rest) = left.split_at(outlet.piece_bytes().min(left.len()));
                let mut buffer = outlet.buffer();
                buffer.extend_from_slice(piece);
                outlet.send(buffer);
                left = rest;
            }
            outlet.end(None);
            Ok(())
        },
    )
}
