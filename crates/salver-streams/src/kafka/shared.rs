//! State shared by a stream's requests, its drainer and its producer.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use salver_model::{Code, Error, Name, Result};
use tokio::sync::Notify;

use super::delivery::Delivery;
use super::settings::Settings;
use crate::aside::Aside;
use crate::log::Log;
use crate::log::frame::{Frame, Placed};

/// Shutdown state of the drainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Running.
    No,
    /// Sends what it can within some seconds, and writes the checkpoint.
    Orderly,
    /// Stops immediately.
    AtOnce,
}

/// Shared state of a stream's delivery.
pub(super) struct Shared {
    /// Name of the stream.
    pub(super) stream: Name,
    /// Name of the topic.
    pub(super) topic: String,
    /// Name of the header for the id.
    pub(super) id_header: Option<String>,
    /// Directory of the checkpoint.
    pub(super) dir: PathBuf,
    /// Log to deliver.
    pub(super) log: Arc<Log>,
    /// Delivery state.
    pub(super) delivery: Delivery,
    /// Settings of the clients.
    pub(super) settings: Settings,
    /// Stores events that Kafka does not accept.
    pub(super) aside: Aside,
    /// Notifies the drainer.
    pub(super) call: Notify,
    /// Notified when the partition count is known.
    pub(super) found: Notify,
    /// Number of partitions of the topic; 0 when not yet known.
    partitions: AtomicU32,
    /// Reason why the broker is unavailable.
    trouble: ArcSwapOption<String>,
    is_in_trouble: AtomicBool,
    is_suspect: AtomicBool,
    ending: AtomicU8,
}

impl Shared {
    /// Creates the initial state.
    pub(super) fn new(
        stream: Name,
        kafka: &salver_model::spec::KafkaSpec,
        dir: PathBuf,
        log: Arc<Log>,
        aside: Aside,
    ) -> Result<Self> {
        Ok(Self {
            stream,
            topic: kafka.topic.clone(),
            id_header: kafka.id_header.clone(),
            dir,
            log,
            delivery: Delivery::new(),
            settings: Settings::new(kafka)?,
            aside,
            call: Notify::new(),
            found: Notify::new(),
            partitions: AtomicU32::new(0),
            trouble: ArcSwapOption::empty(),
            is_in_trouble: AtomicBool::new(false),
            is_suspect: AtomicBool::new(false),
            ending: AtomicU8::new(0),
        })
    }

    /// Returns the number of partitions of the topic, once known.
    pub(super) fn partitions(&self) -> Option<u32> {
        Some(self.partitions.load(Ordering::Acquire)).filter(|count| *count > 0)
    }

    /// Records the number of partitions of the topic.
    pub(super) fn set_partitions(&self, count: u32) {
        self.partitions.store(count, Ordering::Release);
        self.found.notify_waiters();
    }

    /// Marks the broker as possibly unavailable: the drainer shall probe it.
    pub(super) fn suspect(&self) {
        self.is_suspect.store(true, Ordering::Relaxed);
        self.call.notify_one();
    }

    /// Returns and clears the suspicion that the broker is unavailable.
    pub(super) fn take_suspicion(&self) -> bool {
        self.is_suspect.swap(false, Ordering::Relaxed)
    }

    /// Marks the broker as unavailable.
    pub(super) fn is_away(&self, why: &str) {
        if !self.is_in_trouble.swap(true, Ordering::Relaxed) {
            tracing::warn!(stream = %self.stream, topic = self.topic, why, "Kafka can't be reached; events are kept");
        }
        self.trouble.store(Some(Arc::new(why.to_owned())));
    }

    /// Marks the broker as available.
    pub(super) fn is_well(&self) {
        if self.is_in_trouble.load(Ordering::Relaxed) && self.is_in_trouble.swap(false, Ordering::Relaxed) {
            self.trouble.store(None);
            tracing::info!(stream = %self.stream, topic = self.topic, "Kafka can be reached again");
        }
    }

    /// Returns whether the broker is known to be unavailable.
    pub(super) fn is_troubled(&self) -> bool {
        self.is_in_trouble.load(Ordering::Relaxed)
    }

    /// Returns an error when the broker is known to be unavailable.
    pub(super) fn reachable(&self) -> Result<()> {
        if !self.is_troubled() {
            return Ok(());
        }
        match &*self.trouble.load() {
            Some(why) => Err(Error::new(
                Code::StreamUnavailable,
                format!("the broker of stream `{}` can't be reached: {why}", self.stream),
            )
            .with_hint("Nothing was taken; try again later, or with `ack=disk`, which does not need the broker.")),
            None => Ok(()),
        }
    }

    /// Returns the error of a request that timed out.
    pub(super) fn overdue(&self) -> Error {
        let why = self.trouble.load().as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        let message = format!(
            "the broker of stream `{}` has not answered in time{why}; the events are kept in the log and go to Kafka \
             when it does",
            self.stream
        );
        Error::new(Code::StreamUnavailable, message).with_hint(
            "Send nothing again that has no id of its own: a repeated id is recognised, other events double.",
        )
    }

    /// Sets an event aside that Kafka does not accept, and waits until it is stored.
    pub(super) async fn set_aside(&self, placed: &Placed<'_>, reason: &str) {
        if self.delivery.is_aside(placed.offset) {
            // Set aside by an earlier session.
            return;
        }
        let reason = format!("Kafka did not take it: {reason}");
        tracing::warn!(stream = %self.stream, offset = placed.offset, reason, "an event goes to the quarantine");
        while let Err(error) = (self.aside)(Bytes::copy_from_slice(placed.record.value), reason.clone()).await {
            tracing::warn!(stream = %self.stream, %error, "the quarantine takes nothing");
            if self.ending() != Ending::No {
                return;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        self.delivery.set_aside(placed.offset, reason);
    }

    /// Returns frames of the log from `from` on, from memory or disk; damaged parts of the log are skipped.
    pub(super) fn frames_at(&self, from: u64, bytes_max: usize) -> Result<Vec<Frame>, String> {
        if let Some(frames) = self.log.recent(from, bytes_max) {
            return Ok(frames);
        }
        let told = |error: Error| error.chain();
        self.log.read(from, bytes_max).or_else(|_| self.log.read(self.log.good_from(from)?, bytes_max)).map_err(told)
    }

    /// Returns the shutdown state.
    pub(super) fn ending(&self) -> Ending {
        match self.ending.load(Ordering::Acquire) {
            0 => Ending::No,
            1 => Ending::Orderly,
            _ => Ending::AtOnce,
        }
    }

    /// Asks the drainer to end.
    pub(super) fn end(&self, ending: Ending) {
        self.ending.fetch_max(ending as u8, Ordering::AcqRel);
        self.call.notify_one();
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("stream", &self.stream).field("topic", &self.topic).finish_non_exhaustive()
    }
}
