//! Events on their way to Kafka: one drainer a stream reads the log and sends it, in order.
//!
//! An event goes to Kafka when it is written to the log, so that the log has, whatever becomes of this process, all
//! that the topic has; the sync follows, and the checkpoint waits for it. The log is the truth; what is delivered is
//! a prefix of it, which grows with the reports of an idempotent producer and is written down once a second. After
//! a crash the end of the topic is compared with the log (`catch_up`), so that an event is in the topic once. While
//! the broker is away, events stay in the log.

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

use bytes::Bytes;
use futures::future::BoxFuture;
use rdkafka::admin::AdminClient;
use salver_model::limits::BROKER_MS_MAX;
use salver_model::spec::{KafkaSpec, StreamSpec};
use salver_model::{Code, Error, Result};

use self::checkpoint::Checkpoint;
use self::delivery::{Answer, Wait};
use self::drain::Drainer;
use self::listener::Listener;
use self::shared::{Ending, Shared};
use crate::log::Log;

/// Takes an event that Kafka never will, with the reason; completes when it is safe.
pub(crate) type Aside = Arc<dyn Fn(Bytes, String) -> BoxFuture<'static, Result<()>> + Send + Sync>;

/// Whether Kafka's client takes the settings of a stream.
///
/// # Errors
/// `Config` when a setting is wrong.
pub(crate) fn prove(spec: &KafkaSpec) -> Result<()> {
    settings::Settings::new(spec).map(|_| ())
}

/// The way of one stream to its topic.
pub(crate) struct Kafka {
    shared: Arc<Shared>,
    drainer: Mutex<Option<JoinHandle<Result<()>>>>,
}

impl Kafka {
    /// Starts to hand on what is in the log and what comes. The broker need not be there yet.
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

    /// Waits until Kafka has the events of a range of the log.
    ///
    /// # Errors
    /// `StreamUnavailable` when the broker does not answer in time: the events stay in the log. `InvalidEvent` when
    /// Kafka never takes one of them.
    pub(crate) async fn delivered(&self, range: Range<u64>) -> Result<()> {
        self.wait(range, false).await.map(|_| ())
    }

    /// Waits as `delivered`, and says of each of the events where it is, or why it is not there: `InvalidEvent` when
    /// Kafka never takes it, `StreamUnavailable` when it was delivered so long ago that its place is not known any
    /// more.
    ///
    /// # Errors
    /// `StreamUnavailable` when the broker does not answer in time.
    pub(crate) async fn places(&self, range: Range<u64>) -> Answer {
        self.wait(range, true).await
    }

    async fn wait(&self, range: Range<u64>, wants_places: bool) -> Answer {
        let end = range.end;
        match self.shared.delivery.wait(range, wants_places) {
            Wait::Over(answer) => answer,
            Wait::On(answer) => {
                // Kafka gets nothing that is not written.
                self.shared.log.hasten(end);
                match tokio::time::timeout(Duration::from_millis(BROKER_MS_MAX), answer).await {
                    Ok(Ok(answer)) => answer,
                    // The way ends, or takes too long.
                    Ok(Err(_)) => Err(self.shared.overdue()),
                    Err(_) => {
                        self.shared.suspect();
                        Err(self.shared.overdue())
                    }
                }
            }
        }
    }

    /// Whether an event can be expected to be in Kafka soon; asked before one is taken that must be.
    ///
    /// # Errors
    /// `StreamUnavailable` while the broker is known to be away.
    pub(crate) fn reachable(&self) -> Result<()> {
        self.shared.reachable()
    }

    /// How many partitions the topic has.
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

    /// How many events of the log are not known to be in Kafka.
    pub(crate) fn backlog(&self) -> u64 {
        self.shared.log.ends().next.saturating_sub(self.shared.delivery.prefix())
    }

    /// Sends what can be sent within some seconds, and writes down how far that was. Before the log is closed.
    ///
    /// # Errors
    /// `StreamUnavailable` when that could not be written.
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

/// Says it when the drainer breaks off, so that nobody waits for it.
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
            // It holds the log, which may be opened again after this.
            let _ = drainer.join();
        }
    }
}

impl std::fmt::Debug for Kafka {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Kafka").field(&self.shared).finish()
    }
}
