//! The topic of a stream: looked up, or created with the broker's defaults.

use std::time::Duration;

use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::error::{IsError, KafkaError};
use rdkafka::types::{RDKafkaErrorCode, RDKafkaRespErr};
use salver_model::limits::{BROKER_ANSWER_MS_MAX, BROKER_EVENT_BYTES_MAX};

use super::listener::Listener;

/// Patience with a broker.
const ANSWER_PATIENCE: Duration = Duration::from_millis(BROKER_ANSWER_MS_MAX);

/// Properties of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Topic {
    /// Number of partitions.
    pub(super) partitions: u32,
    /// Largest record the topic accepts, in bytes.
    pub(super) event_bytes_max: usize,
    /// By partition, the offset behind its last record.
    pub(super) ends: Vec<u64>,
}

/// Looks up a topic, or creates it.
pub(super) async fn find(admin: &AdminClient<Listener>, name: &str) -> Result<Topic, KafkaError> {
    let partitions = match count_partitions(admin, name) {
        Err(KafkaError::MetadataFetch(RDKafkaErrorCode::UnknownTopicOrPartition)) => {
            make(admin, name).await?;
            count_partitions(admin, name)?
        }
        other => other?,
    };
    let mut ends = Vec::new();
    for partition in 0..partitions {
        let (_, end) = admin.inner().fetch_watermarks(name, number(partition), ANSWER_PATIENCE)?;
        ends.push(u64::try_from(end).unwrap_or(0));
    }
    let event_bytes_max = largest(admin, name).await.unwrap_or(BROKER_EVENT_BYTES_MAX);
    Ok(Topic { partitions, event_bytes_max, ends })
}

/// Queries the current number of partitions of a topic.
pub(super) fn count_partitions(admin: &AdminClient<Listener>, name: &str) -> Result<u32, KafkaError> {
    let metadata = admin.inner().fetch_metadata(Some(name), ANSWER_PATIENCE)?;
    let unknown = KafkaError::MetadataFetch(RDKafkaErrorCode::UnknownTopicOrPartition);
    let topic = metadata.topics().iter().find(|topic| topic.name() == name).ok_or(unknown)?;
    let error = topic.error().or_else(|| topic.partitions().iter().find_map(|partition| leaderless(partition.error())));
    match error {
        Some(error) => Err(KafkaError::MetadataFetch(error.into())),
        None if topic.partitions().is_empty() => {
            Err(KafkaError::MetadataFetch(RDKafkaErrorCode::UnknownTopicOrPartition))
        }
        None => Ok(u32::try_from(topic.partitions().len()).unwrap_or(u32::MAX)),
    }
}

/// Returns the error of a partition without a leader. A partition may lack some of its replicas, but not all.
fn leaderless(error: Option<RDKafkaRespErr>) -> Option<RDKafkaRespErr> {
    error.filter(|error| error.is_error() && RDKafkaErrorCode::from(*error) != RDKafkaErrorCode::ReplicaNotAvailable)
}

async fn make(admin: &AdminClient<Listener>, name: &str) -> Result<(), KafkaError> {
    // The broker's defaults.
    let topic = NewTopic::new(name, -1, TopicReplication::Fixed(-1));
    let options = AdminOptions::new().operation_timeout(Some(ANSWER_PATIENCE));
    match admin.create_topics([&topic], &options).await?.into_iter().next() {
        Some(Err((_, code))) if code != RDKafkaErrorCode::TopicAlreadyExists => Err(KafkaError::AdminOp(code)),
        _ => Ok(()),
    }
}

/// Returns the topic's own limit, if the broker reports it to this client.
async fn largest(admin: &AdminClient<Listener>, name: &str) -> Option<usize> {
    let options = AdminOptions::new().request_timeout(Some(ANSWER_PATIENCE));
    let told = admin.describe_configs([&ResourceSpecifier::Topic(name)], &options).await.ok()?;
    told.into_iter().next()?.ok()?.get("max.message.bytes")?.value.as_ref()?.parse().ok()
}

/// Returns a partition number in librdkafka's type.
pub(super) fn number(partition: u32) -> i32 {
    i32::try_from(partition).unwrap_or(i32::MAX)
}
