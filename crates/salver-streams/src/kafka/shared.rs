//! What a stream's requests, its drainer and its producer share.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use salver_model::{Code, Error, Name, Result};
use tokio::sync::Notify;

use super::Aside;
use super::delivery::Delivery;
use super::settings::Settings;
use crate::log::Log;
use crate::log::frame::{Frame, Placed};

/// Whether the drainer goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It does.
    No,
    /// It sends what it can within some seconds, and writes the checkpoint.
    Orderly,
    /// It stops where it stands.
    AtOnce,
}

/// What all share.
pub(super) struct Shared {
    /// The stream's name.
    pub(super) stream: Name,
    /// Its topic.
    pub(super) topic: String,
    /// The header for the id.
    pub(super) id_header: Option<String>,
    /// Where the checkpoint is.
    pub(super) dir: PathBuf,
    /// What is handed on.
    pub(super) log: Arc<Log>,
    /// What is delivered.
    pub(super) delivery: Delivery,
    /// Of the clients.
    pub(super) settings: Settings,
    /// Takes what Kafka does not.
    pub(super) aside: Aside,
    /// Something happened that the drainer should look at.
    pub(super) call: Notify,
    /// The number of partitions is known now.
    pub(super) found: Notify,
    /// How many partitions the topic has; 0 when that is not known yet.
    partitions: AtomicU32,
    /// Why the broker can't be reached.
    trouble: ArcSwapOption<String>,
    is_in_trouble: AtomicBool,
    is_suspect: AtomicBool,
    ending: AtomicU8,
}

impl Shared {
    /// Nothing happened yet.
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

    /// How many partitions the topic has, once that is known.
    pub(super) fn partitions(&self) -> Option<u32> {
        Some(self.partitions.load(Ordering::Acquire)).filter(|count| *count > 0)
    }

    /// Remembers how many partitions the topic has.
    pub(super) fn set_partitions(&self, count: u32) {
        self.partitions.store(count, Ordering::Release);
        self.found.notify_waiters();
    }

    /// The broker may be away: the drainer shall ask.
    pub(super) fn suspect(&self) {
        self.is_suspect.store(true, Ordering::Relaxed);
        self.call.notify_one();
    }

    /// Whether somebody suspected it since this was asked last.
    pub(super) fn take_suspicion(&self) -> bool {
        self.is_suspect.swap(false, Ordering::Relaxed)
    }

    /// The broker can't be reached.
    pub(super) fn is_away(&self, why: &str) {
        if !self.is_in_trouble.swap(true, Ordering::Relaxed) {
            tracing::warn!(stream = %self.stream, topic = self.topic, why, "Kafka can't be reached; events are kept");
        }
        self.trouble.store(Some(Arc::new(why.to_owned())));
    }

    /// The broker answers.
    pub(super) fn is_well(&self) {
        if self.is_in_trouble.load(Ordering::Relaxed) && self.is_in_trouble.swap(false, Ordering::Relaxed) {
            self.trouble.store(None);
            tracing::info!(stream = %self.stream, topic = self.topic, "Kafka can be reached again");
        }
    }

    /// Whether the broker is known to be away.
    pub(super) fn is_troubled(&self) -> bool {
        self.is_in_trouble.load(Ordering::Relaxed)
    }

    /// An error when the broker is known to be away.
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

    /// The error of a request that has waited long enough.
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

    /// Lays an event aside that Kafka does not take, and goes on when it lies there.
    pub(super) async fn set_aside(&self, placed: &Placed<'_>, reason: &str) {
        if self.delivery.is_aside(placed.offset) {
            // By a session before this one.
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

    /// Frames of the log from `from` on, from memory or disk; where the log is damaged, from behind that.
    pub(super) fn frames_at(&self, from: u64, bytes_max: usize) -> Result<Vec<Frame>, String> {
        if let Some(frames) = self.log.recent(from, bytes_max) {
            return Ok(frames);
        }
        let told = |error: Error| error.chain();
        self.log.read(from, bytes_max).or_else(|_| self.log.read(self.log.good_from(from)?, bytes_max)).map_err(told)
    }

    /// Whether the drainer goes on.
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
