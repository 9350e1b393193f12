//! Answers that are whole while their clients take them: counted for who asked, so that nobody fills the memory with
//! answers that are not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, Version};
use salver_model::limits::{HELD_ANSWERS_BYTES_MIN, HELD_BYTES_FREE, HELD_BYTES_FREE_OF_STREAM, STALL_MS_MAX};
use salver_model::{Code, Error, Holder, Limits, Result, Share, Shares};

use crate::body::{self, Body, Broken, Idle};
use crate::connections::Connection;

/// What is counted of an answer, in bytes.
const HELD_BYTES: usize = 16 * 1024;

/// Memory that callers share for answers that they have not taken yet.
#[derive(Debug)]
pub(crate) struct Answers {
    places: Arc<Shares>,
    /// Somebody was given an answer for which there was no room.
    are_full: AtomicBool,
}

impl Answers {
    pub(crate) fn new(limits: &Limits) -> Self {
        let bytes = HELD_ANSWERS_BYTES_MIN.max(limits.memory_bytes_max / 4);
        let count = usize::try_from(bytes).unwrap_or(usize::MAX / 4) / HELD_BYTES;
        Self { places: Shares::new("untaken answers (16 KiB)", count), are_full: AtomicBool::new(false) }
    }

    /// Room for so many bytes of `holder`; `None` where they are too few to be counted.
    ///
    /// # Errors
    /// `Overloaded`.
    pub(crate) fn take(&self, holder: &Holder, bytes: usize) -> Result<Option<Share>> {
        if bytes <= HELD_BYTES_FREE {
            return Ok(None);
        }
        self.places.try_take_many(holder, bytes.div_ceil(HELD_BYTES)).map(Some).ok_or_else(overloaded)
    }

    /// What is taken, and by whom.
    pub(crate) fn places(&self) -> &Arc<Shares> {
        &self.places
    }
}

fn overloaded() -> Error {
    Error::new(Code::Overloaded, "answers that nobody takes fill the memory there is for them")
        .with_hint("take answers as they come, or try again in a few seconds")
}

/// Says of an answer that it may be refused although it is there: nothing was changed for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeatable;

/// What of a request says how its answer may be held.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Whether it only reads, as far as its method says.
    reads: bool,
    /// Whether its answer is sent beside others, each at its client's pace.
    is_stream: bool,
    /// Whether its answer has a body.
    has_body: bool,
}

impl Asked {
    /// What `request` says.
    pub(crate) fn of<B>(request: &Request<B>) -> Self {
        Self {
            reads: *request.method() == Method::GET,
            is_stream: request.version() >= Version::HTTP_2,
            has_body: *request.method() != Method::HEAD,
        }
    }

    /// That there is room for an answer. What only reads is looked at when its answer is there; what may change
    /// something, before it is begun.
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

    /// Whether an answer is so large that it is counted: then [`Asked::hold`] is to be asked.
    #[inline]
    pub(crate) fn counts(self, response: &Response<Body>) -> bool {
        let free = if self.is_stream { HELD_BYTES_FREE_OF_STREAM } else { HELD_BYTES_FREE };
        matches!(response.body(), Body::Full(bytes) if bytes.len() > free) && self.has_body
    }

    /// The answer, counted until it is taken. An answer that nothing was changed for becomes an error where there is no
    /// memory for it.
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
            // It is given, since it may be all that tells of a change, and counted as far as there is room.
            answers.are_full.store(true, Relaxed);
            let halves = std::iter::successors(Some(count / 2), |half| Some(half / 2).filter(|half| *half > 0));
            share = halves.filter(|half| *half > 0).find_map(|half| places.try_take_many(holder, half));
        }
        let bytes = Bytes::from_owner(Held { bytes, _share: share });
        *response.body_mut() = if self.is_stream { paced(bytes) } else { Body::Full(bytes) };
        Ok(response)
    }
}

/// Bytes that are counted as long as somebody has them.
struct Held {
    bytes: Bytes,
    _share: Option<Share>,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// A body that is broken off when its client takes nothing for too long. A connection with one answer at a time is
/// closed by the system then; one of many streams lives on.
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
