//! The program is killed, again and again, while clients send events: what was acknowledged is there, once, and in the
//! order of its key. Whoever sends again what was not answered, under the same id, is there once too.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[cfg(feature = "kafka")]
use salver_testkit::servers::kafka;
use serde_json::Value;

use super::client::Client;
use super::process::Process;

/// Clients that send what has no id, and end with the program.
const WRITERS: usize = 4;
/// Clients that send again, under the same id, what was not answered.
const REPEATERS: usize = 3;
/// Events of a request that has several.
const BATCH: usize = 20;
/// How often it is looked whether something has happened.
const GLANCE: Duration = Duration::from_millis(1);

/// What a client knows of its events, which it numbered from 0 on.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    acknowledged: usize,
    /// Counts those whose answer never came.
    tried: usize,
}

/// What all clients know, by the key of their events.
#[derive(Debug, Default)]
struct Ledger {
    sent: Mutex<HashMap<String, Sent>>,
    acknowledged: AtomicUsize,
}

impl Ledger {
    fn note(&self, key: &str, sent: Sent) {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).insert(key.to_owned(), sent);
    }

    fn all(&self) -> HashMap<String, Sent> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A stream under fire.
#[derive(Debug)]
struct Siege {
    ack: &'static str,
    rounds: usize,
    ledger: Ledger,
    address: Mutex<String>,
    is_over: AtomicBool,
}

impl Siege {
    fn new(ack: &'static str, rounds: usize, process: &Process) -> Self {
        Self {
            ack,
            rounds,
            ledger: Ledger::default(),
            address: Mutex::new(process.address().to_owned()),
            is_over: AtomicBool::new(false),
        }
    }

    fn address(&self) -> String {
        self.address.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends the events from `first` on, in one request.
    fn send(&self, client: &mut Client, key: &str, first: usize, count: usize, id: Option<&str>) -> Option<u16> {
        let event = |n: usize| format!("{{\"key\":\"{key}\",\"n\":{n}}}\n");
        let body: String = (first..first + count).map(event).collect();
        let headers: Vec<(&str, &str)> = id.map(|id| ("salver-id", id)).into_iter().collect();
        let target = format!("/api/streams/events?ack={}", self.ack);
        let answer = client.send("POST", &target, &headers, Some(body.as_bytes())).ok()?;
        let expected = if self.ack == "memory" { 202 } else { 200 };
        // Busy, or the broker is away: both are said, and neither is a success.
        assert!([expected, 429, 503].contains(&answer.status), "{key} {first}: {:?}", answer.said());
        Some(answer.status)
    }

    /// Sends events without ids until the connection breaks.
    fn write(&self, key: &str, count: usize) {
        let mut client = Client::new(&self.address());
        let mut sent = Sent::default();
        loop {
            sent.tried = sent.acknowledged + count;
            self.ledger.note(key, sent);
            match self.send(&mut client, key, sent.acknowledged, count, None) {
                Some(429) => {}
                // They may be in the stream, though not where they were wanted.
                None | Some(503) => return,
                Some(_) => {
                    sent.acknowledged += count;
                    self.ledger.note(key, sent);
                    self.ledger.acknowledged.fetch_add(count, Ordering::Release);
                }
            }
        }
    }

    /// Sends events with ids, and again until they are acknowledged, through all rounds.
    fn repeat(&self, key: &str, count: usize) {
        let mut sent = Sent::default();
        while !self.is_over.load(Ordering::Acquire) {
            let mut client = Client::new(&self.address());
            loop {
                sent.tried = sent.acknowledged + count;
                self.ledger.note(key, sent);
                let id = format!("{key}-{}", sent.acknowledged);
                match self.send(&mut client, key, sent.acknowledged, count, Some(&id)) {
                    None => break,
                    Some(429 | 503) => {}
                    Some(_) => {
                        sent.acknowledged += count;
                        self.ledger.note(key, sent);
                        self.ledger.acknowledged.fetch_add(count, Ordering::Release);
                    }
                }
                if self.is_over.load(Ordering::Acquire) {
                    break;
                }
            }
            std::thread::sleep(GLANCE);
        }
    }

    /// All rounds; `check` is called after each, with the program running again.
    fn run(&self, process: &mut Process, repeaters: usize, check: impl Fn(&Self, &Process, usize)) {
        std::thread::scope(|scope| {
            for repeater in 0..repeaters {
                // One sends single events, the others some at once.
                let count = if repeater == 0 { 1 } else { BATCH };
                scope.spawn(move || self.repeat(&format!("again{repeater}"), count));
            }
            let over = Over(&self.is_over);
            for round in 0..self.rounds {
                self.round(process, round);
                *self.address.lock().unwrap_or_else(PoisonError::into_inner) = process.address().to_owned();
                check(self, process, round);
            }
            drop(over);
        });
    }

    fn round(&self, process: &mut Process, round: usize) {
        // From at once to well under way, and never the same number twice in a row.
        let until = self.ledger.acknowledged.load(Ordering::Acquire) + round * 211 % 3_000;
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let count = if writer % 2 == 0 { 1 } else { BATCH };
                scope.spawn(move || self.write(&format!("r{round}w{writer}"), count));
            }
            let patience = Instant::now() + Duration::from_secs(60);
            while self.ledger.acknowledged.load(Ordering::Acquire) < until && Instant::now() < patience {
                assert!(process.is_alive(), "round {round}: the program ended by itself");
                std::thread::sleep(GLANCE);
            }
            process.kill();
        });
        process.restart();
    }
}

/// Ends the repeaters, also when a check fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// What SQL finds under the keys that are like `keys`: how many events, how many different ones, and how many that are
/// not in their place.
fn in_table(process: &Process, keys: &str) -> HashMap<String, (usize, usize, usize)> {
    // Without an event there is no column to ask for.
    if process.sql("SELECT count(*) AS n FROM events")[0]["n"] == 0 {
        return HashMap::new();
    }
    let text = format!(
        "SELECT key, count(*) AS n, count(DISTINCT n) AS different, \
         sum(CASE WHEN n = place - 1 THEN 0 ELSE 1 END) AS misplaced \
         FROM (SELECT key, n, row_number() OVER (PARTITION BY key ORDER BY _offset) AS place FROM events \
         WHERE key LIKE '{keys}') AS placed GROUP BY key"
    );
    let number =
        |row: &Value, name: &str| usize::try_from(row[name].as_u64().unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let rows = process.sql(&text);
    let found = rows.iter().map(|row| {
        let key = row["key"].as_str().unwrap_or_else(|| panic!("{row}")).to_owned();
        (key, (number(row, "n"), number(row, "different"), number(row, "misplaced")))
    });
    found.collect()
}

/// What was acknowledged is there; nothing is there twice, out of order, or that was never sent.
fn compare(siege: &Siege, process: &Process, keys: &str, what: &str) {
    let before = siege.ledger.all();
    let found = in_table(process, keys);
    let prefix = keys.trim_end_matches('%');
    for (key, sent) in siege.ledger.all().iter().filter(|(key, _)| key.starts_with(prefix)) {
        let (count, different, misplaced) = found.get(key).copied().unwrap_or_default();
        assert_eq!((count, misplaced), (different, 0), "{what}: {key}: {count} events, {different} of them different");
        assert!(count <= sent.tried, "{what}: {key}: {count} events are there, {} were sent", sent.tried);
        let acknowledged = before.get(key).copied().unwrap_or_default().acknowledged;
        assert!(count >= acknowledged, "{what}: {key}: {acknowledged} events were acknowledged, {count} are there");
    }
}

#[test]
fn on_disk_nothing_acknowledged_is_lost() {
    let mut process = Process::start("[[stream]]\nname = \"events\"\nkey = \"$.key\"\nsegment_bytes = \"1MiB\"\n");
    let siege = Siege::new("disk", 50, &process);
    siege.run(&mut process, REPEATERS, |siege, process, round| {
        compare(siege, process, &format!("r{round}w%"), &format!("round {round}"));
    });
    compare(&siege, &process, "%", "in the end");
    let repeated = siege.ledger.all().into_iter().filter(|(key, _)| key.starts_with("again"));
    assert!(repeated.map(|(_, sent)| sent.acknowledged).sum::<usize>() > 500, "{siege:?}");
    assert!(siege.ledger.acknowledged.load(Ordering::Acquire) > 10_000, "{siege:?}");
    // Another reader: every row over REST, in the order of the stream.
    let mut next: HashMap<String, u64> = HashMap::new();
    for line in process.get("/api/tables/events.ndjson?columns=_offset,key,n&sort=_offset").lines() {
        let row: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let place = next.entry(row["key"].to_string()).or_default();
        assert_eq!(row["n"], *place, "{line}");
        *place += 1;
    }
    for (key, sent) in siege.ledger.all() {
        let found = next.get(&format!("\"{key}\"")).copied().unwrap_or(0);
        assert!(found >= sent.acknowledged as u64, "{key}: {found} of {sent:?}");
    }
}

/// What is only in memory may be lost with it, but only from the end, and nothing comes twice.
#[test]
fn from_memory_only_the_end_is_lost() {
    let mut process = Process::start("[[stream]]\nname = \"events\"\nkey = \"$.key\"\n");
    let siege = Siege::new("memory", 15, &process);
    siege.run(&mut process, 0, |siege, process, round| {
        let found = in_table(process, &format!("r{round}w%"));
        for (key, (count, different, misplaced)) in found {
            let sent = siege.ledger.all().get(&key).copied().unwrap_or_else(|| panic!("{key} was never sent"));
            assert!(count == different && misplaced == 0 && count <= sent.tried, "{key}: {count} of {sent:?}");
        }
    });
    assert!(siege.ledger.acknowledged.load(Ordering::Acquire) > 1_000, "{siege:?}");
}

#[cfg(feature = "kafka")]
#[test]
fn in_kafka_nothing_acknowledged_is_lost_or_twice() {
    let broker = kafka();
    broker.create_topic("killed", 3, &[]);
    let mut process = Process::start(&format!(
        "[[stream]]\nname = \"events\"\nkey = \"$.key\"\nsink = \"kafka\"\nbrokers = [\"{}\"]\ntopic = \"killed\"\n",
        broker.address()
    ));
    let siege = Siege::new("broker", 35, &process);
    siege.run(&mut process, REPEATERS, |siege, process, round| {
        compare(siege, process, &format!("r{round}w%"), &format!("round {round}"));
    });
    compare(&siege, &process, "%", "in the end");
    // What was taken comes to the topic sooner or later, acknowledged or not.
    let count = usize::try_from(process.sql("SELECT count(*) AS n FROM events")[0]["n"].as_u64().unwrap()).unwrap();
    let patience = Instant::now() + Duration::from_secs(60);
    let records = loop {
        let records = broker.outside("killed");
        if records.len() >= count || Instant::now() > patience {
            break records;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    let in_topic = records.len();
    let mut numbers: HashMap<String, (u32, Vec<usize>)> = HashMap::new();
    for record in records {
        let key = String::from_utf8(record.key.expect("a key")).unwrap();
        let event: Value = serde_json::from_slice(&record.value).unwrap();
        assert_eq!(event["key"], key.as_str());
        let (partition, numbers) = numbers.entry(key).or_insert_with(|| (record.partition, Vec::new()));
        assert_eq!(*partition, record.partition, "{event}: a key has one partition");
        numbers.push(usize::try_from(event["n"].as_u64().unwrap()).unwrap());
    }
    for (key, sent) in siege.ledger.all() {
        let (_, numbers) = numbers.remove(&key).unwrap_or_default();
        let wrong = numbers.iter().zip(0..).position(|(number, place)| *number != place);
        let around = |at: usize| &numbers[at.saturating_sub(3)..numbers.len().min(at + 3)];
        assert!(wrong.is_none(), "{key}: not in order, or twice, at {wrong:?}: {:?}", wrong.map(around));
        assert!((sent.acknowledged..=sent.tried).contains(&numbers.len()), "{key}: {} of {sent:?}", numbers.len());
    }
    assert!(numbers.is_empty(), "never sent: {numbers:?}");
    assert_eq!(in_topic, count, "the topic holds what the stream does");
}
