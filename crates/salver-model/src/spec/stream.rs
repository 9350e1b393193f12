//! Specification of a stream, validated from the settings.

use std::path::PathBuf;
use std::time::Duration;

use crate::limits::SEGMENT_BYTES;
use crate::name::Name;
use crate::streams::Ack;

/// Source of a value of each event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// Path of nested members in the event: `$.user.id` is `["user", "id"]`.
    Member(Vec<String>),
    /// Header of the request, for all of its events.
    Header(String),
}

/// Forwarding of a stream to Kafka.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KafkaSpec {
    /// Bootstrap brokers as `host:port`.
    pub brokers: Vec<String>,
    /// Name of the topic.
    pub topic: String,
    /// Header for a record's id; `None` for no such header.
    pub id_header: Option<String>,
    /// Further settings of the client, as librdkafka names them (`security.protocol`, `sasl.username`, ...).
    pub properties: Vec<(String, String)>,
}

/// Table of Delta Lake that a stream is published as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedTable {
    /// Directory of the table, created if missing.
    pub dir: PathBuf,
    /// Interval at which new events are added.
    pub every: Duration,
    /// How long files stay on disk that are no longer part of the table, and with them its older versions.
    pub keep: Duration,
}

impl PublishedTable {
    /// Creates a table in `dir` with default settings.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, every: Duration::from_secs(300), keep: Duration::from_secs(7 * 86_400) }
    }
}

/// Declaration of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSpec {
    /// Name of the stream.
    pub name: Name,
    /// Directory of its log, created if missing.
    pub dir: PathBuf,
    /// Kafka topic that events are forwarded to; `None` for the log alone.
    pub kafka: Option<KafkaSpec>,
    /// Default acknowledgement level.
    pub ack: Ack,
    /// Key of an event, by which Kafka chooses a partition.
    pub key: Option<Pick>,
    /// Id of an event, used for deduplication.
    pub id: Option<Pick>,
    /// Time of an event (RFC 3339, or milliseconds since 1970); the time of arrival otherwise.
    pub time: Option<Pick>,
    /// Deduplication window.
    pub dedupe: Duration,
    /// JSON Schema, as text, that every event must satisfy.
    pub schema: Option<String>,
    /// Retention period of events; `None` for unlimited.
    pub retain: Option<Duration>,
    /// Maximum size of events on disk, in bytes. A plain log deletes its oldest events; events still waiting for Kafka
    /// are kept, and further ones are refused.
    pub disk_bytes_max: Option<u64>,
    /// Size at which a segment of the log is closed, in bytes.
    pub segment_bytes: u64,
    /// Table of Delta Lake that its events are published as.
    pub delta: Option<PublishedTable>,
    /// Path that accepts one event at a time and responds with its id as plain text.
    pub route: Option<String>,
}

impl StreamSpec {
    /// Returns the topic under which Kafka's clients know the stream: its own name without Kafka.
    #[must_use]
    pub fn topic(&self) -> &str {
        self.kafka.as_ref().map_or(self.name.as_str(), |kafka| kafka.topic.as_str())
    }

    /// Creates a stream with its log in `dir` and default settings.
    #[must_use]
    pub fn new(name: Name, dir: PathBuf) -> Self {
        Self {
            name,
            dir,
            kafka: None,
            ack: Ack::Disk,
            key: None,
            id: None,
            time: None,
            dedupe: Duration::from_secs(600),
            schema: None,
            retain: None,
            disk_bytes_max: None,
            segment_bytes: SEGMENT_BYTES,
            delta: None,
            route: None,
        }
    }
}
