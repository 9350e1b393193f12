//! Response bodies: finished bytes, or bytes that are encoded while they are sent, in bounded memory.
//!
//! A producer of rows passes a [`BodySource`] to [`rows`]; the source is parked when the client has taken nothing for
//! about a second. A producer of bytes uses an [`Outlet`]: [`Outlet::buffer`] returns an empty buffer, [`Outlet::room`]
//! applies backpressure before more is produced and returns [`Idle`] when the client took nothing within the timeout;
//! then [`Outlet::send`] and [`Outlet::end`].

mod body_sink;
mod budget;
mod cpu_pool;
mod produce;
mod send_watch;
mod source;
#[cfg(test)]
mod tests;

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
use salver_model::access::Bound;
use salver_model::limits::STALL_MS_MAX;
use salver_model::records::DocumentStream;
use salver_model::reply::BatchStream;
use salver_model::{Error, Result, Share};
use tokio::sync::mpsc;

use crate::caller_accounts::RunningRequest;
use crate::connections::Turn;

pub(crate) use body_sink::{Idle, Outlet};
use budget::BodyBudget;
pub(crate) use cpu_pool::off_the_loop;
pub(crate) use send_watch::SendWatch;
use source::Batches;
pub(crate) use source::BodySource;

/// The body of a response.
#[derive(Debug)]
pub(crate) enum Body {
    /// A complete body.
    Full(Bytes),
    /// A body that is produced while it is sent. An error aborts the connection, so that a truncated response never
    /// looks complete. Boxed, since bodies are moved a lot and most of them are complete.
    Stream(Box<Pieces>),
}

/// Callback for an error in the middle of a body.
type Failed = Box<dyn FnOnce(&Error) + Send>;

/// The pieces of a body. The end must be explicit: an outlet that is dropped without it means that the work was
/// aborted.
pub(crate) struct Pieces {
    receiver: mpsc::UnboundedReceiver<body_sink::Part>,
    /// First part, received early to find out whether the body begins.
    first: Option<body_sink::Part>,
    failed: Option<Failed>,
    /// Bytes still to come, where that is known.
    left: Option<u64>,
    ended: bool,
    /// Whether the parts before the end had a chance to be flushed.
    flushed: bool,
    /// The request that the body answers, once it is being sent.
    turn: Option<Turn>,
    /// The same request among those of its caller, where these are limited.
    running: Option<RunningRequest>,
    /// Bound on the bytes, and how many of them may still be sent.
    bound: Option<(Bound, u64)>,
    /// Notices how the sending ends.
    watch: Option<Box<SendWatch>>,
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
        let polled = polled.map(|part| self.bounded(part));
        if let Some(turn) = &mut self.turn {
            if polled.is_pending() { turn.work() } else { turn.wait() }
        }
        let is_broken = matches!(polled, Poll::Ready(Some(body_sink::Part::Failed(_)) | None));
        if is_broken && !std::mem::replace(&mut self.flushed, true) {
            // A connection that breaks off discards its unsent data, which may include the head of the response.
            if let Poll::Ready(part) = polled {
                self.first = part;
            }
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        polled.map(|received| match received {
            Some(body_sink::Part::Bytes(bytes)) => {
                self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
                Some(Ok(Frame::data(bytes)))
            }
            Some(body_sink::Part::End(trailers)) => {
                self.end(true);
                trailers.map(|trailers| Ok(Frame::trailers(trailers)))
            }
            Some(body_sink::Part::Failed(error)) => {
                self.end(false);
                if let Some(failed) = self.failed.take() {
                    failed(&error);
                }
                Some(Err(Aborted))
            }
            None => {
                self.end(false);
                Some(Err(Aborted))
            }
        })
    }

    /// Ends the body, which is whole or was broken off.
    fn end(&mut self, is_whole: bool) {
        self.ended = true;
        if let Some(watch) = &mut self.watch {
            watch.over(is_whole);
        }
    }
}

impl Pieces {
    /// Returns an error instead of a part that is too much.
    fn bounded(&mut self, part: Option<body_sink::Part>) -> Option<body_sink::Part> {
        let (Some((bound, left)), Some(body_sink::Part::Bytes(bytes))) = (self.bound, &part) else { return part };
        if let Some(left) = left.checked_sub(bytes.len() as u64) {
            self.bound = Some((bound, left));
            return part;
        }
        // The server did nothing wrong, so that there is nothing to report.
        self.failed = None;
        Some(body_sink::Part::Failed(bound.refuse_answer()))
    }
}

impl fmt::Debug for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pieces").field("left", &self.left).field("ended", &self.ended).finish_non_exhaustive()
    }
}

/// The error of a response that broke off after its head was sent.
#[derive(Debug)]
pub(crate) struct Aborted;

impl fmt::Display for Aborted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer broke off")
    }
}

impl std::error::Error for Aborted {}

impl Body {
    /// Waits for the first piece, so that an error before it can still be sent as an error response.
    ///
    /// # Errors
    /// The error that the body failed with.
    pub(crate) async fn begun(&mut self) -> Result<()> {
        let Self::Stream(pieces) = self else { return Ok(()) };
        match pieces.receiver.recv().await {
            Some(body_sink::Part::Failed(error)) => Err(error),
            None => Err(Error::internal("the answer ended before it began")),
            first => {
                pieces.first = first;
                Ok(())
            }
        }
    }

    /// Bounds the bytes of the body. A body that is complete stays so if it is the only report of a change.
    ///
    /// # Errors
    /// `AnswerTooLarge` for a body that is known to be larger.
    pub(crate) fn bound(&mut self, bound: Bound, is_repeatable: bool) -> Result<()> {
        let Some(most) = bound.most() else { return Ok(()) };
        let bytes = match self {
            Self::Full(bytes) => Some(bytes.len() as u64).filter(|_| is_repeatable),
            Self::Stream(pieces) => {
                pieces.bound = Some((bound, most));
                // The first piece may tell it already, before the head is sent.
                let first = match &pieces.first {
                    Some(body_sink::Part::Bytes(bytes)) => Some(bytes.len() as u64),
                    _ => None,
                };
                pieces.left.or(first)
            }
        };
        if bytes.is_some_and(|bytes| bytes > most) { Err(bound.refuse_answer()) } else { Ok(()) }
    }

    /// Counts the request among those of its caller for as long as the body is being sent.
    pub(crate) fn counts_as(&mut self, running: Option<RunningRequest>) {
        if let Self::Stream(pieces) = self {
            pieces.running = running;
        }
    }

    /// Sets who notices how the sending ends.
    pub(crate) fn is_watched_by(&mut self, watch: SendWatch) {
        if let Self::Stream(pieces) = self {
            pieces.watch = Some(Box::new(watch));
        }
    }

    /// Sets the request that the body answers, for as long as it is being sent.
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

/// Parameters of the encoding of rows for one response.
#[derive(Clone, Debug)]
pub(crate) struct Encoding {
    /// Format of the rows.
    pub(crate) format: Format,
    /// Style of the format.
    pub(crate) style: Style,
    /// Content coding of the body.
    pub(crate) coding: Coding,
    /// Time of work that the encoding may take; `None` for any.
    pub(crate) time: Option<Bound>,
}

/// Returns a body that encodes `head`, whose memory `share` may account for, and then `rest` while it is sent. `failed`
/// is called for an error in the middle.
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

/// Returns a body that encodes the rows of `source` while it is sent, and parks the source while the client takes
/// nothing. `failed` is called for an error in the middle.
pub(crate) fn rows(
    schema: SchemaRef,
    source: impl BodySource,
    encoding: Encoding,
    failed: impl FnOnce(&Error) + Send + 'static,
) -> Body {
    made(None, failed, |outlet| async move { produce::produce(schema, source, &encoding, outlet).await })
}

/// Returns a body of pieces of text, which may take this `time` to produce, or any. `failed` is called for an error in
/// the middle.
pub(crate) fn pieces(
    mut texts: DocumentStream,
    coding: Coding,
    time: Option<Bound>,
    failed: impl FnOnce(&Error) + Send + 'static,
) -> Body {
    made(None, failed, move |mut outlet| async move {
        let patience = Duration::from_millis(STALL_MS_MAX);
        let mut compressor = compressor(coding)?;
        let mut budget = BodyBudget::of(time);
        loop {
            outlet.room(patience).await.map_err(|Idle| Broken::Gone)?;
            // The texts come with buffers of their own.
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

/// Returns a body that a spawned task produces, of `bytes` bytes where that is known. The task is cancelled when the
/// client disconnects; `failed` is called for an error in the middle, which aborts the response.
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
        // The client may also disconnect between two pieces.
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

/// The reason why a body is not completed.
pub(crate) enum Broken {
    /// An error of the producer.
    Failed(Error),
    /// The client stopped reading, which is not an error.
    Gone,
}

impl From<Error> for Broken {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Returns the compressor for a content coding; `None` for identity.
pub(crate) fn compressor(coding: Coding) -> Result<Option<Compressor>> {
    (coding != Coding::Identity).then(|| Compressor::new(coding)).transpose()
}
