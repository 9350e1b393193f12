//! Spans in the words of OpenTelemetry.

use opentelemetry::trace::{self as otel, SpanId, Status, TraceFlags, TraceId, TraceState};
use opentelemetry::{InstrumentationScope, KeyValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use salver_model::trace::{AttributeValue, Span, SpanContext, SpanKind};

/// Returns a span in the words of OpenTelemetry.
pub(super) fn of(span: Span) -> SpanData {
    let attribute = |(key, value)| {
        let value = match value {
            AttributeValue::Text(text) => Value::String(text.into()),
            AttributeValue::Number(number) => Value::I64(number),
        };
        KeyValue::new(key, value)
    };
    SpanData {
        span_context: context(&span.context),
        parent_span_id: span.parent.map_or(SpanId::INVALID, SpanId::from_bytes),
        parent_span_is_remote: span.is_parent_remote,
        span_kind: match span.kind {
            SpanKind::Server => otel::SpanKind::Server,
            SpanKind::Internal => otel::SpanKind::Internal,
            SpanKind::Client => otel::SpanKind::Client,
            SpanKind::Producer => otel::SpanKind::Producer,
        },
        name: span.name,
        start_time: span.began,
        end_time: span.ended,
        attributes: span.attributes.into_iter().map(attribute).collect(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: if span.is_failure { Status::error("") } else { Status::Unset },
        instrumentation_scope: InstrumentationScope::builder("salver").with_version(env!("CARGO_PKG_VERSION")).build(),
    }
}

fn context(context: &SpanContext) -> otel::SpanContext {
    let (trace, span) = (TraceId::from_bytes(context.trace), SpanId::from_bytes(context.span));
    let state = context.state.as_deref().and_then(|state| state.parse::<TraceState>().ok()).unwrap_or_default();
    otel::SpanContext::new(trace, span, TraceFlags::SAMPLED, false, state)
}
