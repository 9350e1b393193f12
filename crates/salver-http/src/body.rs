//! The body of an answer: finished bytes, or encoded while it is sent, in bounded memory.
//!
//! Who has rows gives a [`Source`] to [`rows`], and is told to park it when the client has taken nothing for a second
//! or so. Who makes bytes takes an [`Outlet`]: [`Outlet::buffer`] for an empty buffer, [`Outlet::room`] before more is
//! made, which tells [`Idle`] when the client took nothing for as long as one wants to wait, [`Outlet::send`],
//! [`Outlet::end`].

mod budget;
mod outlet;
mod produce;
mod source;
#[cfg(test)]
mod tests;
mod turns;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use futures::StreamExt;
use http_body::{Frame, SizeHint};
use salver_formats::{Coding, Compressor, Format, Style};
use salver_model::limits::STALL_MS_MAX;
use salver_model::records::DocumentStream;
use salver_model::reply::BatchStream;
use salver_model::{Error, Result, Share};
use tokio::sync::mpsc;

use crate::connections::Turn;

use budget::Budget;
pub(crate) use outlet::{Idle, Outlet};
use source::Batches;
pub(crate) use source::Source;
pub(crate) use turns::off_the_loop;

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Body {
    /// All bytes at hand.
    Full(Bytes),
    /// Bytes as they are made; an error aborts the connection, so that a cut answer never looks complete. Boxed, since
    /// a body is moved from hand to hand and most are at hand.
    Stream(Box<Pieces>),
}

/// Hears of an error in the middle of a body.
type Failed = Box<dyn FnOnce(&Error) + Send>;

/// The pieces of a body. Its end must be said: an outlet that goes away without it means that the work was cut off.
pub(crate) struct Pieces {
    receiver: mpsc::UnboundedReceiver<outlet::Part>,
    /// What was received to see whether the body begins.
    first: Option<outlet::Part>,
    failed: Option<Failed>,
    /// How many bytes are still to come, where that is known.
    left: Option<u64>,
    ended: bool,
    /// Whether what came before the end was given a moment to go out.
    flushed: bool,
    /// The request they answer, once it is on its way.
    turn: Option<Turn>,
}

impl Pieces {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Aborted>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let polled = match self.first.take() {
            Some(first) => Poll::Ready(Some(first)),
            None => self.receiver.poll_recv(context),
        };
        if let Some(turn) = &mut self.turn {
            if polled.is_pending() { turn.work() } else { turn.wait() }
        }
        let is_broken = matches!(polled, Poll::Ready(Some(outlet::Part::Failed(_)) | None));
        if is_broken && !std::mem::replace(&mut self.flushed, true) {
            // A connection that breaks off takes along what it has not sent, which may be the head of the answer.
            if let Poll::Ready(part) = polled {
                self.first = part;
            }
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        polled.map(|received| match received {
            Some(outlet::Part::Bytes(bytes)) => {
                self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
                Some(Ok(Frame::data(bytes)))
            }
            Some(outlet::Part::End(trailers)) => {
                self.ended = true;
                trailers.map(|trailers| Ok(Frame::trailers(trailers)))
            }
            Some(outlet::Part::Failed(error)) => {
                self.ended = true;
                if let Some(failed) = self.failed.take() {
                    failed(&error);
                }
                Some(Err(Aborted))
            }
            None => {
                self.ended = true;
                Some(Err(Aborted))
            }
        })
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").field("left", &self.left).field("ended", &self.ended).finish_non_exhaustive()
    }
}

/// The answer broke off after its head was sent.
#[derive(Debug)]
pub(crate) struct Aborted;

impl fmt::Display for Aborted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer broke off")
    }
}

impl std::error::Error for Aborted {}

impl Body {
    /// Waits until the first piece is there, so that what fails before it can still be answered as what it is.
    ///
    /// # Errors
    /// What the body failed with.
    pub(crate) async fn begun(&mut self) -> Result<()> {
        let Self::Stream(pieces) = self else { return Ok(()) };
        match pieces.receiver.recv().await {
            Some(outlet::Part::Failed(error)) => Err(error),
            None => Err(Error::internal("the answer ended before it began")),
            first => {
                pieces.first = first;
                Ok(())
            }
        }
    }

    /// Says which request this answers, for as long as it is being sent.
    pub(crate) fn belongs_to(&mut self, turn: Option<Turn>) {
        if let Self::Stream(pieces) = self {
            pieces.turn = turn;
        }
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Aborted;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match &mut *self {
            Self::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Stream(pieces) => pieces.poll(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Full(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Stream(pieces) => pieces.left.map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}

/// How rows become bytes for one answer.
#[derive(Clone, Debug)]
pub(crate) struct Encoding {
    /// The format.
    pub(crate) format: Format,
    /// Its style.
    pub(crate) style: Style,
    /// The compression.
    pub(crate) coding: Coding,
    /// How many milliseconds of work it may take; 0 for any number.
    pub(crate) ms_max: u64,
}

/// A body that encodes `head`, which may be counted in a `share`, and then `rest` while it is sent. `failed` hears of
/// an error in the middle.
pub(crate) fn stream(
    schema: SchemaRef,
    head: Vec<RecordBatch>,
    rest: Option<BatchStream>,
    share: Option<Share>,
    encoding: Encoding,
    failed: impl FnOnce(&Error) + Send + 'static,
) -> Body {
    rows(schema, Batches { head: head.into_iter(), rest, _share: share }, encoding, failed)
}

/// A body that encodes the rows of `source` while it is sent, and parks it while the client takes nothing. `failed`
/// hears of an error in the middle.
pub(crate) fn rows(
    schema: SchemaRef,
    source: impl Source,
    encoding: Encoding,
    failed: impl FnOnce(&Error) + Send + 'static,
) -> Body {
    made(None, failed, |outlet| async move { produce::produce(schema, source, &encoding, outlet).await })
}

/// A body of pieces that are text already, which may take `ms_max` milliseconds to make; 0 for any number. `failed`
/// hears of an error in the middle.
pub(crate) fn pieces(
    mut texts: DocumentStream,
    coding: Coding,
    ms_max: u64,
    failed: impl FnOnce(&Error) + Send + 'static,
) -> Body {
    made(None, failed, move |mut outlet| async move {
        let patience = Duration::from_millis(STALL_MS_MAX);
        let mut compressor = compressor(coding)?;
        let mut budget = Budget::of(ms_max);
        loop {
            outlet.room(patience).await.map_err(|Idle| Broken::Gone)?;
            // The texts bring buffers of their own.
            outlet.trim();
            let begun = Instant::now();
            let Some(text) = texts.next().await else { break };
            let made = begun.elapsed();
            outlet.send(match &mut compressor {
                Some(compressor) => compressor.write(&text?, false)?,
                None => text?,
            });
            budget.spend(made)?;
        }
        if let Some(compressor) = compressor {
            outlet.send(compressor.finish()?);
        }
        outlet.end(None);
        Ok(())
    })
}

/// A body that a task of its own makes, of `bytes` bytes where that is known. A client that leaves takes the work
/// along; `failed` hears of an error in the middle, which aborts the answer.
pub(crate) fn made<F>(
    bytes: Option<u64>,
    failed: impl FnOnce(&Error) + Send + 'static,
    make: impl FnOnce(Outlet) -> F,
) -> Body
where
    F: Future<Output = Result<(), Broken>> + Send + 'static,
{
    let (outlet, mut body) = Outlet::new(bytes);
    if let Body::Stream(pieces) = &mut body {
        pieces.failed = Some(Box::new(failed));
    }
    let (left, failure) = (outlet.left(), outlet.failure());
    let making = make(outlet);
    tokio::spawn(async move {
        // Also when it leaves between two pieces.
        let outcome = tokio::select! {
            outcome = making => outcome,
            () = left => return,
        };
        if let Err(Broken::Failed(error)) = outcome {
            failure(error);
        }
    });
    body
}

/// Why a body is not completed.
pub(crate) enum Broken {
    /// Something went wrong.
    Failed(Error),
    /// The client stopped to read: nobody's error.
    Gone,
}

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What packs a body, unless it goes out as it is.
pub(crate) fn compressor(coding: Coding) -> Result<Option<Compressor>> {
    (coding != Coding::Identity).then(|| Compressor::new(coding)).transpose()
}
