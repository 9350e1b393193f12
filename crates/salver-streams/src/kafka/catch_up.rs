//! Recovery after a restart: finds the events that are already in the topic by comparing its tail with the log.
//!
//! After a crash it is unknown which events behind the checkpoint were delivered. Their records are searched for in the
//! topic from the checkpoint's offsets on, by value, key and time. Records of other producers are skipped. This needs
//! no write per event.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::time::{Duration, Instant};

use ahash::RandomState;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::message::{BorrowedMessage, Message};
use rdkafka::{Offset, Timestamp, TopicPartitionList};
use salver_model::limits::BROKER_SILENCE_S_MAX;
use salver_model::streams::Placement;

use super::delivery::{LAG_EVENTS, WINDOW};
use super::listener::Listener;
use super::shared::{Ending, Shared};
use super::topic::{Topic, number};
use crate::log::frame::{Frame, Placed};

/// Time without any of the log's events after which the topic counts as settled: records sent by a dead process may
/// still be in flight in the broker.
const SETTLED: Duration = Duration::from_millis(500);
/// Longest time the broker may send nothing while there is something to read.
const PATIENCE: Duration = Duration::from_secs(BROKER_SILENCE_S_MAX);
/// Bytes of the log read at a time.
const READ_BYTES: usize = 1024 * 1024;

/// Returns the places of the events from `prefix` on and below `sent` that are already in the topic, by offset.
pub(super) fn catch_up(
    shared: &Shared,
    topic: &Topic,
    (prefix, positions): (u64, &[u64]),
    sent: u64,
) -> Result<HashMap<u64, Placement>, String> {
    let told = |error: KafkaError| error.to_string();
    let consumer: BaseConsumer<Listener> = shared.settings.consumer().create_with_context(Listener).map_err(told)?;
    let mut from = TopicPartitionList::new();
    for (partition, position) in (0..topic.partitions).zip(positions) {
        let offset = Offset::Offset(i64::try_from(*position).unwrap_or(i64::MAX));
        from.add_partition_offset(&shared.topic, number(partition), offset).map_err(told)?;
    }
    consumer.assign(&from).map_err(told)?;
    let mut walk = Walk::new(shared, topic.partitions, prefix..sent);
    let mut is_behind = vec![true; topic.partitions as usize];
    let (mut last_own, mut last_any) = (Instant::now(), Instant::now());
    while is_behind.contains(&true) || last_own.elapsed() < SETTLED {
        match consumer.poll(Duration::from_millis(20)) {
            Some(Ok(message)) => {
                last_any = Instant::now();
                if walk.meet(&message)? {
                    last_own = last_any;
                }
            }
            Some(Err(KafkaError::PartitionEOF(partition))) => {
                last_any = Instant::now();
                if let Some(own) = usize::try_from(partition).ok().and_then(|at| is_behind.get_mut(at)) {
                    *own = false;
                }
            }
            Some(Err(error)) => return Err(told(error)),
            None if is_behind.contains(&true) && last_any.elapsed() > PATIENCE => {
                return Err(format!("the topic `{}` can't be read", shared.topic));
            }
            None => {}
        }
        if shared.ending() != Ending::No {
            return Err("the server ends".to_owned());
        }
    }
    tracing::info!(
        stream = %shared.stream, topic = shared.topic, found = walk.found.len(), others = walk.others,
        "compared the topic's end with the log"
    );
    Ok(walk.found)
}

/// State of a comparison.
struct Walk<'a> {
    shared: &'a Shared,
    partitions: u32,
    /// Expected records; created with the first record, which shows which kind of timestamps the topic has.
    expected: Option<Expected>,
    /// Offset at which reading the log continues.
    next: u64,
    /// Offset from which on no event can have been sent.
    end: u64,
    found: HashMap<u64, Placement>,
    others: u64,
}

impl<'a> Walk<'a> {
    fn new(shared: &'a Shared, partitions: u32, range: Range<u64>) -> Self {
        // The log may lack its last events after a crash of the machine although they were sent. An event appended now
        // is not among them, however alike it is.
        let end = range.end.min(range.start + LAG_EVENTS + WINDOW);
        Self { shared, partitions, expected: None, next: range.start, end, found: HashMap::new(), others: 0 }
    }

    /// Compares a record of the topic; returns whether it is one of the log's events.
    fn meet(&mut self, message: &BorrowedMessage<'_>) -> Result<bool, String> {
        let partition = u32::try_from(message.partition()).unwrap_or(0);
        let time_ms = match message.timestamp() {
            Timestamp::CreateTime(time_ms) => Some(time_ms),
            // The broker's clock replaced the event's time.
            Timestamp::LogAppendTime(_) | Timestamp::NotAvailable => None,
        };
        let seen = Seen { value: message.payload(), key: message.key(), time_ms };
        let mut expected = match self.expected.take() {
            Some(expected) => expected,
            None => Expected::new(self.partitions, time_ms.is_some()),
        };
        let found = loop {
            if let Some(offset) = expected.take(&seen, partition) {
                let at = u64::try_from(message.offset()).unwrap_or(0);
                self.found.insert(offset, Placement { partition, offset: at });
                break true;
            }
            if self.next >= self.end {
                self.others += 1;
                break false;
            }
            self.read_on(&mut expected)?;
        };
        self.expected = Some(expected);
        Ok(found)
    }

    fn read_on(&mut self, expected: &mut Expected) -> Result<(), String> {
        let frames = self.shared.frames_at(self.next, READ_BYTES)?;
        match frames.last() {
            Some(last) => self.next = last.head.end().max(self.next + 1),
            None => self.next = self.end,
        }
        frames.iter().filter(|frame| frame.head.offset < self.end).for_each(|frame| expected.add(frame));
        Ok(())
    }
}

/// Record of the topic.
struct Seen<'a> {
    /// Value; `None` for a tombstone.
    value: Option<&'a [u8]>,
    key: Option<&'a [u8]>,
    time_ms: Option<i64>,
}

/// Events of the log that may be in the topic, keyed by the records they would produce.
struct Expected {
    partitions: u32,
    /// Whether the topic has the events' times instead of the broker's.
    has_times: bool,
    hasher: RandomState,
    offsets: HashMap<u64, Offsets, RandomState>,
}

/// Offsets of equal events, usually one.
enum Offsets {
    One(u64),
    Many(VecDeque<u64>),
}

impl Expected {
    fn new(partitions: u32, has_times: bool) -> Self {
        Self { partitions, has_times, hasher: RandomState::new(), offsets: HashMap::default() }
    }

    fn add(&mut self, frame: &Frame) {
        for placed in frame.records() {
            let record = &placed.record;
            let partition = record.partition.filter(|own| *own < self.partitions);
            let time_ms = self.has_times.then(|| time_of(&placed));
            let value = (!record.is_null).then_some(record.value);
            let seen = Seen { value, key: record.key, time_ms };
            self.insert(&seen, partition, placed.offset);
        }
    }

    fn insert(&mut self, seen: &Seen<'_>, partition: Option<u32>, offset: u64) {
        let identity = self.identity(seen, partition);
        self.offsets
            .entry(identity)
            .and_modify(|own| match own {
                Offsets::One(first) => *own = Offsets::Many(VecDeque::from([*first, offset])),
                Offsets::Many(all) => all.push_back(offset),
            })
            .or_insert(Offsets::One(offset));
    }

    /// Takes the first event that a record can be; that event is then no longer expected.
    fn take(&mut self, seen: &Seen<'_>, partition: u32) -> Option<u64> {
        [Some(partition), None].into_iter().find_map(|partition| self.take_from(self.identity(seen, partition)))
    }

    fn take_from(&mut self, identity: u64) -> Option<u64> {
        let own = self.offsets.get_mut(&identity)?;
        match own {
            Offsets::One(offset) => {
                let offset = *offset;
                self.offsets.remove(&identity);
                Some(offset)
            }
            Offsets::Many(all) => all.pop_front(),
        }
    }

    fn identity(&self, seen: &Seen<'_>, partition: Option<u32>) -> u64 {
        self.hasher.hash_one((seen.value, seen.key, seen.time_ms, partition))
    }
}

/// Returns the timestamp a record is sent with: Kafka's client takes 0 for now, and the broker accepts nothing before
/// 1970.
pub(super) fn time_of(placed: &Placed<'_>) -> i64 {
    placed.time_ms.max(1)
}

#[cfg(test)]
mod tests {
    use super::{Expected, Seen};
    use crate::log::frame::{FrameBuilder, Record};

    #[test]
    fn records_find_their_events_once() {
        let mut builder = FrameBuilder::new(1_000, 100);
        builder.push_plain(b"{}");
        builder.push_plain(b"{}");
        builder.push(&Record { value: b"{}", key: Some(b"k"), ..Record::default() });
        builder.push(&Record { value: b"{}", partition: Some(1), time_ms: Some(7), ..Record::default() });
        builder.push(&Record { value: b"{}", partition: Some(9), ..Record::default() });
        let mut expected = Expected::new(2, true);
        expected.add(&builder.seal().at(10, 0));
        let plain = Seen { value: Some(b"{}"), key: None, time_ms: Some(1_000) };
        let keyed = Seen { value: Some(b"{}"), key: Some(b"k"), time_ms: Some(1_000) };
        let own = Seen { value: Some(b"{}"), key: None, time_ms: Some(7) };
        assert_eq!(expected.take(&Seen { value: Some(b"[]"), ..plain }, 0), None);
        assert_eq!(expected.take(&Seen { time_ms: Some(1_001), ..plain }, 0), None);
        assert_eq!(expected.take(&keyed, 0), Some(12));
        assert_eq!(expected.take(&keyed, 0), None);
        assert_eq!(expected.take(&own, 0), None, "another partition's");
        assert_eq!(expected.take(&own, 1), Some(13));
        // The fifth event asks for a partition that does not exist, so it may be in any.
        assert_eq!(
            [0, 1, 0, 1].map(|partition| expected.take(&plain, partition)),
            [Some(10), Some(11), Some(14), None]
        );
        assert_eq!(expected.take(&Seen { value: Some(b"{}"), key: Some(b""), time_ms: Some(1_000) }, 0), None);
    }

    #[test]
    fn a_topic_with_times_of_its_own() {
        let mut builder = FrameBuilder::new(1_000, 100);
        builder.push_plain(b"1");
        let mut expected = Expected::new(1, false);
        expected.add(&builder.seal().at(3, 0));
        let seen = Seen { value: Some(b"1"), key: None, time_ms: None };
        assert_eq!([expected.take(&seen, 0), expected.take(&seen, 0)], [Some(3), None]);
    }
}
