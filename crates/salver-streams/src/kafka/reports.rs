//! Reports of librdkafka about a producer: deliveries, failures, and the state of the brokers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rdkafka::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::KafkaError;
use rdkafka::message::{DeliveryResult, Message};
use rdkafka::producer::ProducerContext;
use rdkafka::types::RDKafkaErrorCode;

use super::listener::log;
use super::shared::Shared;

/// The offset in the log travels with its record in a pointer-sized field.
const _: () = assert!(usize::BITS >= 64, "offsets of a log need 64 bits");

/// Producer context of a stream.
#[derive(Debug)]
pub(super) struct Reports {
    shared: Arc<Shared>,
    state: Arc<ProducerState>,
}

/// State of one producer.
#[derive(Debug, Default)]
pub(super) struct ProducerState {
    /// Whether the producer cannot continue and another one must take over.
    is_broken: AtomicBool,
    failures: Mutex<Vec<RejectedRecord>>,
}

/// Record that was rejected.
#[derive(Clone, Debug)]
pub(super) struct RejectedRecord {
    /// Offset of its event in the log.
    pub(super) offset: u64,
    /// Error code.
    pub(super) code: RDKafkaErrorCode,
}

impl RejectedRecord {
    /// Returns whether the fault is the event's own, so that a retry would fail again.
    pub(super) fn is_the_events(&self) -> bool {
        is_the_events(self.code)
    }

    /// Returns whether the record failed only because another one of its batch did, which the broker has named
    /// (KIP-467).
    pub(super) fn is_anothers(&self) -> bool {
        self.code == RDKafkaErrorCode::InvalidDifferentRecord
    }

    /// Returns whether the broker named this record. Kafka's client gives a single one the code of its batch, and
    /// several the code for an invalid record. Codes about sizes are the batch's.
    pub(super) fn is_at_fault(&self, are_named: bool) -> bool {
        match self.code {
            RDKafkaErrorCode::InvalidRecord => true,
            RDKafkaErrorCode::InvalidTimestamp | RDKafkaErrorCode::InvalidMessage => are_named,
            _ => false,
        }
    }
}

/// Returns whether an error concerns a record, not a broker or a topic.
pub(super) fn is_the_events(code: RDKafkaErrorCode) -> bool {
    matches!(
        code,
        RDKafkaErrorCode::MessageSizeTooLarge
            | RDKafkaErrorCode::MessageBatchTooLarge
            | RDKafkaErrorCode::InvalidMessage
            | RDKafkaErrorCode::InvalidRecord
            | RDKafkaErrorCode::InvalidTimestamp
            | RDKafkaErrorCode::PolicyViolation
            | RDKafkaErrorCode::UnsupportedForMessageFormat
    )
}

impl ProducerState {
    /// Returns whether another producer must take over.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Requests that another producer take over.
    pub(super) fn break_off(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    /// Returns the rejected records.
    pub(super) fn failures(&self) -> Vec<RejectedRecord> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Reports {
    /// Creates a context that reports deliveries to `shared`, and the producer's state to `state`.
    pub(super) fn new(shared: Arc<Shared>, state: Arc<ProducerState>) -> Self {
        Self { shared, state }
    }

    fn break_off(&self) {
        self.state.break_off();
        self.shared.call.notify_one();
    }
}

impl ClientContext for Reports {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        log(level, facility, message);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(stream = %self.shared.stream, %error, reason, "Kafka's client");
        match error {
            KafkaError::Global(RDKafkaErrorCode::Fatal) => self.break_off(),
            _ => self.shared.suspect(),
        }
    }
}

impl ProducerContext for Reports {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, offset: usize) {
        let offset = offset as u64;
        match result {
            Ok(message) => {
                let partition = u32::try_from(message.partition()).unwrap_or(0);
                self.shared.delivery.mark(offset, partition, u64::try_from(message.offset()).ok());
                self.shared.is_well();
            }
            Err((error, _)) => {
                let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Unknown);
                tracing::debug!(stream = %self.shared.stream, offset, %code, "Kafka's client did not deliver an event");
                // Records behind a failure are purged with the producer and resent by the next one.
                let is_given_up = matches!(
                    code,
                    RDKafkaErrorCode::PurgeQueue
                        | RDKafkaErrorCode::PurgeInflight
                        | RDKafkaErrorCode::Fatal
                        | RDKafkaErrorCode::GaplessGuarantee
                );
                if !is_given_up {
                    let failure = RejectedRecord { offset, code };
                    self.state.failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
                }
                self.break_off();
            }
        }
    }
}
