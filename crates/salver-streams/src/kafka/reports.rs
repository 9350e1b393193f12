//! What librdkafka reports of a producer: deliveries, failures, and how the brokers are.

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

/// An offset of the log travels with its record as a pointer would.
const _: () = assert!(usize::BITS >= 64, "offsets of a log need 64 bits");

/// Listens to one producer of a stream.
#[derive(Debug)]
pub(super) struct Reports {
    shared: Arc<Shared>,
    state: Arc<State>,
}

/// How one producer is.
#[derive(Debug, Default)]
pub(super) struct State {
    /// It can't go on; another one must.
    is_broken: AtomicBool,
    failures: Mutex<Vec<Failure>>,
}

/// A record that was not taken.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    /// Its event's offset in the log.
    pub(super) offset: u64,
    /// Why.
    pub(super) code: RDKafkaErrorCode,
}

impl Failure {
    /// Whether the fault is the event's: the same would happen to it again.
    pub(super) fn is_the_events(&self) -> bool {
        is_the_events(self.code)
    }
}

/// Whether an error speaks of a record, not of a broker or a topic.
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

impl State {
    /// Whether another producer must go on.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// Says that another producer must go on.
    pub(super) fn break_off(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
    }

    /// What was not taken.
    pub(super) fn failures(&self) -> Vec<Failure> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Reports {
    /// Tells `shared` what is delivered, and `state` how the producer is.
    pub(super) fn new(shared: Arc<Shared>, state: Arc<State>) -> Self {
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
                // What comes behind a failure is given up with the producer, and is sent by the next one.
                let is_given_up = matches!(
                    code,
                    RDKafkaErrorCode::PurgeQueue
                        | RDKafkaErrorCode::PurgeInflight
                        | RDKafkaErrorCode::Fatal
                        | RDKafkaErrorCode::GaplessGuarantee
                );
                if !is_given_up {
                    let failure = Failure { offset, code };
                    self.state.failures.lock().unwrap_or_else(PoisonError::into_inner).push(failure);
                }
                self.break_off();
            }
        }
    }
}
