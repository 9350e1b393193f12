//! The body of an answer with rows: messages of gRPC ([its protocol over HTTP/2]), in which the rows stay where they
//! lie. The body that the generated service makes would copy them twice: into a message, and with it into memory that
//! is new each time.
//!
//! A method of the service can only give whole messages. So it gives none, and leaves the rows with its response, for
//! whoever has the response of the call ([`with_rows`]).
//!
//! [its protocol over HTTP/2]: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use arrow_flight::FlightData;
use bytes::Bytes;
use futures::{Stream, stream};
use http::{HeaderMap, HeaderValue, Response};
use hyper::body::{Body, Frame};
use tonic::{Code, Status};

use super::row_message::RowMessage;

/// Messages for a client.
pub(super) type Messages = Pin<Box<dyn Stream<Item = Result<RowMessage, Status>> + Send>>;

/// Messages as the generated service has them.
pub(super) type WholeMessages = Pin<Box<dyn Stream<Item = Result<FlightData, Status>> + Send>>;

/// Rows that wait in a response for their body.
#[derive(Clone)]
struct Left(Arc<Mutex<Option<Messages>>>);

/// Returns a response of the service that leaves its rows for [`with_rows`].
pub(super) fn leave(rows: Messages) -> tonic::Response<WholeMessages> {
    let mut response = tonic::Response::from(Box::pin(stream::empty()) as WholeMessages);
    response.extensions_mut().insert(Left(Arc::new(Mutex::new(Some(rows)))));
    response
}

/// Returns the response with the rows that were left in it as its body.
pub(super) fn with_rows(mut response: Response<tonic::body::Body>) -> Response<tonic::body::Body> {
    let left = response.extensions_mut().remove::<Left>();
    match left.and_then(|Left(rows)| rows.lock().unwrap_or_else(PoisonError::into_inner).take()) {
        Some(rows) => response.map(|_| tonic::body::Body::new(RowBody::new(rows))),
        None => response,
    }
}

struct RowBody {
    rows: Messages,
    /// The pieces of the message that is being sent.
    pieces: VecDeque<Bytes>,
    has_ended: bool,
}

impl RowBody {
    fn new(rows: Messages) -> Self {
        Self { rows, pieces: VecDeque::new(), has_ended: false }
    }

    /// Ends the body with this status.
    fn end(&mut self, status: &Status) -> Frame<Bytes> {
        self.has_ended = true;
        let mut trailers = HeaderMap::new();
        if status.add_header(&mut trailers).is_err() {
            trailers.insert(Status::GRPC_STATUS, HeaderValue::from(Code::Internal as i32));
        }
        Frame::trailers(trailers)
    }
}

impl Body for RowBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            if self.has_ended {
                return Poll::Ready(None);
            }
            match ready!(self.rows.as_mut().poll_next(context)) {
                Some(Ok(message)) => self.pieces.extend(message.pieces()),
                Some(Err(status)) => return Poll::Ready(Some(Ok(self.end(&status)))),
                None => return Poll::Ready(Some(Ok(self.end(&Status::ok(""))))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.has_ended
    }
}
