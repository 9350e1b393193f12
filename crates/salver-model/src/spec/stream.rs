//! What a stream is made from, as proved from the settings.

use std::path::PathBuf;
use std::time::Duration;

use crate::limits::SEGMENT_BYTES;
use crate::name::Name;
use crate::streams::Ack;

/// Where a value of each event is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// In the event, by the names of nested members: `$.user.id` is `["user", "id"]`.
    Member(Vec<String>),
    /// In a header of the request, for all of its events.
    Header(String),
}

/// How a stream hands its events on to Kafka.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KafkaSpec {
    /// `host:port` of some brokers.
    pub brokers: Vec<String>,
    /// The topic.
    pub topic: String,
    /// The header a record's id travels in; `None` for no such header.
    pub id_header: Option<String>,
    /// Further settings of the client, as librdkafka names them (`security.protocol`, `sasl.username`, ...).
    pub properties: Vec<(String, String)>,
}

/// How a stream is declared.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamSpec {
    /// Its name.
    pub name: Name,
    /// The directory of its log; made when it is not there.
    pub dir: PathBuf,
    /// Where events go on to; `None` when the log is all.
    pub kafka: Option<KafkaSpec>,
    /// What an append that does not say waits for.
    pub ack: Ack,
    /// The key of an event, by which Kafka chooses a partition.
    pub key: Option<Pick>,
    /// The event's own id, by which a repeated event is known.
    pub id: Option<Pick>,
    /// The time of an event (RFC 3339, or milliseconds since 1970); the time of arrival else.
    pub time: Option<Pick>,
    /// How long an id is remembered.
    pub dedupe: Duration,
    /// A JSON Schema, as text, that every event must satisfy.
    pub schema: Option<String>,
    /// How long events are kept; `None` for ever.
    pub retain: Option<Duration>,
    /// Most bytes of events on disk: of a log the oldest go, of what still waits for Kafka none, and no more are taken.
    pub disk_bytes_max: Option<u64>,
    /// When a file of the log is full, in bytes.
    pub segment_bytes: u64,
    /// A path at which one event at a time is taken and answered by its id as plain text.
    pub route: Option<String>,
}

impl StreamSpec {
    /// A stream with its log in `dir` and nothing else said.
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
            route: None,
        }
    }
}
