//! The drainer: a thread that reads a stream's log in order and sends its events until the stream is closed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rdkafka::admin::AdminClient;
use rdkafka::types::RDKafkaErrorCode;
use salver_model::limits::BROKER_CLOSE_MS_MAX;
use salver_model::{Error, Result};
use tokio::task::JoinHandle;

use super::checkpoint::Checkpoint;
use super::delivery::LAG_EVENTS;
use super::listener::Listener;
use super::reports::RejectedRecord;
use super::session::ProducerSession;
use super::shared::{Ending, Shared};
use super::{catch_up, topic};
use crate::log::frame::Frame;

/// Interval between checkpoints, and between attempts to reach a broker.
const BEAT: Duration = Duration::from_secs(1);
/// Number of beats between two checks of the topic's partition count.
const LOOK_BEATS: u64 = 60;
/// Bytes of the log taken at a time.
const TAKE_BYTES: usize = 1024 * 1024;

/// Private state of the drainer; the shared state is in [`Shared`].
pub(super) struct Drainer {
    shared: Arc<Shared>,
    admin: AdminClient<Listener>,
    /// Checkpoint on disk when the stream was opened.
    checkpoint: Option<Checkpoint>,
    /// Whether something may have been sent since the last clean checkpoint.
    is_in_doubt: bool,
    /// Offset from which on nothing was ever sent.
    sent: u64,
    /// Prefix in the checkpoint on disk.
    saved: u64,
    saving: Option<JoinHandle<Result<u64>>>,
    /// Events that were rejected once: they are sent again alone.
    suspects: BTreeSet<u64>,
    beats: u64,
}

impl Drainer {
    /// Creates a drainer that resumes from `checkpoint`. Any event already in the log may have been sent; later ones
    /// were not.
    pub(super) fn new(shared: Arc<Shared>, admin: AdminClient<Listener>, checkpoint: Option<Checkpoint>) -> Self {
        let sent = shared.log.ends().next;
        Self {
            shared,
            admin,
            checkpoint,
            is_in_doubt: true,
            sent,
            saved: 0,
            saving: None,
            suspects: BTreeSet::new(),
            beats: 0,
        }
    }

    /// Sends events until the stream ends.
    pub(super) async fn run(mut self) -> Result<()> {
        let mut has_begun = false;
        while self.shared.ending() == Ending::No {
            match self.connect(&mut has_begun).await {
                Ok(mut session) => {
                    self.shared.is_well();
                    self.deliver(&mut session).await;
                    let state = session.state();
                    // The old producer must be gone before the topic is compared again. Its last reports come with
                    // its end.
                    drop(session);
                    self.learn(state.failures()).await;
                }
                Err(why) => {
                    self.shared.is_away(&why);
                    self.pause(BEAT).await;
                }
            }
        }
        if self.shared.ending() == Ending::Orderly && has_begun {
            self.last_checkpoint().await?;
        }
        Ok(())
    }

    /// Finds the topic, compares it with the log, and creates a producer.
    async fn connect(&mut self, has_begun: &mut bool) -> Result<ProducerSession, String> {
        let shared = &*self.shared;
        let topic = topic::find(&self.admin, &shared.topic).await.map_err(|error| error.to_string())?;
        let (prefix, mut positions) = shared.delivery.state();
        if *has_begun {
            positions.resize(topic.partitions as usize, 0);
        } else {
            let old = self.checkpoint.as_ref().filter(|old| old.topic == shared.topic);
            self.is_in_doubt = old.is_some_and(|old| !old.is_clean);
            positions = old.map_or_else(|| topic.ends.clone(), |old| old.positions.clone());
            positions.resize(topic.partitions as usize, 0);
        }
        for (position, end) in positions.iter_mut().zip(&topic.ends) {
            // A topic that ends before this offset was recreated.
            *position = if *position > *end { 0 } else { *position };
        }
        let found = if self.is_in_doubt {
            catch_up::catch_up(shared, &topic, (prefix, &positions), self.sent)?
        } else {
            std::collections::HashMap::new()
        };
        if !*has_begun || !self.is_in_doubt {
            let first = Checkpoint {
                topic: shared.topic.clone(),
                delivered: prefix,
                positions: positions.clone(),
                is_clean: false,
                asides: shared.delivery.asides(),
            };
            first.write(&shared.dir).map_err(|error| error.to_string())?;
            self.saved = prefix;
            shared.log.need_from(prefix);
        }
        *has_begun = true;
        self.is_in_doubt = true;
        shared.delivery.begin(prefix, positions);
        shared.set_partitions(topic.partitions);
        ProducerSession::new(&self.shared, &topic, found).map_err(|error| error.to_string())
    }

    /// Sends the log from the delivered prefix on, until another session must take over or the stream ends.
    async fn deliver(&mut self, session: &mut ProducerSession) {
        let shared = Arc::clone(&self.shared);
        let mut next = shared.delivery.prefix();
        let mut beat = Instant::now();
        let mut closing = None;
        while !session.is_broken() {
            if self.is_over(next, &mut closing) {
                break;
            }
            if beat.elapsed() >= BEAT || shared.take_suspicion() {
                beat = Instant::now();
                self.beat(session);
            }
            if session.wait(BEAT.saturating_sub(beat.elapsed())).await {
                continue;
            }
            if !self.keep_up().await {
                self.wait(u64::MAX, BEAT.saturating_sub(beat.elapsed())).await;
                continue;
            }
            // An event that is not written is lost when the process is killed, and its offset is reused. Sending it
            // earlier could leave a record in the topic that the table lacks.
            let written = shared.log.written_end();
            let frames = match shared.frames_at(next, TAKE_BYTES) {
                Ok(frames) => frames.into_iter().take_while(|frame| frame.head.end() <= written).collect::<Vec<_>>(),
                Err(why) => {
                    tracing::error!(stream = %shared.stream, why, "the log can't be read");
                    shared.is_away(&why);
                    self.pause(BEAT).await;
                    continue;
                }
            };
            let Some(first) = frames.first() else {
                if shared.log.fault().is_some() {
                    shared.delivery.refuse(next, || shared.log.fault().unwrap_or_else(|| shared.overdue()));
                }
                self.wait(next, BEAT.saturating_sub(beat.elapsed())).await;
                continue;
            };
            if first.head.offset > next {
                self.leave_out(next..first.head.offset);
                next = first.head.offset;
            }
            let end = frames.last().map_or(next, |frame| frame.head.end());
            if !session.set_pace(end - shared.delivery.prefix()) {
                continue;
            }
            for frame in &frames {
                next = session.send_frame(frame, next, &self.suspects).await;
                if next < frame.head.end() {
                    break;
                }
            }
            session.end_wave();
            self.sent = self.sent.max(next);
            // Let the checkpoint's task run.
            tokio::task::yield_now().await;
        }
    }

    /// Returns whether the stream ends and enough was sent for that.
    fn is_over(&self, next: u64, closing: &mut Option<Instant>) -> bool {
        match self.shared.ending() {
            Ending::No => false,
            Ending::AtOnce => true,
            Ending::Orderly => {
                let since = *closing.get_or_insert_with(Instant::now);
                let all_is_there = self.shared.delivery.prefix() >= self.shared.log.ends().next.max(next);
                all_is_there
                    || self.shared.is_troubled()
                    || since.elapsed() > Duration::from_millis(BROKER_CLOSE_MS_MAX)
            }
        }
    }

    /// Runs the periodic work.
    fn beat(&mut self, session: &ProducerSession) {
        self.save();
        self.beats += 1;
        if !self.shared.is_troubled() && !self.beats.is_multiple_of(LOOK_BEATS) && !session.is_stalled() {
            return;
        }
        match topic::count_partitions(&self.admin, &self.shared.topic) {
            Ok(count) => {
                self.shared.is_well();
                let known = self.shared.partitions().unwrap_or(count);
                if count < known {
                    session.break_off();
                } else if count > known {
                    self.shared.set_partitions(count);
                }
            }
            Err(error) => self.shared.is_away(&error.to_string()),
        }
    }

    /// Keeps the checkpoint from falling too far behind; returns `false` when no more must be sent.
    async fn keep_up(&mut self) -> bool {
        let lag = |own: &Self| own.shared.delivery.prefix().saturating_sub(own.saved);
        if lag(self) <= LAG_EVENTS / 4 {
            return true;
        }
        self.save();
        if lag(self) > LAG_EVENTS
            && let Some(saving) = self.saving.take()
        {
            self.saved_as(saving.await.map_err(|error| Error::internal(error.to_string())).and_then(|own| own));
        }
        lag(self) <= LAG_EVENTS
    }

    /// Starts writing a checkpoint if there is progress and no write is running.
    fn save(&mut self) {
        if self.saving.as_ref().is_some_and(|saving| !saving.is_finished()) {
            return;
        }
        if let Some(saving) = self.saving.take() {
            use futures::FutureExt;
            if let Some(done) = saving.now_or_never() {
                self.saved_as(done.map_err(|error| Error::internal(error.to_string())).and_then(|own| own));
            }
        }
        let (delivered, positions) = self.shared.delivery.state();
        if delivered > self.saved {
            let shared = Arc::clone(&self.shared);
            self.saving = Some(tokio::spawn(write(shared, delivered, positions, false)));
        }
    }

    fn saved_as(&mut self, done: Result<u64>) {
        match done {
            Ok(saved) => {
                self.saved = saved;
                self.shared.log.need_from(saved);
            }
            Err(error) => tracing::warn!(stream = %self.shared.stream, %error, "no checkpoint"),
        }
    }

    /// Writes the final checkpoint of a stream that is closed in order.
    async fn last_checkpoint(&mut self) -> Result<()> {
        if let Some(saving) = self.saving.take() {
            // The checkpoint written next supersedes this one.
            let _ = saving.await;
        }
        let (delivered, positions) = self.shared.delivery.state();
        let is_clean = delivered >= self.shared.log.ends().next;
        write(Arc::clone(&self.shared), delivered, positions, is_clean).await.map(|_| ())
    }

    /// Handles rejected records: an event that the broker names as the one at fault is set aside. Any other may have
    /// failed with its batch: it is sent again alone, and set aside if it fails again.
    async fn learn(&mut self, failures: Vec<RejectedRecord>) {
        let stream = self.shared.stream.clone();
        let are_named = failures.iter().any(RejectedRecord::is_anothers);
        let is_nobodys = failures.iter().all(RejectedRecord::is_anothers);
        let mut trouble = None;
        for failure in failures {
            let (offset, code) = (failure.offset, failure.code);
            if failure.is_anothers() && !is_nobodys {
                continue;
            }
            if !failure.is_the_events() && !failure.is_anothers() {
                trouble = Some(code);
            } else if failure.is_at_fault(are_named) || !self.suspects.insert(offset) {
                self.set_aside(offset, code).await;
            } else {
                tracing::warn!(%stream, offset, %code, "Kafka refused an event; it is sent again alone");
            }
        }
        self.suspects = self.suspects.split_off(&self.shared.delivery.prefix());
        if let Some(code) = trouble {
            self.shared.is_away(&code.to_string());
            self.pause(BEAT).await;
        }
    }

    async fn set_aside(&self, offset: u64, code: RDKafkaErrorCode) {
        let frames = self.shared.frames_at(offset, 1).unwrap_or_default();
        let placed = frames.iter().flat_map(Frame::records).find(|placed| placed.offset == offset);
        if let Some(placed) = placed {
            self.shared.set_aside(&placed, &code.to_string()).await;
        }
    }

    fn leave_out(&self, gone: std::ops::Range<u64>) {
        tracing::error!(
            stream = %self.shared.stream, from = gone.start, to = gone.end,
            "the log does not have these events any more; they can't go to Kafka"
        );
        self.shared.delivery.skip_to(gone.end);
    }

    /// Waits until the event at `next` is written, the drainer is notified, or a time is over.
    async fn wait(&self, next: u64, time: Duration) {
        tokio::select! {
            () = self.shared.log.written(next) => {}
            () = self.shared.call.notified() => {}
            () = tokio::time::sleep(time) => {}
        }
    }

    async fn pause(&self, time: Duration) {
        let until = Instant::now() + time;
        while self.shared.ending() == Ending::No && Instant::now() < until {
            // A notification is meant for the sending drainer; here it can only announce the end.
            let left = until.saturating_duration_since(Instant::now());
            let _ = tokio::time::timeout(left, self.shared.call.notified()).await;
        }
    }
}

/// Writes a checkpoint once the log itself is durable up to it: offsets that a crash removes from the log are reused by
/// other events, which must not count as delivered.
async fn write(shared: Arc<Shared>, delivered: u64, positions: Vec<u64>, is_clean: bool) -> Result<u64> {
    shared.log.durable(delivered).await?;
    let mut asides = shared.delivery.asides();
    asides.split_off(&delivered);
    let checkpoint = Checkpoint { topic: shared.topic.clone(), delivered, positions, is_clean, asides };
    let put = tokio::task::spawn_blocking(move || checkpoint.write(&shared.dir));
    put.await.map_err(|error| Error::internal("the checkpoint's writer failed").with_source(error))??;
    Ok(delivered)
}
