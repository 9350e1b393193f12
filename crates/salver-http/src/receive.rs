//! Receives request bodies.

mod body_buffer;
mod decompress;

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, Request, header};
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;
use salver_model::access::Bound;
use salver_model::limits::{RECEIVING_BYTES_FREE, UNREAD_BYTES_MAX, UNREAD_MS_MAX};
use salver_model::{Code, Error, Result, Share, Shares};

use crate::app::{App, RECEIVED_BYTES};
use crate::connections::{BodyWait, Connection};
use crate::offload::{self, INLINE_BYTES};
use crate::request_context::RequestContext;

pub(crate) use body_buffer::BodyBuffer;
pub(crate) use decompress::Unpacker;

/// The body of a request as it arrives. While no data arrives, its connection counts as waiting for its client.
///
/// A request can be answered before its body was read. Then some of the body is read all the same: a client that is
/// still sending would find its connection or stream reset, and never see the response.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// The rest of the body; `None` when there is nothing more to read.
    body: Option<hyper::body::Incoming>,
    waiting: BodyWait,
    /// Whether the client sends the body without waiting for 100 (Continue) (RFC 9110, section 10.1.1).
    comes_anyway: bool,
    /// Bytes that were received.
    bytes: u64,
    /// The bound on these for the caller, once it is known.
    bound: Option<Bound>,
    /// Whether the body exceeded it.
    is_over: bool,
}

/// The error of a body that can't be received.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// The body broke off or is malformed.
    Broken(hyper::Error),
    /// The body is larger than its caller may send.
    TooLarge(Bound),
}

impl BodyError {
    /// Returns the error for the client; a body that broke off has this `code`.
    pub(crate) fn into_error(self, code: Code) -> Error {
        match self {
            Self::Broken(error) => Error::new(code, "the body broke off or is malformed").with_source(error),
            Self::TooLarge(bound) => too_large_for(bound),
        }
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(error) => error.fmt(f),
            Self::TooLarge(_) => f.write_str("the body is too large"),
        }
    }
}

impl std::error::Error for BodyError {}

impl Incoming {
    /// Wraps the body of `request`, which arrived on `connection`; `is_asked_for` is set when the client waits for 100
    /// (Continue).
    pub(crate) fn of(
        request: Request<hyper::body::Incoming>,
        connection: &Arc<Connection>,
        is_asked_for: bool,
    ) -> Request<Self> {
        let comes_anyway = !request.body().is_end_stream() && !is_asked_for;
        let waiting = BodyWait::of(connection);
        request.map(|body| Self { body: Some(body), waiting, comes_anyway, bytes: 0, bound: None, is_over: false })
    }

    /// Bounds the bytes of the body to what its caller may send.
    pub(crate) fn within(&mut self, bound: Bound) {
        self.bound = bound.most().map(|_| bound);
    }

    /// Reads and discards the rest, up to a time limit and a number of bytes.
    async fn drain(mut body: hyper::body::Incoming) {
        let mut bytes = 0;
        let reading = async {
            while let Some(Ok(frame)) = body.frame().await {
                bytes += frame.data_ref().map_or(0, Bytes::len) as u64;
                if bytes > UNREAD_BYTES_MAX {
                    return;
                }
            }
        };
        // A client that sends more, or nothing, is cut off.
        let _ = tokio::time::timeout(Duration::from_millis(UNREAD_MS_MAX), reading).await;
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        let Some(body) = self.body.take().filter(|body| self.comes_anyway && !body.is_end_stream()) else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(Self::drain(body));
        }
    }
}

impl http_body::Body for Incoming {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(context);
        self.waiting.set(polled.is_pending());
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.bytes += frame.data_ref().map_or(0, Bytes::len) as u64;
            if let Some(bound) = self.bound.filter(|bound| bound.is_exceeded_by(self.bytes)) {
                self.is_over = true;
                return Poll::Ready(Some(Err(BodyError::TooLarge(bound))));
            }
        }
        polled.map(|frame| frame.map(|frame| frame.map_err(BodyError::Broken)))
    }

    fn is_end_stream(&self) -> bool {
        self.is_over || self.body.as_ref().is_none_or(hyper::body::Incoming::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or(SizeHint::with_exact(0), hyper::body::Incoming::size_hint)
    }
}

/// Refuses a body whose client declares more bytes than it may send, before any of it is read.
///
/// # Errors
/// `BodyTooLarge`.
pub(crate) fn check_declared(headers: &HeaderMap, bound: Bound) -> Result<()> {
    let is_over = bound.most().is_some() && declared(headers).is_some_and(|length| bound.is_exceeded_by(length));
    if is_over { Err(too_large_for(bound)) } else { Ok(()) }
}

fn declared(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Receives the whole body of a request, if it has one.
pub(crate) async fn whole<'a>(context: RequestContext<'a>, body: Incoming) -> Result<RequestContext<'a>> {
    if *context.method != Method::POST && *context.method != Method::PUT {
        return Ok(context);
    }
    let body = Box::pin(read_body(context.app, context.headers, body)).await?;
    Ok(context.with_body(body))
}

/// Receives the whole body, within the limits, and decompresses it.
pub(crate) async fn read_body(app: &App, headers: &HeaderMap, body: Incoming) -> Result<Bytes> {
    let unpacker = Unpacker::of(headers)?;
    let body = read_as_sent(app, headers, body).await?;
    match unpacker {
        Some(unpacker) => unpacked(unpacker, body, app.service.limits().body_bytes_max).await,
        None => Ok(body),
    }
}

/// Decompresses a body, piece by piece, which may have `bytes_max`.
async fn unpacked(mut unpacker: Unpacker, packed: Bytes, bytes_max: u64) -> Result<Bytes> {
    let mut body = BodyBuffer::default();
    unpacker.take(packed);
    loop {
        let most = body.len() + INLINE_BYTES;
        unpacker.unpack(&mut body, most)?;
        let is_done = body.len() < most;
        if is_done {
            unpacker.finish(&mut body)?;
        }
        if body.len() as u64 > bytes_max {
            return Err(too_large(bytes_max));
        }
        if is_done {
            return Ok(body.into_bytes());
        }
        offload::breathe(usize::MAX).await;
    }
}

/// Receives the whole body as it was sent, within the limits.
pub(crate) async fn read_as_sent(app: &App, headers: &HeaderMap, body: Incoming) -> Result<Bytes> {
    let bytes_max = app.service.limits().body_bytes_max;
    if declared(headers).is_some_and(|length| length > bytes_max) {
        return Err(too_large(bytes_max));
    }
    let ms_max = app.service.limits().head_ms_max;
    let mut receiving = pin!(receive(&app.receiving, body, bytes_max));
    // Most bodies arrive with their head, and need no timer.
    if let Poll::Ready(received) = futures::poll!(receiving.as_mut()) {
        return received;
    }
    match tokio::time::timeout(Duration::from_millis(ms_max), receiving).await {
        Err(_) => Err(Error::new(Code::InvalidBody, format!("the body did not arrive within {ms_max} ms"))
            .with_hint("send it faster, or raise `limits.head_ms_max`")),
        Ok(received) => received,
    }
}

/// Concatenates the frames; a single one is not copied.
async fn receive(places: &Arc<Shares>, mut body: Incoming, bytes_max: u64) -> Result<Bytes> {
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    let mut taken: Vec<Share> = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| error.into_error(Code::InvalidBody))?;
        // Trailers have no meaning here.
        let Ok(data) = frame.into_data() else { continue };
        let bytes = (first.len() + rest.len() + data.len()) as u64;
        if bytes > bytes_max {
            return Err(too_large(bytes_max));
        }
        while bytes > RECEIVING_BYTES_FREE && bytes > taken.len() as u64 * RECEIVED_BYTES {
            taken.push(places.try_take(body.waiting.holder()).ok_or_else(overloaded)?);
        }
        if first.is_empty() && rest.is_empty() {
            first = data;
        } else {
            // Empty when it is in `rest` already.
            rest.extend_from_slice(&std::mem::take(&mut first));
            rest.extend_from_slice(&data);
        }
    }
    Ok(if rest.is_empty() { first } else { rest.freeze() })
}

fn too_large(bytes_max: u64) -> Error {
    Error::new(Code::BodyTooLarge, format!("the body has more than {bytes_max} bytes"))
        .with_hint("send less, or raise `limits.body_bytes_max`")
}

fn too_large_for(bound: Bound) -> Error {
    bound
        .refuse(Code::BodyTooLarge, format!("the body has more than {} bytes", bound.value()))
        .with_hint(format!("send less; {} is the limit", bound.setting()))
}

fn overloaded() -> Error {
    Error::new(Code::Overloaded, "the bodies of other requests take all memory reserved for them")
        .with_hint("try again in a few seconds")
}
