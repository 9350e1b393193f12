//! Delivery of events to Kafka: one drainer per stream reads the log and sends its events in order.
//!
//! An event is sent to Kafka once it is written to the log, so that the log holds everything the topic has even if this
//! process dies. The fsync follows, and the checkpoint waits for it. The log is authoritative; the delivered events are
//! a prefix of it, which grows with the delivery reports of an idempotent producer and is checkpointed once a second.
//! After a crash the end of the topic is compared with the log (`catch_up`), so that an event is in the topic once.
//! While the broker is unavailable, events stay in the log.

mod catch_up;
mod checkpoint;
mod delivery;
mod drain;
mod listener;
mod partition;
mod reports;
mod session;
mod settings;
mod shared;
mod topic;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rdkafka::admin::AdminClient;
use salver_model::limits::BROKER_MS_MAX;
use salver_model::spec::{KafkaSpec, StreamSpec};
use salver_model::streams::{Receipt, RejectedEvent};
use salver_model::{Code, Error, Result};

use self::checkpoint::Checkpoint;
use self::delivery::{DeliveryAnswer, Wait};
use self::drain::Drainer;
use self::listener::Listener;
use self::shared::{Ending, Shared};
use crate::aside::Aside;
use crate::log::Log;

/// Checks that Kafka's client accepts the settings of a stream.
///
/// # Errors
/// `Config` when a setting is wrong.
pub(crate) fn prove(spec: &KafkaSpec) -> Result<()> {
    settings::Settings::new(spec).map(|_| ())
}

/// Delivery of one stream to its topic.
pub(crate) struct Kafka {
    shared: Arc<Shared>,
    drainer: Mutex<Option<JoinHandle<Result<()>>>>,
}

impl Kafka {
    /// Starts delivering the events in the log and later ones. The broker need not be available yet.
    ///
    /// # Errors
    /// `Config` when a setting is wrong, `Source` when the checkpoint can't be read.
    pub(crate) fn start(spec: &StreamSpec, log: Arc<Log>, aside: Aside) -> Result<Self> {
        let Some(kafka) = &spec.kafka else {
            return Err(Error::new(Code::Config, format!("the stream `{}` has no topic", spec.name)));
        };
        let checkpoint = Checkpoint::read(&spec.dir)?;
        let ends = log.ends();
        let prefix = checkpoint.as_ref().map_or(ends.first, |own| own.delivered.clamp(ends.first, ends.next));
        let shared = Arc::new(Shared::new(spec.name.clone(), kafka, spec.dir.clone(), log, aside)?);
        shared.delivery.begin(prefix, Vec::new());
        shared.delivery.recall(checkpoint.as_ref().map(|own| own.asides.clone()).unwrap_or_default());
        shared.log.need_from(prefix);
        let admin: AdminClient<Listener> =
            shared.settings.admin().create_with_context(Listener).map_err(|error| settings::wrong(&error))?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .map_err(|error| Error::internal("no runtime for the way to Kafka").with_source(error))?;
        let drainer = Drainer::new(Arc::clone(&shared), admin, checkpoint);
        let mark = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name(format!("kafka-{}", spec.name))
            .spawn(move || {
                let _mark = EndMark(Arc::clone(&mark));
                runtime.block_on(drainer.run())
            })
            .map_err(|error| Error::internal("no thread for the way to Kafka").with_source(error))?;
        Ok(Self { shared, drainer: Mutex::new(Some(thread)) })
    }

    /// Waits until Kafka has the events of a receipt, and returns those that it will never accept.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when the broker does not answer in time (the events stay in the log).
    pub(crate) async fn delivered(&self, receipt: &Receipt) -> Result<Vec<RejectedEvent>> {
        let end = receipt.through();
        self.wait(end..end, end).await?;
        Ok(self.shared.delivery.rejected(receipt.offsets(), &receipt.repeated))
    }

    /// Waits like `delivered`, and returns what became of each event.
    ///
    /// # Errors
    /// `StreamUnavailable` when the broker does not answer in time.
    pub(crate) async fn places(&self, receipt: &Receipt) -> DeliveryAnswer {
        let mut places = self.wait(receipt.offsets(), receipt.through()).await?;
        places.extend(receipt.repeated.iter().map(|offset| self.shared.delivery.place(*offset)));
        Ok(places)
    }

    async fn wait(&self, range: Range<u64>, end: u64) -> DeliveryAnswer {
        match self.shared.delivery.wait(range, end) {
            Wait::Over(answer) => answer,
            Wait::On(answer) => {
                // Kafka gets only events that are written to the log.
                self.shared.log.hasten(end);
                match tokio::time::timeout(Duration::from_millis(BROKER_MS_MAX), answer).await {
                    Ok(Ok(answer)) => answer,
                    // Delivery has ended, or takes too long.
                    Ok(Err(_)) => Err(self.shared.overdue()),
                    Err(_) => {
                        self.shared.suspect();
                        Err(self.shared.overdue())
                    }
                }
            }
        }
    }

    /// Checks that events can be expected to reach Kafka soon, before one is accepted that must.
    ///
    /// # Errors
    /// `StreamUnavailable` while the broker is known to be away.
    pub(crate) fn reachable(&self) -> Result<()> {
        self.shared.reachable()
    }

    /// Returns the number of partitions of the topic.
    ///
    /// # Errors
    /// `StreamUnavailable` when the broker was never reached.
    pub(crate) async fn partitions(&self) -> Result<u32> {
        let known = async {
            loop {
                let found = self.shared.found.notified();
                if let Some(count) = self.shared.partitions() {
                    return count;
                }
                found.await;
            }
        };
        tokio::time::timeout(Duration::from_millis(BROKER_MS_MAX), known).await.map_err(|_| self.shared.overdue())
    }

    /// Returns the number of events in the log that are not known to be in Kafka.
    pub(crate) fn backlog(&self) -> u64 {
        self.shared.log.ends().next.saturating_sub(self.shared.delivery.prefix())
    }

    /// Sends what can be sent within some seconds, and writes the checkpoint. Call it before the log is closed.
    ///
    /// # Errors
    /// Returns `StreamUnavailable` when the checkpoint cannot be written.
    pub(crate) async fn close(&self) -> Result<()> {
        self.shared.end(Ending::Orderly);
        let drainer = self.drainer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(drainer) = drainer else { return Ok(()) };
        tokio::task::spawn_blocking(move || drainer.join())
            .await
            .map_err(|error| Error::internal("the way to Kafka did not end").with_source(error))?
            .unwrap_or_else(|_| Err(Error::internal("the way to Kafka broke off")))
    }
}

/// Guard that announces the end of the drainer when it stops, so that no request keeps waiting for it.
struct EndMark(Arc<Shared>);

impl Drop for EndMark {
    fn drop(&mut self) {
        if self.0.ending() == Ending::No {
            self.0.is_away("the way to Kafka broke off; the server must be started again");
        }
        self.0.delivery.let_go();
    }
}

impl Drop for Kafka {
    fn drop(&mut self) {
        self.shared.end(Ending::AtOnce);
        if let Some(drainer) = self.drainer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // The drainer holds the log, which may be reopened after this.
            let _ = drainer.join();
        }
    }
}

impl std::fmt::Debug for Kafka {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Kafka").field(&self.shared).finish()
    }
}
