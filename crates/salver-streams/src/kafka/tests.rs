//! Delivery to a real Kafka broker, verified independently with kcat.

mod damage;
mod delivered;
mod speed;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use salver_model::Name;
use salver_model::spec::{KafkaSpec, StreamSpec};
use salver_model::streams::Receipt;
use salver_testkit::servers::{Kafka as Broker, TopicRecord};

use super::Kafka;
use crate::aside::Aside;
use crate::log::frame::{FrameBuilder, Record};
use crate::log::{Log, LogOptions};

/// Log of a stream, with its topic.
struct Bench {
    spec: StreamSpec,
    log: Arc<Log>,
    asides: Arc<Mutex<Vec<(Bytes, String)>>>,
    _dir: tempfile::TempDir,
}

impl Bench {
    fn new(broker: &Broker, topic: &str) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let mut spec = StreamSpec::new(Name::new("events").expect("a name"), dir.path().join("events"));
        spec.kafka = Some(KafkaSpec {
            brokers: vec![broker.address()],
            topic: topic.to_owned(),
            id_header: None,
            properties: Vec::new(),
        });
        let log = open(&spec);
        Self { spec, log, asides: Arc::default(), _dir: dir }
    }

    /// Returns the files in the stream's directory.
    fn copy(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let entries = std::fs::read_dir(&self.spec.dir).expect("a directory");
        let paths = entries.map(|entry| entry.expect("an entry").path()).filter(|path| !path.ends_with("lock"));
        paths.map(|path| (path.clone(), std::fs::read(path).expect("a file"))).collect()
    }

    /// Restores these files and reopens the log, as if nothing had been synced since.
    fn fall_back_to(&mut self, files: &[(PathBuf, Vec<u8>)]) {
        self.log.close().expect("closed");
        std::fs::remove_dir_all(&self.spec.dir).expect("removed");
        std::fs::create_dir_all(&self.spec.dir).expect("made again");
        for (path, bytes) in files {
            std::fs::write(path, bytes).expect("written");
        }
        self.log = open(&self.spec);
    }

    fn set(&mut self, change: impl FnOnce(&mut KafkaSpec)) {
        change(self.spec.kafka.as_mut().expect("a topic"));
    }

    fn start(&self) -> Kafka {
        let asides = Arc::clone(&self.asides);
        let aside: Aside = Arc::new(move |value, reason| {
            asides.lock().expect("asides").push((value, reason));
            Box::pin(async { Ok(()) })
        });
        Kafka::start(&self.spec, Arc::clone(&self.log), aside).expect("a way to Kafka")
    }

    /// Appends one frame, and returns the offset of its first event.
    fn append(&self, records: &[Record<'_>]) -> u64 {
        self.try_append(records).expect("a place")
    }

    fn try_append(&self, records: &[Record<'_>]) -> salver_model::Result<u64> {
        let mut frame = FrameBuilder::new(now_ms(), 1024);
        records.iter().for_each(|record| frame.push(record));
        Ok(self.log.append(frame.seal())?.first)
    }

    /// Appends events with the keys `k0`, `k1`, ... and a number that increases through the whole stream.
    fn append_numbers(&self, numbers: std::ops::Range<u64>, keys: u64) -> u64 {
        self.try_append_numbers(numbers, keys).expect("a place")
    }

    fn try_append_numbers(&self, numbers: std::ops::Range<u64>, keys: u64) -> salver_model::Result<u64> {
        let texts: Vec<_> = numbers.map(|n| (format!("k{}", n % keys), format!("{{\"n\":{n}}}"))).collect();
        let records: Vec<_> = texts
            .iter()
            .map(|(key, value)| Record { value: value.as_bytes(), key: Some(key.as_bytes()), ..Record::default() })
            .collect();
        self.try_append(&records)
    }
}

fn open(spec: &StreamSpec) -> Arc<Log> {
    let log = Log::open(LogOptions {
        dir: spec.dir.clone(),
        segment_bytes: spec.segment_bytes,
        retain: None,
        retain_bytes: None,
        refuse_bytes: None,
        has_listener: false,
    });
    log.expect("a log")
}

fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock");
    i64::try_from(since.as_millis()).expect("this age")
}

/// Returns the receipt of the events of a range.
fn receipt(range: std::ops::Range<u64>) -> Receipt {
    Receipt { end: range.end, taken: range.end - range.start, ..Receipt::default() }
}

/// Returns the number in an event of [`Bench::append_numbers`]; `None` for another producer's record.
fn number_of(record: &TopicRecord) -> Option<u64> {
    let text = std::str::from_utf8(&record.value).ok()?;
    text.strip_prefix("{\"n\":")?.strip_suffix('}')?.parse().ok()
}

/// Checks that every number below `count` is there once, and those of a key in order in one partition.
fn assert_whole(seen: &[TopicRecord], count: u64) {
    let mut times = vec![0_u32; usize::try_from(count).expect("few")];
    let mut last: BTreeMap<Vec<u8>, (u32, u64)> = BTreeMap::new();
    for record in seen {
        let Some(number) = number_of(record) else { continue };
        times[usize::try_from(number).expect("few")] += 1;
        let key = record.key.clone().expect("a key");
        if let Some((partition, before)) = last.insert(key.clone(), (record.partition, number)) {
            assert!(before < number, "{key:?}: {before} before {number}");
            assert_eq!(partition, record.partition, "{key:?}");
        }
    }
    let missing: Vec<_> = (0..count).filter(|n| times[*n as usize] == 0).collect();
    let twice: Vec<_> = (0..count).filter(|n| times[*n as usize] > 1).collect();
    assert!(missing.is_empty() && twice.is_empty(), "missing {missing:?}, more than once {twice:?}");
}

/// Waits for a condition.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < patience, "never: {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
