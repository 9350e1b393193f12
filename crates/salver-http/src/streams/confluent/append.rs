//! Appends records to a stream, and waits for their placement in Kafka.

use std::collections::HashMap;

use http::StatusCode;
use salver_model::streams::{Ack, Envelope, EventDelivery, EventOutcome, NewEvent, Placement};
use salver_model::{Error, Result};
use salver_service::Appender;

use crate::dialect::{Refusal, confluent};
use crate::redaction;

/// Appends `events` and waits for the broker. Returns the placement or the error of each event, in order; no placement
/// of an event that was sent before when it is not known any more.
///
/// # Errors
/// An error when no event was appended and all of them may be sent again.
pub(super) async fn append(stream: &Appender, events: &[NewEvent]) -> Result<Vec<Result<Option<Placement>, Refusal>>> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let has_partitions = events.iter().any(|event| event.partition.is_some());
    let count = if has_partitions { stream.partitions().await? } else { u32::MAX };
    let is_there = |event: &&NewEvent| event.partition.is_none_or(|own| own < count);
    if !events.iter().all(|event| is_there(&event)) {
        // Events for a missing partition fail one by one, and the others are appended.
        let sent: Vec<NewEvent> = events.iter().filter(is_there).cloned().collect();
        let mut answers = Box::pin(append(stream, &sent)).await?.into_iter();
        let told = |event| {
            if is_there(&event) {
                answers.next().unwrap_or_else(|| Err(unplaced()))
            } else {
                Err(confluent::partition_not_found())
            }
        };
        return Ok(events.iter().map(told).collect());
    }
    // Kafka carries any bytes, unless the stream has a schema to validate them.
    let opaque = stream.spec().schema.is_none();
    let envelope = Envelope { each: true, ack: Ack::Broker, opaque, ..Envelope::default() };
    let receipt = stream.append(events, &envelope)?;
    let places = stream.place(&receipt).await;
    let repeated = receipt.repeated.iter().copied();
    let offsets = receipt.offsets().chain(repeated);
    let places: Result<HashMap<u64, EventDelivery>> = places.map(|places| offsets.zip(places).collect());
    let answers = receipt.each.iter().map(|outcome| match (outcome, &places) {
        (EventOutcome::Quarantined { reason }, _) => Err(confluent::payload(reason)),
        (_, Err(error)) => Err(retriable(error)),
        (EventOutcome::Taken { offset } | EventOutcome::Duplicate { offset }, Ok(places)) => told(places.get(offset)),
    });
    Ok(answers.collect())
}

/// Returns the placement or the error of a record: an error for what Kafka refuses is final.
fn told(delivery: Option<&EventDelivery>) -> Result<Option<Placement>, Refusal> {
    match delivery {
        Some(EventDelivery::Placed(place)) => Ok(*place),
        Some(EventDelivery::Rejected(reason)) => {
            Err(confluent::refused(StatusCode::UNPROCESSABLE_ENTITY, 50002, format!("Kafka error: {reason}")))
        }
        None => Err(unplaced()),
    }
}

/// The error for events that are in the log and will reach Kafka later, so that their placement is unknown.
fn retriable(error: &Error) -> Refusal {
    confluent::refused(
        StatusCode::SERVICE_UNAVAILABLE,
        50003,
        format!("Retriable Kafka error: {}", redaction::message(error)),
    )
}

fn unplaced() -> Refusal {
    confluent::refused(
        StatusCode::INTERNAL_SERVER_ERROR,
        50002,
        "Kafka error: the broker did not say where the record is",
    )
}
