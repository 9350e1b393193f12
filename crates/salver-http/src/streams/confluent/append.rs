//! Records into a stream, and where Kafka put each of them.

use std::sync::Arc;

use http::StatusCode;
use salver_model::ports::EventStream;
use salver_model::streams::{Ack, Envelope, NewEvent, Outcome, Placement, Receipt};
use salver_model::{Code, Error, Result};

use super::Failure;
use crate::veil;

/// Takes `events` and waits until the broker has them: for each, in order, where it is or why it is nowhere.
///
/// # Errors
/// When none was taken and all may be sent again.
pub(super) async fn append(
    stream: &Arc<dyn EventStream>,
    events: &[NewEvent],
) -> Result<Vec<Result<Placement, Failure>>> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let has_partitions = events.iter().any(|event| event.partition.is_some());
    let count = if has_partitions { stream.partitions().await? } else { u32::MAX };
    let is_there = |event: &&NewEvent| event.partition.is_none_or(|own| own < count);
    if !events.iter().all(|event| is_there(&event)) {
        // What is for a partition that is not there goes nowhere, and the others where they are for.
        let sent: Vec<NewEvent> = events.iter().filter(is_there).cloned().collect();
        let mut answers = Box::pin(append(stream, &sent)).await?.into_iter();
        let told = |event| {
            if is_there(&event) {
                answers.next().unwrap_or_else(|| Err(unplaced()))
            } else {
                Err(Failure::partition_not_found())
            }
        };
        return Ok(events.iter().map(told).collect());
    }
    // Kafka carries any bytes; where a schema says what the stream takes, that holds here too.
    let opaque = stream.spec().schema.is_none();
    let envelope = Envelope { each: true, ack: Ack::Broker, opaque, ..Envelope::default() };
    let receipt = stream.append(events, &envelope)?;
    let mut places = placed(stream, &receipt).await.map(Vec::into_iter);
    let mut answers = Vec::with_capacity(events.len());
    for outcome in &receipt.each {
        answers.push(match (outcome, &mut places) {
            (Outcome::Quarantined { reason }, _) => Err(Failure::payload(reason)),
            (Outcome::Taken { .. }, Err(error)) => Err(retriable(error)),
            (Outcome::Taken { .. }, Ok(places)) => told(places.next()),
            (Outcome::Duplicate { offset }, _) => again(stream, *offset).await,
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

/// Where an event is that was sent before.
async fn again(stream: &Arc<dyn EventStream>, offset: u64) -> Result<Placement, Failure> {
    let earlier = Receipt { end: offset + 1, through: offset + 1, taken: 1, ..Receipt::default() };
    let places = stream.place(&earlier).await.map_err(|error| retriable(&error))?;
    told(places.into_iter().next())
}

/// Where one record is, or why it is nowhere: what Kafka refuses it would refuse again.
fn told(place: Option<Result<Placement>>) -> Result<Placement, Failure> {
    match place {
        Some(Ok(place)) => Ok(place),
        Some(Err(error)) if error.code == Code::InvalidEvent => {
            let message = format!("Kafka error: {}", veil::message(&error));
            Err(Failure::new(StatusCode::UNPROCESSABLE_ENTITY, 50002, message))
        }
        Some(Err(error)) => Err(retriable(&error)),
        None => Err(unplaced()),
    }
}

/// The events are in the log and go on to Kafka when that can be reached; the client can't be told where.
fn retriable(error: &Error) -> Failure {
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, 50003, format!("Retriable Kafka error: {}", veil::message(error)))
}

fn unplaced() -> Failure {
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, 50002, "Kafka error: the broker did not say where the record is")
}
