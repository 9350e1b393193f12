//! Settings of librdkafka's clients, derived from a stream's configuration.

use rdkafka::ClientConfig;
use rdkafka::error::KafkaError;
use salver_model::secrecy::MASK;
use salver_model::spec::KafkaSpec;
use salver_model::{Code, Error, Result};

use super::topic::Topic;

/// Largest batch, in bytes, unless the topic's limit is lower.
const BATCH_BYTES: usize = 1_000_000;
/// Bytes reserved for the header of a batch.
const BATCH_HEAD_BYTES: usize = 1024;

/// Settings that a stream cannot override, each with the reason: its guarantees depend on them.
const REFUSED: [(&[&str], &str); 7] = [
    (&["bootstrap.servers", "metadata.broker.list"], "the stream's `brokers` says it"),
    (
        &["enable.idempotence", "acks", "request.required.acks", "enable.gapless.guarantee", "queuing.strategy"],
        "without it, events could be lost, sent twice or out of order",
    ),
    (
        &["retries", "message.send.max.retries", "message.timeout.ms", "delivery.timeout.ms"],
        "events are sent until Kafka has them",
    ),
    (&["partitioner", "partitioner_cb", "sticky.partitioning.linger.ms"], "the stream chooses partitions itself"),
    (&["transactional.id"], "the stream does not write in transactions"),
    (
        &["delivery.report.only.error", "dr_cb", "dr_msg_cb", "queue.buffering.max.messages", "message.max.bytes"],
        "the stream keeps account of what is delivered by it",
    ),
    (
        &["group.id", "isolation.level", "enable.auto.commit", "auto.offset.reset", "enable.partition.eof"],
        "after a restart the stream looks by it for what is in the topic",
    ),
];

/// Base settings of all clients.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    client: ClientConfig,
    batch_bytes: usize,
}

impl Settings {
    /// Validates the settings of a stream.
    ///
    /// # Errors
    /// Returns `Config` with the name of a setting that is unknown, invalid, or not configurable for a stream.
    pub(super) fn new(spec: &KafkaSpec) -> Result<Self> {
        let mut client = ClientConfig::new();
        client
            .set("client.id", "salver")
            // A broker that comes back is reconnected soon.
            .set("reconnect.backoff.ms", "50")
            .set("reconnect.backoff.max.ms", "1000")
            .set("socket.nagle.disable", "true")
            .set("log.connection.close", "false");
        for (name, value) in &spec.properties {
            let refused = REFUSED.iter().find(|(names, _)| names.contains(&name.as_str()));
            if let Some((_, why)) = refused {
                return Err(Error::new(Code::Config, format!("`{name}` can't be set for a stream: {why}"))
                    .with_hint("Leave it out."));
            }
            client.set(name, value);
        }
        client.set("bootstrap.servers", spec.brokers.join(","));
        let batch_bytes = client.get("batch.size").and_then(|own| own.parse().ok()).unwrap_or(BATCH_BYTES);
        let settings = Self { client, batch_bytes };
        settings.producer(None, Pace::Waves).create_native_config().map_err(|error| wrong(&error))?;
        Ok(settings)
    }

    /// Returns the settings of an admin client.
    pub(super) fn admin(&self) -> ClientConfig {
        self.client.clone()
    }

    /// Returns the settings of a producer for a topic, at a pace; `topic` is `None` when nothing is known of it yet.
    pub(super) fn producer(&self, topic: Option<&Topic>, pace: Pace) -> ClientConfig {
        let mut config = self.client.clone();
        for (name, value) in [
            ("compression.type", "lz4"),
            ("linger.ms", pace.linger_ms()),
            ("max.in.flight.requests.per.connection", pace.in_flight_max()),
            ("queue.buffering.max.kbytes", "65536"),
            ("batch.num.messages", "100000"),
        ] {
            let is_said = [Some(name), alias(name)].into_iter().flatten().any(|own| self.client.get(own).is_some());
            if !is_said {
                config.set(name, value);
            }
        }
        let event_bytes_max = topic.map_or(BATCH_BYTES, |topic| topic.event_bytes_max).clamp(1_000, 1_000_000_000);
        let batch_bytes = event_bytes_max.saturating_sub(BATCH_HEAD_BYTES).min(self.batch_bytes).max(1);
        config
            .set("message.max.bytes", event_bytes_max.to_string())
            .set("batch.size", batch_bytes.to_string())
            .set("enable.idempotence", "true")
            .set("enable.gapless.guarantee", "true")
            .set("acks", "all")
            // Never expires.
            .set("message.timeout.ms", "0")
            .set("queue.buffering.max.messages", (2 * super::delivery::WINDOW).to_string());
        config
    }

    /// Returns the settings of a consumer of a topic.
    pub(super) fn consumer(&self) -> ClientConfig {
        let mut config = self.client.clone();
        config
            // Required by the client; no group is joined and nothing is committed.
            .set("group.id", "salver")
            .set("enable.auto.commit", "false")
            .set("auto.offset.reset", "earliest")
            .set("enable.partition.eof", "true")
            .set("isolation.level", "read_uncommitted")
            .set("fetch.wait.max.ms", "50");
        config
    }
}

/// Sending mode of a producer.
///
/// Events that arrive while a request is in flight form the next batch, so that no event has to linger. But with a
/// linger time of zero, librdkafka's thread spins while a request is in flight and something is queued behind it, which
/// on a busy machine takes a third of it from everything else; with a linger time, it sleeps for about a millisecond.
/// So up to some hundred events at a time are sent in waves: the session hands librdkafka one wave and holds the next
/// back until that is delivered. Measured with fifty clients that each wait for their event, on two processors shared
/// with the broker, latency is a sixth lower than with half a millisecond of linger and throughput a twentieth higher,
/// while the broker gets twice as many requests: where it has no processor to spare, throughput drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// All pending events at once; later ones follow when these are delivered.
    Waves,
    /// Events as they come, in large batches.
    Bulk,
}

impl Pace {
    /// Fewest events at a time that are sent in bulk.
    const BULK_EVENTS: u64 = 512;

    /// Returns the pace for a number of events at a time.
    pub(super) fn of(events: u64) -> Self {
        if events < Self::BULK_EVENTS { Self::Waves } else { Self::Bulk }
    }

    fn linger_ms(self) -> &'static str {
        match self {
            Self::Waves => "0",
            // A much lower value acts like zero: the thread would spin.
            Self::Bulk => "0.5",
        }
    }

    /// Returns the limit of requests in flight. A wave may go to several partitions, each with its own request.
    fn in_flight_max(self) -> &'static str {
        match self {
            // The maximum for an idempotent producer.
            Self::Waves => "5",
            Self::Bulk => "1",
        }
    }
}

/// Returns librdkafka's other name for a setting.
fn alias(name: &str) -> Option<&'static str> {
    Some(match name {
        "compression.type" => "compression.codec",
        "linger.ms" => "queue.buffering.max.ms",
        "max.in.flight.requests.per.connection" => "max.in.flight",
        _ => return None,
    })
}

/// Converts librdkafka's error about a setting, without its value, which may be a password whatever the setting's name
/// is.
pub(super) fn wrong(error: &KafkaError) -> Error {
    let error = match error.clone() {
        KafkaError::ClientConfig(result, why, name, value) if !value.is_empty() => {
            KafkaError::ClientConfig(result, why.replace(&value, MASK), name, MASK.to_owned())
        }
        other => other,
    };
    let message = match &error {
        KafkaError::ClientConfig(_, why, name, _) => {
            format!("`{name}` can't be what it is set to in Kafka's client: {why}")
        }
        other => format!("Kafka's client can't be made: {other}"),
    };
    Error::new(Code::Config, message).with_hint("Settings are named as librdkafka names them.").with_source(error)
}

#[cfg(test)]
mod tests {
    use salver_model::Code;
    use salver_model::spec::KafkaSpec;

    use super::{Pace, REFUSED, Settings};

    fn settings(name: &str, value: &str) -> salver_model::Result<Settings> {
        Settings::new(&KafkaSpec {
            brokers: vec!["a:1".to_owned(), "b:2".to_owned()],
            topic: "t".to_owned(),
            id_header: None,
            properties: vec![(name.to_owned(), value.to_owned())],
        })
    }

    #[test]
    fn promises_are_kept() {
        for name in REFUSED.iter().flat_map(|(names, _)| *names) {
            let error = settings(name, "1").unwrap_err();
            assert_eq!(error.code, Code::Config);
            assert!(error.to_string().contains(name), "{error}");
        }
        for (name, value) in [("no.such.setting", "1"), ("linger.ms", "soon")] {
            let error = settings(name, value).unwrap_err();
            assert_eq!(error.code, Code::Config);
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn the_rest_is_the_operators() {
        let config = settings("compression.codec", "gzip").unwrap().producer(None, Pace::Bulk);
        assert_eq!((config.get("compression.codec"), config.get("compression.type")), (Some("gzip"), None));
        assert_eq!(config.get("bootstrap.servers"), Some("a:1,b:2"));
        assert_eq!(config.get("acks"), Some("all"));
        assert_eq!(settings("linger.ms", "7").unwrap().producer(None, Pace::Waves).get("linger.ms"), Some("7"));
        assert_eq!(settings("batch.size", "7000").unwrap().producer(None, Pace::Waves).get("batch.size"), Some("7000"));
    }
}
