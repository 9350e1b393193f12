//! The fast path of an append whose body arrives with the request: handled on the thread that read it, without a task,
//! a timer or a copy. The response is that of the general path.

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{HeaderMap, Request, Response, header};
use http_body::Body as _;
use salver_model::access::Bound;
use salver_model::spec::Pick;
use salver_model::streams::{Ack, Envelope, Framing};
use salver_model::{Code, Error};
use salver_service::Appender;

use super::append::event_outcomes::Tally;
use super::append::{conclude, finished};
use crate::app::App;
use crate::body::Body;
use crate::dialect::Refusal;
use crate::policy::Admitted;
use crate::receive::Incoming;

/// An append without parameters other than `ack`, and its stream.
#[derive(Clone, Debug)]
pub(crate) struct AppendPlan {
    stream: Appender,
    ack: Ack,
    /// Bound on the bytes of the body.
    bound: Bound,
}

/// The state of an append by [`AppendPlan`].
pub(crate) enum AppendState {
    /// The answer is complete.
    Answered(Result<Response<Body>, Refusal>),
    /// The events are appended; the response waits until they are durable.
    Settling(BoxFuture<'static, Result<Response<Body>, Refusal>>),
    /// The request needs the general path, with the bytes that were read from its body.
    General(Option<Bytes>),
}

/// Bytes read from the body of a request, which are passed to the general path with it.
#[derive(Clone, Debug)]
pub(crate) struct Taken(pub(crate) Bytes);

impl AppendPlan {
    /// Returns the plan for an append to the stream called `name`, if it is admitted and simple enough for the fast
    /// path.
    pub(crate) fn of<B>(app: &App, admitted: &Admitted, request: &Request<B>, name: &str) -> Option<Self> {
        // A stream that is unknown or not open is refused by the general path.
        let stream = app.service.appender(admitted.caller(), name).ok()?;
        let spec = stream.spec();
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
        Some(Self { stream: stream.clone(), ack, bound: admitted.caller().limits.body_bytes() })
    }

    /// Appends the events if the whole body has arrived.
    pub(crate) fn begin(self, request: &mut Request<Incoming>, context: &mut Context<'_>) -> AppendState {
        let body = request.body_mut();
        body.within(self.bound);
        let data = match Pin::new(&mut *body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => data,
                Err(_) => return AppendState::General(None),
            },
            Poll::Ready(Some(Err(error))) => {
                return AppendState::Answered(Err(error.into_error(Code::InvalidBody).into()));
            }
            Poll::Ready(None) | Poll::Pending => return AppendState::General(None),
        };
        if !body.is_end_stream() {
            return AppendState::General(Some(data));
        }
        let mut framing = Framing::default();
        let envelope = Envelope { ack: self.ack, ..Envelope::default() };
        let append = || self.stream.append_text(&data, &mut framing, true, &envelope);
        let receipt = match std::panic::catch_unwind(AssertUnwindSafe(append)) {
            Ok(Ok(receipt)) => receipt,
            Ok(Err(error)) => return AppendState::Answered(Err(error.into())),
            Err(_) => return AppendState::Answered(Err(broken())),
        };
        let tally = Tally::of(receipt);
        if tally.is_empty() {
            // An empty body is an error, which the general path reports.
            return AppendState::General(Some(data));
        }
        if self.ack == Ack::Memory {
            return AppendState::Answered(finished(self.ack, &tally, Ok(())));
        }
        let settling = async move { conclude(&self.stream, self.ack, tally, Ok(())).await };
        let settling =
            AssertUnwindSafe(settling).catch_unwind().map(|answered| answered.unwrap_or_else(|_| Err(broken())));
        AppendState::Settling(Box::pin(settling))
    }
}

/// Returns whether no header affects the events or requires more than a response.
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

fn broken() -> Refusal {
    let error = Error::internal("the server failed while it appended the events");
    error.with_hint("this is a bug; the server's log has the cause").into()
}
