//! Appends records to a stream, and waits for their placement in Kafka.

use std::sync::Arc;

use http::StatusCode;
use salver_model::ports::EventStream;
use salver_model::streams::{Ack, Envelope, EventOutcome, NewEvent, Placement, Receipt};
use salver_model::{Code, Error, Result};

use crate::dialect::{Refusal, confluent};
use crate::redaction;

/// Appends `events` and waits for the broker. Returns the placement or the error of each event, in order.
///
/// # Errors
/// An error when no event was appended and all of them may be sent again.
pub(super) async fn append(
    stream: &Arc<dyn EventStream>,
    events: &[NewEvent],
) -> Result<Vec<Result<Placement, Refusal>>> {
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
    let mut places = placed(stream, &receipt).await.map(Vec::into_iter);
    let mut answers = Vec::with_capacity(events.len());
    for outcome in &receipt.each {
        answers.push(match (outcome, &mut places) {
            (EventOutcome::Quarantined { reason }, _) => Err(confluent::payload(reason)),
            (EventOutcome::Taken { .. }, Err(error)) => Err(retriable(error)),
            (EventOutcome::Taken { .. }, Ok(places)) => told(places.next()),
            (EventOutcome::Duplicate { offset }, _) => again(stream, *offset).await,
        });
    }
    Ok(answers)
}

async fn placed(stream: &Arc<dyn EventStream>, receipt: &Receipt) -> Result<Vec<Result<Placement>>> {
    if receipt.taken == 0 {
        stream.settle(receipt, Ack::Broker).await?;
        return Ok(Vec::new());
    }
    stream.place(receipt).await
}

/// Returns the placement of an event that was sent before.
async fn again(stream: &Arc<dyn EventStream>, offset: u64) -> Result<Placement, Refusal> {
    let earlier = Receipt { end: offset + 1, through: offset + 1, taken: 1, ..Receipt::default() };
    let places = stream.place(&earlier).await.map_err(|error| retriable(&error))?;
    told(places.into_iter().next())
}

/// Returns the placement or the error of a record: an error for what Kafka refuses is final.
fn told(place: Option<Result<Placement>>) -> Result<Placement, Refusal> {
    match place {
        Some(Ok(place)) => Ok(place),
        Some(Err(error)) if error.code == Code::InvalidEvent => {
            let message = format!("Kafka error: {}", redaction::message(&error));
            Err(confluent::refused(StatusCode::UNPROCESSABLE_ENTITY, 50002, message))
        }
        Some(Err(error)) => Err(retriable(&error)),
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
