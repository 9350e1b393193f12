//! An append whose body is there when the request is: taken by the thread that read it, without a task, a timer or a
//! copy. What it answers is what the general way answers.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{HeaderMap, Request, Response, header};
use http_body::Body as _;
use salver_model::Error;
use salver_model::spec::Pick;
use salver_model::streams::{Ack, Envelope, Framing};

use super::append::tally::Tally;
use super::append::{conclude, finished};
use super::problem;
use crate::app::App;
use crate::body::Body;
use crate::policy::Admitted;
use crate::receive::Incoming;

/// An append that says nothing but its events, and which stream it is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    stream: usize,
    ack: Ack,
}

/// How an append by [`Plan`] went.
pub(crate) enum Begun {
    /// It is answered.
    Answered(Response<Body>),
    /// The events are taken; the answer waits until they are safe.
    Settling(BoxFuture<'static, Response<Body>>),
    /// It is for the general way, with what was taken from its body.
    General(Option<Bytes>),
}

/// Bytes taken from the body of a request, which travel with it to the general way.
#[derive(Clone, Debug)]
pub(crate) struct Taken(pub(crate) Bytes);

impl Plan {
    /// The plan for an append to the stream called `name`, when it is let in and so plain that it can be taken at once.
    pub(crate) fn of<B>(app: &App, _: &Admitted, request: &Request<B>, name: &str) -> Option<Self> {
        let stream = app.service.streams().iter().position(|stream| stream.spec().name.as_str() == name)?;
        let spec = app.service.streams()[stream].spec();
        let picks_header = [&spec.key, &spec.id, &spec.time].iter().any(|pick| matches!(pick, Some(Pick::Header(_))));
        if picks_header || !is_plain(request.headers()) {
            return None;
        }
        let ack = match request.uri().query() {
            None | Some("") => spec.ack,
            Some("ack=memory") => Ack::Memory,
            Some("ack=disk") => Ack::Disk,
            Some("ack=broker") => Ack::Broker,
            Some(_) => return None,
        };
        Some(Self { stream, ack })
    }

    /// Takes the events when they are there.
    pub(crate) fn begin(self, app: &App, request: &mut Request<Incoming>, context: &mut Context<'_>) -> Begun {
        let body = request.body_mut();
        let data = match Pin::new(&mut *body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => data,
                Err(_) => return Begun::General(None),
            },
            Poll::Ready(Some(Err(error))) => {
                let broken = Error::new(salver_model::Code::InvalidBody, "the body broke off or is malformed");
                return Begun::Answered(problem::own(&broken.with_source(error)));
            }
            Poll::Ready(None) | Poll::Pending => return Begun::General(None),
        };
        if !body.is_end_stream() {
            return Begun::General(Some(data));
        }
        let stream = &app.service.streams()[self.stream];
        let mut framing = Framing::default();
        let envelope = Envelope { ack: self.ack, ..Envelope::default() };
        let append = || stream.append_text(&data, &mut framing, true, &envelope);
        let receipt = match std::panic::catch_unwind(AssertUnwindSafe(append)) {
            Ok(Ok(receipt)) => receipt,
            Ok(Err(error)) => return Begun::Answered(problem::own(&error)),
            Err(_) => return Begun::Answered(broken()),
        };
        let tally = Tally::of(receipt);
        if tally.is_empty() {
            // Nothing was in it, which the general way has words for.
            return Begun::General(Some(data));
        }
        if self.ack == Ack::Memory {
            return Begun::Answered(finished(self.ack, &tally, Ok(())));
        }
        let stream = Arc::clone(stream);
        let settling = async move { conclude(&stream, self.ack, tally, Ok(())).await };
        let settling = AssertUnwindSafe(settling).catch_unwind().map(|response| response.unwrap_or_else(|_| broken()));
        Begun::Settling(Box::pin(settling))
    }
}

/// Whether no header says anything about the events, or asks for more than an answer.
fn is_plain(headers: &HeaderMap) -> bool {
    headers.iter().all(|(name, value)| {
        if *name == header::CONTENT_TYPE {
            matches!(value.as_bytes(), b"application/json" | b"application/x-ndjson")
        } else if [header::CONTENT_ENCODING, header::ORIGIN, header::EXPECT].contains(name) {
            false
        } else {
            !name.as_str().starts_with("salver-")
        }
    })
}

fn broken() -> Response<Body> {
    let error = Error::internal("the server met a fault of its own while it took the events");
    problem::own(&error.with_hint("this is a bug; the server's log has the cause"))
}
