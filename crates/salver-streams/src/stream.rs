//! A stream: the implementation of the port. One function is the append path ([`LogStream::take`]): split, validate,
//! deduplicate, quarantine bad events, append.

mod dedup;
mod dedup_recovery;
mod frame_builder;
mod log_rows;
mod quarantine;
mod read;
mod saved_ids;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use salver_model::ports::{EventStream, Scan};
use salver_model::spec::StreamSpec;
use salver_model::streams::{
    Ack, Ends, Envelope, Event, EventDelivery, Framing, NewEvent, Placement, Receipt, RejectedEvent,
};
use salver_model::{Error, Name, Result};
use tokio::task::JoinSet;

use self::dedup::{RecentId, RecentIds};
use self::frame_builder::{Extra, Gathering};
use self::log_rows::Rows;
use self::quarantine::Quarantine;
use self::saved_ids::SavedIds;
use crate::clock::{Steady, now_ms};
use crate::event::{Checker, Picks, Rule, SplitStep, Splitter, Time};
use crate::id;
use crate::kafka::Kafka;
use crate::log::{Log, LogOptions};

/// Reason why an event with an unreadable time is refused.
const NO_TIME: &str = "its time is none: times are text as RFC 3339 has it, or milliseconds since 1970";

/// Stream with its log on local disk, and optionally Kafka behind it.
#[derive(Debug)]
pub struct LogStream {
    spec: StreamSpec,
    log: Arc<Log>,
    rows: Rows,
    quarantine: Quarantine,
    picks: Picks,
    seen: Arc<Mutex<RecentIds>>,
    /// Clock for the deduplication window: setting the system clock must not expire ids.
    steady: Steady,
    kafka: Option<Kafka>,
    _keepers: JoinSet<()>,
}

impl LogStream {
    /// Opens the stream in its directory, and recovers from a crash. Reads everything appended since the last clean
    /// shutdown, so it may take some seconds. Call it inside the runtime, on a thread that may block.
    ///
    /// # Errors
    /// Returns `Config` when the directory cannot be used, is in use, or the settings contradict each other, and
    /// `Source` when the log cannot be read.
    pub fn open(spec: StreamSpec) -> Result<Arc<Self>> {
        let forwards = spec.kafka.is_some();
        let log = Log::open(LogOptions {
            dir: spec.dir.clone(),
            segment_bytes: spec.segment_bytes,
            retain: spec.retain,
            retain_bytes: spec.disk_bytes_max.filter(|_| !forwards),
            // Always set, so that no event is deleted before Kafka has it.
            refuse_bytes: forwards.then(|| spec.disk_bytes_max.unwrap_or(u64::MAX)),
            has_listener: true,
        })?;
        let rule = spec.schema.as_deref().map(Rule::compile).transpose()?;
        let rows = Rows::open(&spec.name, &log, &spec.dir, rule, spec.delta.as_ref())?;
        let quarantine = Quarantine::open(&spec)?;
        let picks = Picks::new(&spec);
        let seen = remembered(&log, &spec)?;
        let kafka =
            spec.kafka.is_some().then(|| Kafka::start(&spec, Arc::clone(&log), quarantine.aside())).transpose()?;
        let mut keepers = JoinSet::new();
        keepers.spawn(rows.clone().keep());
        Ok(Arc::new(Self { spec, log, rows, quarantine, picks, seen, steady: Steady::new(), kafka, _keepers: keepers }))
    }

    /// Checks the parts of a stream's settings that only their users can validate: its schema, and the settings of
    /// Kafka's client. Opens nothing.
    #[must_use]
    pub fn prove(spec: &StreamSpec) -> Vec<Error> {
        let schema = spec.schema.as_deref().and_then(|schema| Rule::compile(schema).err());
        let kafka = spec.kafka.as_ref().and_then(|kafka| crate::kafka::prove(kafka).err());
        schema.into_iter().chain(kafka).collect()
    }

    /// Refuses a request early if its acknowledgement cannot be given: its events would be written later all the same,
    /// and again when the client retries.
    fn admit(&self, envelope: &Envelope) -> Result<()> {
        if let (Ack::Broker, Some(kafka)) = (envelope.ack, &self.kafka) {
            kafka.reachable()?;
        }
        // This includes requests acknowledged from memory, which promise that the events will reach the disk.
        self.log.fault().map_or(Ok(()), Err)
    }

    /// Appends the gathered events, all or none.
    fn take(&self, mut events: Gathering<'_>, is_whole: bool) -> Result<Receipt> {
        let bad = events.bad_ones();
        // First, so that no good event is accepted from a request whose bad ones would be lost.
        let quarantine_end = if bad.is_empty() { 0 } else { self.quarantine.put(bad)? };
        if !events.waits() {
            let Some(frame) = events.take_frame() else { return Ok(events.receipt(0..0, String::new, quarantine_end)) };
            let count = u64::from(frame.count());
            let placed = self.log.append(frame)?;
            let offsets = placed.first..placed.first + count;
            return Ok(events.receipt(offsets, || id::text(placed.id), quarantine_end));
        }
        // The lock is held until the new ids are recorded, so that no other request misses them.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ms = self.steady.now_ms();
        seen.forget(now_ms);
        let hashes = events.look(&seen, is_whole);
        let Some(frame) = events.take_frame() else { return Ok(events.receipt(0..0, String::new, quarantine_end)) };
        let count = u64::from(frame.count());
        let placed = self.log.append(frame)?;
        for (offset, hash) in (placed.first..).zip(hashes) {
            if let Some(hash) = hash {
                seen.insert(RecentId { hash, offset, time_ms: now_ms });
            }
        }
        drop(seen);
        Ok(events.receipt(placed.first..placed.first + count, || id::text(placed.id), quarantine_end))
    }

    /// Adds an event with the fields extracted from it, where its protocol does not set them.
    fn pick<'a>(&self, events: &mut Gathering<'a>, value: &'a [u8], mut extra: Extra<'a>) {
        if !self.picks.is_empty() {
            let picked = self.picks.pick(value);
            extra.key = extra.key.or(picked.key);
            extra.id = extra.id.or(picked.id);
            match picked.time {
                Time::Unsaid => {}
                Time::Ms(ms) => extra.time_ms = extra.time_ms.or(Some(ms)),
                Time::Unreadable if extra.time_ms.is_some() => {}
                Time::Unreadable => return events.bad(value, NO_TIME.to_owned()),
            }
        }
        events.good(value, extra);
    }
}

/// Returns the ids of recent events: those that were saved, and those in the log. From then on they are saved before
/// the log deletes their events.
fn remembered(log: &Arc<Log>, spec: &StreamSpec) -> Result<Arc<Mutex<RecentIds>>> {
    let saved = SavedIds::open(&spec.dir, spec.dedupe, now_ms())?;
    let seen = saved.seen();
    dedup_recovery::add_ids(&mut seen.lock().unwrap_or_else(PoisonError::into_inner), log, spec)?;
    let stream = spec.name.clone();
    log.before_removal(move |end| {
        if let Err(error) = saved.save(end) {
            tracing::warn!(%stream, %error, "the ids of deleted events can't be saved; a restart forgets them");
        }
    });
    Ok(seen)
}

#[async_trait]
impl EventStream for LogStream {
    fn spec(&self) -> &StreamSpec {
        &self.spec
    }

    fn append(&self, events: &[NewEvent], envelope: &Envelope) -> Result<Receipt> {
        self.admit(envelope)?;
        let bytes = events.iter().map(|event| event.value.len() + 64).sum();
        let with_ids = self.picks.has_id() || events.iter().any(|event| event.id.is_some());
        let mut gathering = Gathering::new(envelope, now_ms(), bytes, with_ids);
        let mut checker = Checker::new(self.rows.checks());
        for event in events {
            let extra = Extra {
                key: event.key.as_deref().map(Into::into),
                id: event.id.as_deref().map(Into::into),
                partition: event.partition,
                headers: event.headers.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect(),
                time_ms: event.time_ms,
                is_null: event.is_tombstone,
            };
            match checker.check_one(event, envelope.opaque) {
                Ok(true) => self.pick(&mut gathering, &event.value, extra),
                Ok(false) => gathering.good(&event.value, extra),
                Err(reason) => gathering.bad(&event.value, reason),
            }
        }
        self.take(gathering, true)
    }

    fn append_text(&self, text: &Bytes, framing: &mut Framing, is_last: bool, envelope: &Envelope) -> Result<Receipt> {
        self.admit(envelope)?;
        let with_ids = self.picks.has_id();
        let mut events = Gathering::new(envelope, now_ms(), text.len() + text.len() / 16, with_ids);
        let is_plain = events.is_plain() && self.picks.is_empty();
        let mut splitter = Splitter::new(text, *framing, is_last, self.rows.checks());
        loop {
            match splitter.next_event() {
                SplitStep::Event(range) if is_plain => events.plain(&text[range]),
                SplitStep::Event(range) => self.pick(&mut events, &text[range], Extra::default()),
                SplitStep::Bad(range, reason) => events.bad(&text[range], reason),
                SplitStep::More | SplitStep::Done => break,
            }
        }
        let (consumed, after) = (splitter.consumed(), splitter.framing());
        let receipt = if events.is_empty() { Receipt::default() } else { self.take(events, is_last)? };
        *framing = after;
        Ok(Receipt { consumed, ..receipt })
    }

    async fn room(&self) {
        self.log.room().await;
        self.quarantine.room().await;
    }

    async fn settle(&self, receipt: &Receipt, ack: Ack) -> Result<Vec<RejectedEvent>> {
        if ack == Ack::Memory {
            return Ok(Vec::new());
        }
        let rejected = match &self.kafka {
            // The event is in the log's file by then; it need not be synced, since Kafka has it.
            Some(kafka) if ack == Ack::Broker => kafka.delivered(receipt).await?,
            _ => {
                self.log.durable(receipt.through()).await?;
                Vec::new()
            }
        };
        self.quarantine.durable(receipt.quarantine_end).await?;
        Ok(rejected)
    }

    async fn place(&self, receipt: &Receipt) -> Result<Vec<EventDelivery>> {
        let Some(kafka) = &self.kafka else {
            self.settle(receipt, Ack::Disk).await?;
            let offsets = receipt.offsets().chain(receipt.repeated.iter().copied());
            return Ok(offsets.map(|offset| EventDelivery::Placed(Some(Placement { partition: 0, offset }))).collect());
        };
        let places = kafka.places(receipt).await?;
        self.quarantine.durable(receipt.quarantine_end).await?;
        Ok(places)
    }

    fn ends(&self) -> Ends {
        self.log.shown()
    }

    async fn events(&self, from: u64, count_max: usize, bytes_max: usize, patience: Duration) -> Result<Vec<Event>> {
        read::events(&self.log, from, count_max, bytes_max, patience).await
    }

    async fn good_from(&self, from: u64) -> Result<u64> {
        let log = Arc::clone(&self.log);
        read::blocking(move || log.good_from(from)).await
    }

    async fn offset_at(&self, time_ms: i64) -> Result<u64> {
        let log = Arc::clone(&self.log);
        read::blocking(move || log.offset_at(time_ms)).await
    }

    fn committed(&self, group: &str) -> Option<u64> {
        self.log.committed(group)
    }

    fn groups(&self) -> Vec<(String, u64)> {
        self.log.groups()
    }

    async fn commit(&self, group: &str, offset: u64) -> Result<()> {
        let (log, group) = (Arc::clone(&self.log), group.to_owned());
        read::blocking(move || log.commit(&group, offset)).await
    }

    async fn partitions(&self) -> Result<u32> {
        match &self.kafka {
            Some(kafka) => kafka.partitions().await,
            None => Ok(1),
        }
    }

    fn backlog(&self) -> u64 {
        self.kafka.as_ref().map_or(0, Kafka::backlog)
    }

    fn scans(&self) -> Vec<(Name, Arc<dyn Scan>)> {
        [Some((self.spec.name.clone(), self.rows.scan())), self.quarantine.scan()].into_iter().flatten().collect()
    }

    async fn widened(&self, stamp: u64) -> u64 {
        self.rows.checks().shape.widened(stamp).await
    }

    async fn close(&self) -> Result<()> {
        let handed_on = match &self.kafka {
            Some(kafka) => kafka.close().await,
            None => Ok(()),
        };
        let (rows, log, quarantine) = (self.rows.clone(), Arc::clone(&self.log), self.quarantine.clone());
        read::blocking(move || {
            let saved = rows.close();
            let closed = log.close();
            quarantine.close().and(closed).and(saved).and(handed_on)
        })
        .await
    }
}
