//! A collector of OpenTelemetry for tests: it decodes what it gets, and keeps it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message;

/// A collector.
pub(super) struct Collector {
    address: String,
    kept: Arc<Mutex<Kept>>,
}

/// What it got.
#[derive(Debug, Default)]
struct Kept {
    heads: Vec<String>,
    spans: Vec<TracedSpan>,
}

/// A span, with the service that it is from.
#[derive(Clone, Debug)]
pub(super) struct TracedSpan {
    service: String,
    span: Span,
}

impl Collector {
    /// Starts one on a free port.
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let kept = Arc::<Mutex<Kept>>::default();
        let own = Arc::clone(&kept);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let own = Arc::clone(&own);
                std::thread::spawn(move || while take(&stream, &own).is_some() {});
            }
        });
        Self { address, kept }
    }

    /// Where it listens.
    pub(super) fn address(&self) -> String {
        self.address.clone()
    }

    /// The heads of the requests so far.
    pub(super) fn heads(&self) -> Vec<String> {
        self.kept.lock().unwrap().heads.clone()
    }

    /// The traces that it got spans of, in the order of their first spans.
    pub(super) fn traces(&self) -> Vec<String> {
        let mut traces: Vec<String> = Vec::new();
        for span in &self.kept.lock().unwrap().spans {
            let trace = hex(&span.span.trace_id);
            if !traces.contains(&trace) {
                traces.push(trace);
            }
        }
        traces
    }

    /// Waits until the spans of a trace are `enough`, and returns them.
    #[track_caller]
    pub(super) fn until(&self, trace: &str, enough: impl Fn(&[TracedSpan]) -> bool) -> Vec<TracedSpan> {
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            let kept = self.kept.lock().unwrap();
            let of_trace = |span: &&TracedSpan| hex(&span.span.trace_id) == trace;
            let spans: Vec<TracedSpan> = kept.spans.iter().filter(of_trace).cloned().collect();
            drop(kept);
            if enough(&spans) {
                return spans;
            }
            assert!(Instant::now() < patience, "waited in vain for {trace}: {spans:#?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Takes one request; `None` when there is no other.
fn take(stream: &TcpStream, kept: &Mutex<Kept>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase();
    let length = head.split("content-length: ").nth(1)?.split("\r\n").next()?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let is_right =
        head.starts_with("post /v1/traces http/1.1") && head.contains("content-type: application/x-protobuf");
    let request = ExportTraceServiceRequest::decode(&body[..]).ok().filter(|_| is_right);
    let status = if request.is_some() { "200 OK" } else { "400 Bad Request" };
    let mut kept = kept.lock().unwrap();
    kept.heads.push(head);
    for resource in request.into_iter().flat_map(|request| request.resource_spans) {
        let attributes = resource.resource.map(|resource| resource.attributes).unwrap_or_default();
        let service = text(&attributes, "service.name").unwrap_or_default();
        let spans = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
        kept.spans.extend(spans.map(|span| TracedSpan { service: service.clone(), span }));
    }
    drop(kept);
    let answer = format!("HTTP/1.1 {status}\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n");
    let mut stream = stream;
    stream.write_all(answer.as_bytes()).ok()
}

fn value<'v>(attributes: &'v [KeyValue], key: &str) -> Option<&'v Value> {
    attributes.iter().find(|own| own.key == key)?.value.as_ref()?.value.as_ref()
}

fn text(attributes: &[KeyValue], key: &str) -> Option<String> {
    match value(attributes, key)? {
        Value::StringValue(text) => Some(text.clone()),
        _ => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl TracedSpan {
    pub(super) fn name(&self) -> &str {
        &self.span.name
    }

    pub(super) fn id(&self) -> String {
        hex(&self.span.span_id)
    }

    pub(super) fn parent(&self) -> String {
        hex(&self.span.parent_span_id)
    }

    pub(super) fn kind(&self) -> SpanKind {
        SpanKind::try_from(self.span.kind).unwrap()
    }

    pub(super) fn status(&self) -> StatusCode {
        self.span.status.as_ref().map_or(StatusCode::Unset, |status| StatusCode::try_from(status.code).unwrap())
    }

    pub(super) fn state(&self) -> &str {
        &self.span.trace_state
    }

    pub(super) fn service(&self) -> &str {
        &self.service
    }

    pub(super) fn begins(&self) -> u64 {
        self.span.start_time_unix_nano
    }

    pub(super) fn ends(&self) -> u64 {
        self.span.end_time_unix_nano
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        text(&self.span.attributes, key)
    }

    pub(super) fn number(&self, key: &str) -> Option<i64> {
        match value(&self.span.attributes, key)? {
            Value::IntValue(number) => Some(*number),
            _ => None,
        }
    }
}
