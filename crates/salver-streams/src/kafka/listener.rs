//! What librdkafka says by itself: its log, and the errors of clients that ask and read.

use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::KafkaError;

/// Listens to clients that ask and read.
#[derive(Debug)]
pub(super) struct Listener;

impl ClientContext for Listener {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(%error, reason, "Kafka's client");
    }
}

impl ConsumerContext for Listener {}

/// A broker that is away is told of once, by the drainer, and not with each attempt to reach it.
pub(super) fn log(level: RDKafkaLogLevel, facility: &str, message: &str) {
    match level {
        RDKafkaLogLevel::Emerg | RDKafkaLogLevel::Alert | RDKafkaLogLevel::Critical => {
            tracing::error!(facility, "Kafka's client: {message}");
        }
        _ => tracing::debug!(facility, "Kafka's client: {message}"),
    }
}
