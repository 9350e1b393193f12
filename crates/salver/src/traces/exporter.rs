//! Sends spans to a collector, as OTLP over HTTP: a thread of its own takes them out of a bounded queue, so that no
//! request ever waits for the collector.

mod client;
mod span_data;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::thread;
use std::time::{Duration, Instant};

use opentelemetry::KeyValue;
use opentelemetry_otlp::{Protocol, SpanExporter as OtlpExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanExporter;
use salver_model::limits::{TRACE_EXPORT_MS_MAX, TRACE_FLUSH_MS_MAX, TRACE_SPANS_QUEUED_MAX, TRACE_SPANS_SENT_MAX};
use salver_model::ports::{SpanCounts, Tracer};
use salver_model::secrecy::masked;
use salver_model::trace::{Span, SpanContext};
use salver_model::{Code, Error, Result};

use self::client::CollectorClient;
use super::sampler::Sampler;
use super::{ENDPOINTS, variable};
use crate::logging;

/// Path of traces below the address of a collector.
const TRACES_PATH: &str = "/v1/traces";
/// Variables with header fields for the collector, which may be secrets.
const HEADERS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
/// Variable with the time for which spans are collected before they are sent, in milliseconds, and that time without
/// it.
const DELAY: (&str, u64) = ("OTEL_BSP_SCHEDULE_DELAY", 1_000);
/// Interval at which the end waits for room in the queue.
const GLANCE: Duration = Duration::from_millis(5);

/// What sends traces.
#[derive(Debug)]
pub(super) struct Exporter {
    tracer: Arc<QueueTracer>,
}

/// What the thread is sent.
#[derive(Debug)]
enum Message {
    /// A span to be sent.
    Span(Box<Span>),
    /// The end: what came before is to be sent at once, and then this is dropped.
    End(SyncSender<()>),
}

/// The tracer of requests, which puts spans into the queue.
#[derive(Debug)]
struct QueueTracer {
    sampler: Sampler,
    queue: SyncSender<Message>,
    counts: Arc<Counts>,
}

/// What became of the spans.
#[derive(Debug, Default)]
struct Counts {
    exported: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

impl Exporter {
    /// Starts the thread that sends spans to the collector at `endpoint`, or else to that of the environment.
    pub(super) fn start(endpoint: Option<&str>) -> Result<Self> {
        let own = endpoint.map(|endpoint| format!("{}{TRACES_PATH}", endpoint.trim_end_matches('/')));
        let told = own.clone().or_else(|| ENDPOINTS.iter().find_map(|name| variable(name))).unwrap_or_default();
        logging::mask(secret_headers());
        let unusable = |cause: String| {
            Error::new(Code::Config, "traces can't be sent as the settings say")
                .with_hint("see `server.otlp_endpoint` and the OTEL_EXPORTER_OTLP_... variables")
                .with_source(cause)
        };
        let mut builder = OtlpExporter::builder()
            .with_http()
            .with_http_client(CollectorClient::new())
            .with_headers(HashMap::from([("user-agent".to_owned(), client::AGENT.to_owned())]))
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(Duration::from_millis(TRACE_EXPORT_MS_MAX));
        if let Some(own) = own {
            builder = builder.with_endpoint(own);
        }
        let mut exporter = builder.build().map_err(|cause| unusable(cause.to_string()))?;
        exporter.set_resource(&resource());
        let (queue, waiting) = mpsc::sync_channel(TRACE_SPANS_QUEUED_MAX);
        let counts = Arc::new(Counts::default());
        let sender = Sender { exporter, counts: Arc::clone(&counts), told, is_failing: false };
        let delay = variable(DELAY.0).and_then(|text| text.parse().ok()).unwrap_or(DELAY.1);
        let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|e| unusable(e.to_string()))?;
        let work = move || runtime.block_on(sender.send_all(&waiting, Duration::from_millis(delay)));
        thread::Builder::new().name("traces".to_owned()).spawn(work).map_err(|e| unusable(e.to_string()))?;
        let sampler = Sampler::of_environment();
        Ok(Self { tracer: Arc::new(QueueTracer { sampler, queue, counts }) })
    }

    pub(super) fn tracer(&self) -> Arc<dyn Tracer> {
        Arc::<QueueTracer>::clone(&self.tracer)
    }

    /// Sends what is still to be sent, for a while.
    pub(super) fn finish(self) {
        let until = Instant::now() + Duration::from_millis(TRACE_FLUSH_MS_MAX);
        let (done, ended) = mpsc::sync_channel(1);
        let mut message = Message::End(done);
        while let Err(TrySendError::Full(again)) = self.tracer.queue.try_send(message) {
            if Instant::now() >= until {
                return;
            }
            message = again;
            thread::sleep(GLANCE);
        }
        let _ = ended.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}

impl Tracer for QueueTracer {
    fn samples(&self, context: &SpanContext, parent: Option<&SpanContext>) -> bool {
        self.sampler.samples(&context.trace, parent)
    }

    fn record(&self, span: Span) {
        if self.queue.try_send(Message::Span(Box::new(span))).is_err() {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn counts(&self) -> SpanCounts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let Counts { exported, dropped, failed } = &*self.counts;
        SpanCounts { exported: of(exported), dropped: of(dropped), failed: of(failed) }
    }
}

/// What the thread works with.
struct Sender {
    exporter: OtlpExporter,
    counts: Arc<Counts>,
    /// Address of the collector, for the log.
    told: String,
    /// Whether the last batch could not be sent, which the log was told then.
    is_failing: bool,
}

impl Sender {
    /// Sends everything that comes, until the end.
    async fn send_all(mut self, waiting: &Receiver<Message>, delay: Duration) {
        while let Ok(first) = waiting.recv() {
            let mut batch = Vec::new();
            let end = gather(first, waiting, delay, &mut batch);
            self.send(batch).await;
            if end.is_some() {
                return;
            }
        }
    }

    async fn send(&mut self, batch: Vec<Span>) {
        if batch.is_empty() {
            return;
        }
        let count = batch.len() as u64;
        let sent = self.exporter.export(batch.into_iter().map(span_data::of).collect()).await;
        let counter = if sent.is_ok() { &self.counts.exported } else { &self.counts.failed };
        counter.fetch_add(count, Ordering::Relaxed);
        let was_failing = std::mem::replace(&mut self.is_failing, sent.is_err());
        match sent {
            Err(error) if !was_failing => {
                tracing::warn!(
                    "traces can't be sent to {}: {error}; they are lost until it takes some again",
                    masked(&self.told)
                );
            }
            Ok(()) if was_failing => tracing::info!("traces are sent to {} again", masked(&self.told)),
            _ => {}
        }
    }
}

/// Gathers spans, for a while or until there are enough. Returns who waits for the end, once it has come.
fn gather(
    first: Message,
    waiting: &Receiver<Message>,
    delay: Duration,
    batch: &mut Vec<Span>,
) -> Option<SyncSender<()>> {
    let until = Instant::now() + delay;
    let mut next = first;
    loop {
        match next {
            Message::Span(span) => batch.push(*span),
            Message::End(done) => return Some(done),
        }
        if batch.len() >= TRACE_SPANS_SENT_MAX {
            return None;
        }
        next = match waiting.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(next) => next,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
        };
    }
}

/// Returns what the spans come from: `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` of the environment go before
/// the program's own name.
fn resource() -> Resource {
    let found = Resource::builder().build();
    let name = found.get(&"service.name".into()).map(|name| name.to_string());
    let is_named = name.is_some_and(|name| !name.starts_with("unknown_service"));
    let builder = Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if is_named { builder.build() } else { builder.with_service_name("salver").build() }
}

/// Returns the values of the header fields for the collector.
fn secret_headers() -> Vec<String> {
    let lists = HEADERS.iter().filter_map(|name| variable(name)).collect::<Vec<_>>();
    let values =
        lists.iter().flat_map(|list| list.split(',')).filter_map(|field| Some(field.split_once('=')?.1.trim()));
    let decoded = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
    let both = values.flat_map(|value| [value.to_owned(), decoded(value)]);
    both.filter(|value| value.len() >= salver_model::limits::MASKED_SECRET_BYTES_MIN).collect()
}

#[cfg(test)]
mod tests {
    use salver_testkit::contract;

    use super::Exporter;

    /// The collector is away, which is worse for every clause than one that takes all.
    #[test]
    fn keeps_the_contract() {
        let exporter = Exporter::start(Some("http://127.0.0.1:1")).unwrap();
        contract::tracer::run(&*exporter.tracer());
    }
}
