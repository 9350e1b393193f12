//! A request that is being answered: it is counted, logged and traced when its response is ready, or when its client
//! has left before.

use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderMap, Method, Response, StatusCode, Version};
use salver_model::trace::{SpanContext, SpanKind};
use salver_service::trace::ActiveSpan;

use crate::app::App;
use crate::body::{Body, SendWatch};
use crate::dialect::Refusal;
use crate::metrics::{self, CLIENT_LEFT, Timer};
use crate::peer::Peer;
use crate::policy::Admission;
use crate::request_record::RequestRecord;
use crate::{routes, tokens};

/// Header with the span that a request is a part of (<https://www.w3.org/TR/trace-context/>).
const TRACE_PARENT: &str = "traceparent";
/// Header with what other systems say of its trace.
const TRACE_STATE: &str = "tracestate";

/// Begins the span of a request, if there is a tracer and it records the request.
pub(crate) fn begin_span(app: &App, headers: &HeaderMap) -> Option<ActiveSpan> {
    let tracer = app.options.tracer.as_ref()?;
    ActiveSpan::of_request(tracer, span_of_client(headers))
}

/// Returns the span that the client names, if it names one.
fn span_of_client(headers: &HeaderMap) -> Option<SpanContext> {
    let mut named = headers.get_all(TRACE_PARENT).iter();
    let (Some(named), None) = (named.next(), named.next()) else { return None };
    let context: SpanContext = named.to_str().ok()?.trim().parse().ok()?;
    let lines: Vec<&str> = headers.get_all(TRACE_STATE).iter().filter_map(|line| line.to_str().ok()).collect();
    Some(context.with_state(&lines.join(",")))
}

/// A request that is being answered.
pub(crate) struct OpenRequest<'a> {
    app: &'a App,
    pub(crate) record: &'a RequestRecord,
    head: &'a Parts,
    peer: &'a Peer,
    timer: Timer,
    span: Option<ActiveSpan>,
    is_answered: bool,
}

impl<'a> OpenRequest<'a> {
    /// Opens the request that began with `timer`.
    pub(crate) fn new(
        app: &'a App,
        record: &'a RequestRecord,
        (head, peer): (&'a Parts, &'a Peer),
        timer: Timer,
        span: Option<ActiveSpan>,
    ) -> Self {
        Self { app, record, head, peer, timer, span, is_answered: false }
    }

    /// Returns the time since it began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.timer.elapsed()
    }

    /// Begins a span for the decision whether the request is let in.
    pub(crate) fn begin_policy(&self) -> Option<ActiveSpan> {
        self.begin("policy")
    }

    /// Answers the request by `door`, in a span of its own.
    pub(crate) async fn operate(
        &self,
        door: impl Future<Output = Result<Response<Body>, Refusal>>,
    ) -> Result<Response<Body>, Refusal> {
        let Some(mut span) = self.begin("operation") else { return door.await };
        let answered = Box::pin(span.scope(door)).await;
        match &answered {
            Ok(_) => span.succeed(),
            Err(refusal) => span.fail_by(&refusal.error),
        }
        answered
    }

    fn begin(&self, name: &'static str) -> Option<ActiveSpan> {
        self.span.as_ref()?.child(name, SpanKind::Internal)
    }

    /// Counts and logs the request, and tells the client what it is told of it.
    pub(crate) fn answered(mut self, response: &mut Response<Body>) {
        self.is_answered = true;
        let (took, slow_ms) = (self.timer.elapsed(), self.app.options.slow_ms);
        self.app.metrics.count(self.timer.of(self.record.label.get()), response.status());
        let is_slow = slow_ms > 0 && took > Duration::from_millis(slow_ms);
        let is_logged = self.app.options.access_log || is_slow;
        let is_failure = response.status().is_server_error();
        self.record.tell(response.headers_mut(), is_logged || is_failure);
        if self.app.options.server_timing {
            self.record.tell_times(response.headers_mut(), took);
        }
        if is_logged {
            self.log(response.status().as_u16(), (took, is_slow));
        }
        self.describe(Some(response.status()));
        self.watch(response);
    }

    /// Watches how the body is sent. To HEAD none is.
    fn watch(&mut self, response: &mut Response<Body>) {
        let mut span = self.span.take();
        if !matches!(response.body(), Body::Stream(_)) || self.head.method == Method::HEAD {
            if let Some(span) = &mut span {
                span.succeed();
            }
            return;
        }
        let told = self.app.options.access_log.then(|| (self.record.id().to_owned(), self.target()));
        response.body_mut().is_watched_by(SendWatch::new(self.app.metrics.aborted(), span, told));
    }

    /// Logs the request: every one if that is wanted, and those that were slow.
    fn log(&self, status: u16, (took, is_slow): (Duration, bool)) {
        // Three decimals: microseconds.
        let ms = took.as_micros() as f64 / 1000.0;
        let (id, method, uri) = (self.record.id(), &self.head.method, self.target());
        let trace = self.span.as_ref().and_then(ActiveSpan::context).map(SpanContext::to_string);
        if self.app.options.access_log {
            let address = self.app.gate.address(self.peer, &self.head.headers);
            let address = address.map_or_else(|| self.peer.to_string(), |ip| ip.to_string());
            let caller = self.record.caller();
            tracing::info!(target: "access", id, %method, uri, status, ms, %address, caller, trace);
        }
        if is_slow {
            tracing::warn!(target: "slow", id, %method, uri, status, ms, trace, "a request was slow");
        }
    }

    /// Returns path and query as they are logged.
    fn target(&self) -> String {
        tokens::shown(self.head.uri.path_and_query().map_or("*", PathAndQuery::as_str))
    }

    /// Tells the span what the request was, without anything that its client chose: neither path nor query.
    fn describe(&mut self, status: Option<StatusCode>) {
        let Some(span) = &mut self.span else { return };
        let method = metrics::method_name(&self.head.method);
        let route = routes::labels().nth(self.record.label.get().index()).filter(|route| route.starts_with('/'));
        span.rename(route.map_or_else(|| method.to_owned(), |route| format!("{method} {route}")));
        span.set("http.request.method", if method == "other" { "_OTHER" } else { method });
        if let Some(route) = route {
            span.set("http.route", route);
        }
        span.set("url.scheme", if self.app.options.tls.is_some() { "https" } else { "http" });
        let version = match self.head.version {
            Version::HTTP_2 => "2",
            Version::HTTP_10 => "1.0",
            _ => "1.1",
        };
        span.set("network.protocol.version", version);
        if let Some(id) = self.record.known_id() {
            span.set("salver.request.id", id.to_owned());
        }
        if let Some(status) = status {
            span.set("http.response.status_code", status.as_u16());
            if status.is_server_error() {
                span.fail(status.as_str().to_owned());
            }
        }
    }
}

impl Drop for OpenRequest<'_> {
    /// Counts and logs a request whose client left before there was a response.
    fn drop(&mut self) {
        if self.is_answered {
            return;
        }
        self.app.metrics.count_left(self.timer.of(self.record.label.get()));
        if self.app.options.access_log {
            self.log(CLIENT_LEFT, (self.timer.elapsed(), false));
        }
        self.describe(None);
    }
}

/// An append whose events are being written. It is counted when it is answered, or when its client has left.
pub(crate) struct SettlingAppend {
    pub(crate) app: Arc<App>,
    pub(crate) timer: Timer,
    pub(crate) is_answered: bool,
}

impl Drop for SettlingAppend {
    fn drop(&mut self) {
        if !self.is_answered {
            self.app.metrics.count_left(self.timer);
        }
    }
}

/// Ends the span of the decision whether a request is let in.
pub(crate) fn end_policy(span: Option<ActiveSpan>, admission: &Admission) {
    let Some(mut span) = span else { return };
    match admission {
        Admission::In(_) | Admission::Answered(_) => span.succeed(),
        Admission::Refused(error, ..) => span.fail_by(error),
    }
}
