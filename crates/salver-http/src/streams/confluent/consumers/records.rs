//! `GET /consumers/{group}/instances/{instance}/records`: returns the records since the last read.

use std::time::Duration;

use futures::future::select_all;
use http::{HeaderValue, Response, StatusCode, header};
use salver_formats::json::write_string;
use salver_model::limits::{CONSUMED_EVENTS_MAX, EVENTS_WAIT_S_MAX, PAGE_EVENTS_BYTES_MAX};
use salver_model::streams::Event;
use salver_text::base64;

use super::consumer;
use crate::body::Body;
use crate::consumers::{ConsumerState, Embedded, Instance, Wants};
use crate::dialect::{Refusal, confluent};
use crate::exit;
use crate::request_context::{RequestContext, parameters};
use crate::streams::parameters::value;
use crate::streams::raw;

const JSON: HeaderValue = HeaderValue::from_static("application/vnd.kafka.json.v2+json");
const BINARY: HeaderValue = HeaderValue::from_static("application/vnd.kafka.binary.v2+json");

/// Responds with new records.
pub(super) async fn answer(context: &RequestContext<'_>, instance: &Instance) -> Result<Response<Body>, Refusal> {
    accepted(context, instance.settings.format)?;
    let parameters = parameters(context.query)?;
    let number = |name| match value(&parameters, name).map(str::parse::<i64>) {
        Some(Err(_)) => Err(confluent::unprocessable(422, format!("`{name}` is not a whole number"))),
        Some(Ok(number)) => Ok(Some(number).filter(|number| *number >= 0)),
        None => Ok(None),
    };
    let wait = number("timeout")?.map_or(instance.settings.wait, |ms| Duration::from_millis(ms.unsigned_abs()));
    let bytes_max =
        number("max_bytes")?.map_or(PAGE_EVENTS_BYTES_MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let bytes_max = bytes_max.clamp(1, PAGE_EVENTS_BYTES_MAX);
    let mut state = instance.state.lock().await;
    if matches!(state.wants, Wants::Nothing) {
        let why = "Consumer is not subscribed to any topics or assigned any partitions";
        return Err(confluent::illegal_state(why));
    }
    if instance.settings.commits {
        state.commit(context, instance).await?;
    }
    let read = read(context, instance, &mut state, bytes_max, wait.min(Duration::from_secs(EVENTS_WAIT_S_MAX))).await?;
    instance.touch(std::time::Instant::now());
    let media_type = if instance.settings.format == Embedded::Json { JSON } else { BINARY };
    Ok(exit::unstored(StatusCode::OK, media_type, Body::Full(written(&read, instance.settings.format).into())))
}

type Read = Vec<(String, Vec<Event>)>;

/// Reads events of each topic; when there are none, waits for the first topic that gets some.
async fn read(
    context: &RequestContext<'_>,
    instance: &Instance,
    state: &mut ConsumerState,
    bytes_max: usize,
    wait: Duration,
) -> Result<Read, Refusal> {
    let mut ending = context.app.ending.subscribe();
    let mut found: Read = Vec::new();
    let mut waiting = Vec::new();
    let (mut bytes_left, mut count_left) = (bytes_max, context.rows_of_part(CONSUMED_EVENTS_MAX));
    // Only partition 0 has events.
    for (name, _) in state.assignment(context, instance).into_iter().filter(|(_, partition)| *partition == 0) {
        let stream = consumer(context, &name)?;
        let from = state.position(instance, &name, stream);
        let events = match (bytes_left, count_left) {
            (0, _) | (_, 0) => Vec::new(),
            (bytes, count) => stream.events(from, count, bytes).await?,
        };
        let bytes: usize = events.iter().map(|event| event.value.len()).sum();
        bytes_left = bytes_left.saturating_sub(bytes);
        count_left = count_left.saturating_sub(events.len());
        if events.is_empty() {
            waiting.push((name, stream, from));
        } else {
            found.push((name, events));
        }
    }
    if found.is_empty() {
        let permit = context.app.service.wait_permit(context.caller)?;
        let waiting = waiting.into_iter().map(|(name, stream, from)| {
            let events = stream.wait_for_events(&permit, from, (count_left, bytes_max), wait);
            Box::pin(async move { (name, events.await) })
        });
        let waiting: Vec<_> = waiting.collect();
        let first = async {
            if waiting.is_empty() {
                // Another consumer of the group has all partitions. If it leaves, the next request takes over.
                tokio::time::sleep(wait).await;
                return None;
            }
            let (name, events) = select_all(waiting).await.0;
            Some((name, events.map(Option::unwrap_or_default)))
        };
        let first = tokio::select! {
            first = first => first,
            _ = ending.wait_for(|is_ending| *is_ending) => None,
        };
        if let Some((name, events)) = first {
            found.push((name, events?));
        }
    }
    for (name, events) in &found {
        if let Some(last) = events.last() {
            state.positions.insert(name.clone(), last.offset + 1);
        }
    }
    Ok(found)
}

/// Checks that the client accepts the consumer's format.
fn accepted(context: &RequestContext<'_>, format: Embedded) -> Result<(), Refusal> {
    let mut is_empty = true;
    for line in context.headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok()) {
        for kind in line.split(',').map(|kind| kind.split(';').next().unwrap_or_default().trim()) {
            is_empty = false;
            let takes = match kind {
                "*/*" | "application/*" => true,
                "application/vnd.kafka.json.v2+json" => format == Embedded::Json,
                "application/vnd.kafka.binary.v2+json" | "application/vnd.kafka.v2+json" | "application/json" => {
                    format == Embedded::Binary
                }
                _ => false,
            };
            if takes {
                return Ok(());
            }
        }
    }
    if is_empty {
        return Ok(());
    }
    let message = "The requested embedded data format does not match the deserializer for this consumer instance";
    Err(confluent::refused(StatusCode::NOT_ACCEPTABLE, 40601, message))
}

fn written(read: &Read, format: Embedded) -> Vec<u8> {
    let mut out = vec![b'['];
    for (name, events) in read {
        for event in events {
            if out.len() > 1 {
                out.push(b',');
            }
            out.extend_from_slice(b"{\"topic\":");
            write_string(name, &mut out);
            out.extend_from_slice(b",\"key\":");
            match &event.key {
                Some(key) => write(key, format, &mut out),
                None => out.extend_from_slice(b"null"),
            }
            out.extend_from_slice(b",\"value\":");
            match event.is_tombstone {
                true => out.extend_from_slice(b"null"),
                false => write(&event.value, format, &mut out),
            }
            out.extend_from_slice(b",\"partition\":0,\"offset\":");
            out.extend_from_slice(itoa::Buffer::new().format(event.offset).as_bytes());
            out.push(b'}');
        }
    }
    out.push(b']');
    out
}

/// Writes a key or value. A key from another interface may not be JSON and is then written as text.
fn write(bytes: &[u8], format: Embedded, out: &mut Vec<u8>) {
    match format {
        Embedded::Json if raw::is_json(bytes) => out.extend_from_slice(bytes),
        Embedded::Json => write_string(&String::from_utf8_lossy(bytes), out),
        Embedded::Binary => {
            out.push(b'"');
            base64::encode(bytes, out);
            out.push(b'"');
        }
    }
}
