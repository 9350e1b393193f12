//! Readers of every kind beside a slow disk, while the program is killed again and again: who resumes where it stood
//! sees each acknowledged event at least once, and no offset ever shows two things to anybody.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Client;
use super::process::{PRELOADED, Process};

/// How often the program is killed.
const ROUNDS: usize = 6;
/// A guard against hanging, no measurement.
const PATIENCE: Duration = Duration::from_secs(60);

/// A disk that takes its time: each promise that what was written is there comes 10 to 60 ms later.
const SLOW_DISK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
static int late(const char *name, int fd) {
    struct timespec rest = {0, (10 + rand() % 50) * 1000000L};
    nanosleep(&rest, 0);
    return ((int (*)(int)) dlsym(RTLD_NEXT, name))(fd);
}
int fdatasync(int fd) { return late("fdatasync", fd); }
int fsync(int fd) { return late("fsync", fd); }
"#;

/// Compiles it beside the program's settings, where the program finds it at its next start.
fn slow_down(directory: &Path) {
    let source = directory.join("slow.c");
    fs::write(&source, SLOW_DISK).expect("a file");
    let library = directory.join(PRELOADED);
    let compiled =
        Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).args([&library, &source]).arg("-ldl").status();
    assert!(compiled.expect("a C compiler").success());
}

/// The number that an event is known by, at its offset.
type Seen = BTreeMap<u64, u64>;

/// What each kind of reader saw so far, and where it goes on.
#[derive(Default)]
struct Reader {
    next: u64,
    seen: Seen,
}

impl Reader {
    /// Takes an event: at this offset there was nothing else before.
    fn take(&mut self, kind: &str, offset: u64, number: u64) {
        let before = self.seen.insert(offset, number);
        assert!(before.is_none_or(|before| before == number), "{kind}: {before:?} and {number} at {offset}");
        self.next = self.next.max(offset + 1);
    }

    fn take_all(&mut self, kind: &str, events: &Value) {
        for event in events.as_array().into_iter().flatten() {
            let number = event["value"]["number"].as_u64().expect("a number");
            self.take(kind, event["offset"].as_u64().expect("an offset"), number);
        }
    }
}

/// One look of a reader; `None` when the connection broke.
type Look = fn(&mut Client, &mut Reader) -> Option<()>;

/// What an answer says, unless there is none or it says that something is not to be had now.
fn said(client: &mut Client, method: &str, target: &str, body: Option<&str>) -> Option<Value> {
    let answer = client.send(method, target, &[], body.map(str::as_bytes)).ok()?;
    let is_good = (200..300).contains(&answer.status);
    assert!(is_good || answer.status == 503, "{target}: {} {}", answer.status, answer.body);
    is_good.then(|| answer.json())
}

fn page(client: &mut Client, reader: &mut Reader) -> Option<()> {
    let page = said(client, "GET", &format!("/api/streams/events/events?from={}&wait=50ms", reader.next), None)?;
    reader.take_all("page", &page["events"]);
    Some(())
}

fn group(client: &mut Client, reader: &mut Reader) -> Option<()> {
    let page = said(client, "GET", "/api/streams/events/groups/g/events?limit=500", None)?;
    reader.take_all("group", &page["events"]);
    let next = page["next"].as_u64().expect("an offset");
    said(client, "POST", "/api/streams/events/groups/g/commit", Some(&json!({ "offset": next }).to_string()))?;
    Some(())
}

fn table(client: &mut Client, reader: &mut Reader) -> Option<()> {
    let text = format!("select _offset, number from events where _offset >= {} order by _offset", reader.next);
    for row in said(client, "POST", "/api/sql", Some(&text))?.as_array()? {
        reader.take("table", row["_offset"].as_u64()?, row["number"].as_u64()?);
    }
    Some(())
}

fn cursor(client: &mut Client, reader: &mut Reader) -> Option<()> {
    let query = "for e in events return e";
    let mut batch =
        said(client, "POST", "/api/cursor", Some(&json!({ "query": query, "batchSize": 200 }).to_string()))?;
    loop {
        for row in batch["result"].as_array()? {
            reader.take("cursor", row["_offset"].as_u64()?, row["number"].as_u64()?);
        }
        if batch["hasMore"] != true {
            return Some(());
        }
        batch = said(client, "POST", &format!("/api/cursor/{}", batch["id"].as_str()?), None)?;
    }
}

/// Follows the stream from where the reader stood until the connection breaks or nothing came for a while.
fn tail(address: &str, reader: &mut Reader) {
    let Ok(mut stream) = TcpStream::connect(address) else { return };
    let _ = stream.set_read_timeout(Some(Duration::from_millis(400)));
    let from = match reader.next {
        0 => "GET /api/streams/events/tail?from=earliest HTTP/1.1\r\n".to_owned(),
        next => format!("GET /api/streams/events/tail HTTP/1.1\r\nlast-event-id: {}\r\n", next - 1),
    };
    let head = format!("{from}host: localhost\r\naccept: application/x-ndjson\r\n\r\n");
    if stream.write_all(head.as_bytes()).is_err() {
        return;
    }
    for line in BufReader::new(stream).lines().map_while(Result::ok).filter(|line| line.starts_with('{')) {
        let Ok(event) = serde_json::from_str::<Value>(&line) else { continue };
        reader.take(
            "tail",
            event["offset"].as_u64().expect("an offset"),
            event["value"]["number"].as_u64().expect("one"),
        );
    }
}

/// Appends numbered events until the connection breaks, and notes which were acknowledged for good.
fn append(address: &str, ack: &str, numbers: &AtomicUsize, acknowledged: &Mutex<Seen>, is_over: &AtomicBool) {
    let mut client = Client::new(address);
    let target = format!("/api/streams/events?ack={ack}");
    while !is_over.load(Ordering::Acquire) {
        let number = numbers.fetch_add(1, Ordering::Relaxed) as u64;
        let Some(answer) = said(&mut client, "POST", &target, Some(&json!({ "number": number }).to_string())) else {
            return;
        };
        if ack == "disk" {
            let offset = answer["first_offset"].as_u64().expect("an offset");
            acknowledged.lock().expect("no writer failed").insert(offset, number);
        }
    }
}

/// Appends one event: its offset.
fn append_one(address: &str, numbers: &AtomicUsize) -> u64 {
    let number = numbers.fetch_add(1, Ordering::Relaxed);
    let body = json!({ "number": number }).to_string();
    let answer = said(&mut Client::new(address), "POST", "/api/streams/events?ack=disk", Some(&body));
    answer.expect("taken")["first_offset"].as_u64().expect("an offset")
}

#[test]
fn who_resumes_sees_all_and_no_offset_shows_two_things() {
    let mut process = Process::start("[[stream]]\nname = \"events\"\n");
    slow_down(process.directory());
    process.restart();
    let looks: [(&str, Look); 4] = [("page", page), ("group", group), ("table", table), ("cursor", cursor)];
    let readers: [Mutex<Reader>; 5] = Default::default();
    let (numbers, acknowledged) = (AtomicUsize::new(0), Mutex::new(Seen::new()));
    // A table without events has no columns of theirs.
    append_one(process.address(), &numbers);
    for round in 0..=ROUNDS {
        let address = process.address().to_owned();
        let is_over = AtomicBool::new(false);
        // In the last round nobody writes but this, and all read to it.
        let end = (round == ROUNDS).then(|| append_one(&address, &numbers));
        let patience = Instant::now() + PATIENCE;
        std::thread::scope(|scope| {
            let (address, is_over, numbers, acknowledged) = (&address, &is_over, &numbers, &acknowledged);
            let goes_on = move |reader: &Reader| match end {
                Some(end) => reader.next <= end && Instant::now() < patience,
                None => !is_over.load(Ordering::Acquire),
            };
            if end.is_none() {
                for ack in ["disk", "disk", "memory"] {
                    scope.spawn(move || append(address, ack, numbers, acknowledged, is_over));
                }
            }
            for ((_, look), reader) in looks.iter().zip(&readers) {
                scope.spawn(move || {
                    let (mut client, mut reader) = (Client::new(address), reader.lock().expect("one reader"));
                    while look(&mut client, &mut reader).is_some() && goes_on(&reader) {}
                });
            }
            let reader = &readers[4];
            scope.spawn(move || {
                let mut reader = reader.lock().expect("one reader");
                tail(address, &mut reader);
                while end.is_some() && goes_on(&reader) {
                    tail(address, &mut reader);
                }
            });
            if end.is_none() {
                std::thread::sleep(Duration::from_millis(300 + 70 * (round as u64 % 4)));
                process.kill();
                is_over.store(true, Ordering::Release);
            }
        });
        if end.is_none() {
            process.restart();
        }
    }
    let acknowledged = acknowledged.into_inner().expect("no writer failed");
    assert!(acknowledged.len() > 20, "only {} events", acknowledged.len());
    let mut all = acknowledged.clone();
    for ((kind, _), reader) in looks.iter().chain(&[("tail", page as Look)]).zip(readers) {
        let seen = reader.into_inner().expect("no reader failed").seen;
        for (offset, number) in &acknowledged {
            assert_eq!(seen.get(offset), Some(number), "{kind}: the event at {offset}");
        }
        for (offset, number) in seen {
            let other = *all.entry(offset).or_insert(number);
            assert_eq!(other, number, "{kind}: offset {offset} shows two things");
        }
    }
}
