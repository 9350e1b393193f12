//! Session of one producer: from the comparison with the topic to the first failure, or the stream's end.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rdkafka::error::KafkaError;
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::{BaseRecord, ThreadedProducer};
use rdkafka::types::RDKafkaErrorCode;
use salver_model::streams::Placement;

use super::catch_up::time_of;
use super::delivery::WINDOW;
use super::partition;
use super::reports::{ProducerState, Reports, is_the_events};
use super::settings::Pace;
use super::shared::Shared;
use super::topic::{Topic, number};
use crate::id;
use crate::log::frame::{Frame, Placed};

/// Time without delivery reports after which the broker is probed.
const STALL: Duration = Duration::from_secs(3);

/// Time for which the pace stays at bulk after the last bulk.
const BULK_LASTS: Duration = Duration::from_millis(50);

/// Longest time a wave delays the next one: while one partition is unavailable, the others continue.
const WAVE_LASTS: Duration = Duration::from_millis(100);

/// Producer, and the events it need not send.
pub(super) struct ProducerSession {
    shared: Arc<Shared>,
    /// One producer for each pace. While one has records in flight, the other sends nothing, to keep the order.
    waves: ThreadedProducer<Reports>,
    bulk: ThreadedProducer<Reports>,
    pace: Pace,
    /// Time of the last bulk of events.
    bulk_seen: Option<Instant>,
    /// End of the last wave, and the time it was sent.
    wave: Option<(u64, Instant)>,
    state: Arc<ProducerState>,
    /// Events that an earlier producer has sent.
    found: HashMap<u64, Placement>,
    /// Events that are set aside, though some before them are not delivered.
    asides: BTreeSet<u64>,
    next: u64,
    /// Offset below which events need no check of the in-flight limit.
    room_until: u64,
    /// Offset that must be delivered before more is sent.
    awaited: Option<u64>,
    /// Prefix when it last advanced, and the time of that.
    progress: std::cell::Cell<(u64, Instant)>,
}

impl ProducerSession {
    /// Creates a session for a topic.
    pub(super) fn new(shared: &Arc<Shared>, topic: &Topic, found: HashMap<u64, Placement>) -> Result<Self, KafkaError> {
        let state = Arc::new(ProducerState::default());
        let producer = |pace| {
            let reports = Reports::new(Arc::clone(shared), Arc::clone(&state));
            shared.settings.producer(Some(topic), pace).create_with_context(reports)
        };
        let (waves, bulk) = (producer(Pace::Waves)?, producer(Pace::Bulk)?);
        let next = shared.delivery.prefix();
        let progress = std::cell::Cell::new((next, Instant::now()));
        Ok(Self {
            shared: Arc::clone(shared),
            waves,
            bulk,
            pace: Pace::Waves,
            bulk_seen: None,
            wave: None,
            state,
            found,
            asides: shared.delivery.asides_from(next),
            next,
            room_until: 0,
            awaited: None,
            progress,
        })
    }

    /// Returns whether another session must take over.
    pub(super) fn is_broken(&self) -> bool {
        self.state.is_broken()
    }

    /// Requests that another session take over.
    pub(super) fn break_off(&self) {
        self.state.break_off();
    }

    /// Returns the state of the producers, which gets their last reports when the session is dropped.
    pub(super) fn state(&self) -> Arc<ProducerState> {
        Arc::clone(&self.state)
    }

    /// Returns whether records are in flight and no reports arrive.
    pub(super) fn is_stalled(&self) -> bool {
        let (prefix, (old, since)) = (self.shared.delivery.prefix(), self.progress.get());
        if prefix != old || prefix >= self.next {
            self.progress.set((prefix, Instant::now()));
            return false;
        }
        since.elapsed() > STALL
    }

    /// Chooses the pace for `events` that are not in Kafka; returns `false` when records in flight at another pace must
    /// be delivered first.
    pub(super) fn set_pace(&mut self, events: u64) -> bool {
        match Pace::of(events) {
            Pace::Bulk => self.bulk_seen = Some(Instant::now()),
            // Clients whose responses went out together return one by one.
            Pace::Waves if self.bulk_seen.is_some_and(|then| then.elapsed() < BULK_LASTS) => {}
            Pace::Waves => self.bulk_seen = None,
        }
        let pace = if self.bulk_seen.is_some() { Pace::Bulk } else { Pace::Waves };
        if pace != self.pace {
            if self.shared.delivery.prefix() >= self.next {
                self.pace = pace;
            } else if pace == Pace::Bulk {
                self.awaited = Some(self.next);
                return false;
            }
        }
        true
    }

    /// Sends the events of a frame from offset `from` on. Returns the offset behind the last one sent, which is not the
    /// end of the frame when delivery has to be awaited, or another session must take over.
    pub(super) async fn send_frame(&mut self, frame: &Frame, from: u64, suspects: &BTreeSet<u64>) -> u64 {
        let partitions = self.shared.partitions().unwrap_or(1);
        let mut next = from;
        for placed in frame.records().skip_while(|placed| placed.offset < from) {
            let is_alone = !suspects.is_empty() && suspects.contains(&placed.offset);
            if placed.offset >= self.room_until {
                // Half a window, so that not every report wakes the drainer.
                let prefix = self.shared.delivery.prefix();
                self.room_until = prefix + WINDOW;
                self.awaited = (placed.offset >= self.room_until).then(|| prefix + WINDOW / 2);
            } else if is_alone && self.shared.delivery.prefix() < placed.offset {
                self.awaited = Some(placed.offset);
            }
            if self.awaited.is_some() || self.state.is_broken() || !self.send(&placed, partitions).await {
                break;
            }
            next = placed.offset + 1;
            self.next = next;
            if is_alone {
                self.awaited = Some(next);
                break;
            }
        }
        next
    }

    /// Ends a wave: all pending events are sent, and in waves later ones go once these are delivered.
    pub(super) fn end_wave(&mut self) {
        if self.pace == Pace::Waves {
            self.wave = Some((self.next, Instant::now()));
        }
    }

    /// Waits for the delivery that must precede further sends, a notification, or the end of `time`; returns `false`
    /// when there is nothing to wait for.
    pub(super) async fn wait(&mut self, time: Duration) -> bool {
        let wave_left = |(_, sent): (u64, Instant)| WAVE_LASTS.saturating_sub(sent.elapsed());
        let (offset, time) = match (self.awaited, self.wave) {
            (Some(offset), _) => (offset, time),
            (None, Some(wave)) => (wave.0, time.min(wave_left(wave))),
            (None, None) => return false,
        };
        // A timeout is fine.
        let _ = tokio::time::timeout(time, self.shared.delivery.reached(offset, &self.shared.call)).await;
        let prefix = self.shared.delivery.prefix();
        self.awaited = self.awaited.filter(|offset| prefix < *offset);
        self.wave = self.wave.filter(|wave| prefix < wave.0 && !wave_left(*wave).is_zero());
        true
    }

    /// Sends one event; returns `false` when it has to wait, or the session cannot continue.
    async fn send(&mut self, placed: &Placed<'_>, partitions: u32) -> bool {
        if !self.found.is_empty()
            && let Some(place) = self.found.remove(&placed.offset)
        {
            self.shared.delivery.mark(placed.offset, place.partition, Some(place.offset));
            return true;
        }
        if !self.asides.is_empty() && self.asides.remove(&placed.offset) {
            return true;
        }
        let partition = partition::choose(&placed.record, placed.offset, partitions);
        let producer = match self.pace {
            Pace::Waves => &self.waves,
            Pace::Bulk => &self.bulk,
        };
        let Err((error, _)) = producer.send(self.record(placed, partition)) else { return true };
        match error.rdkafka_error_code() {
            Some(RDKafkaErrorCode::QueueFull) => {
                // The next report makes room.
                self.awaited = Some(self.shared.delivery.prefix() + 1);
                false
            }
            Some(code) if is_the_events(code) => {
                self.shared.set_aside(placed, &code.to_string()).await;
                true
            }
            _ => {
                self.state.break_off();
                false
            }
        }
    }

    fn record<'a>(&'a self, placed: &Placed<'a>, partition: u32) -> BaseRecord<'a, [u8], [u8], usize> {
        let record = BaseRecord {
            topic: &self.shared.topic,
            partition: Some(number(partition)),
            payload: (!placed.record.is_null).then_some(placed.record.value),
            key: placed.record.key,
            timestamp: Some(time_of(placed)),
            headers: None,
            // An offset is as wide as a pointer (see `reports`).
            delivery_opaque: placed.offset as usize,
        };
        if placed.record.headers.is_empty() && self.shared.id_header.is_none() {
            record
        } else {
            self.with_headers(record, placed)
        }
    }

    fn with_headers<'a>(
        &self,
        record: BaseRecord<'a, [u8], [u8], usize>,
        placed: &Placed<'_>,
    ) -> BaseRecord<'a, [u8], [u8], usize> {
        let mut headers = OwnedHeaders::new_with_capacity(placed.record.headers.len() + 1);
        for (key, value) in &placed.record.headers {
            headers = headers.insert(Header { key, value: *value });
        }
        if let Some(key) = &self.shared.id_header {
            headers = match placed.record.id {
                Some(own) => headers.insert(Header { key, value: Some(own) }),
                None => headers.insert(Header { key, value: Some(id::text(placed.made_id).as_bytes()) }),
            };
        }
        record.headers(headers)
    }
}
