//! Log messages and errors that librdkafka reports for admin clients and consumers.

use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::consumer::ConsumerContext;
use rdkafka::error::KafkaError;

/// Client context of admin clients and consumers.
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

/// Writes a message of librdkafka to the log. An unavailable broker is reported once, by the drainer, and not at each
/// attempt to reach it.
pub(super) fn log(level: RDKafkaLogLevel, facility: &str, message: &str) {
    match level {
        RDKafkaLogLevel::Emerg | RDKafkaLogLevel::Alert | RDKafkaLogLevel::Critical => {
            tracing::error!(facility, "Kafka's client: {message}");
        }
        _ => tracing::debug!(facility, "Kafka's client: {message}"),
    }
}
