//! What a reader has seen is there when the program was killed, at the same offset; what is lost is told; and a stream
//! that can't be opened says why until it can.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client::Client;
use super::doors::Doors;
use super::process::Process;

const STREAM: &str = "[[stream]]\nname = \"events\"\n";

/// Follows the stream until the connection breaks: what it saw, by offset.
fn follow(address: &str) -> BTreeMap<u64, String> {
    let mut seen = BTreeMap::new();
    let Ok(mut stream) = TcpStream::connect(address) else { return seen };
    let _ = stream.set_read_timeout(Some(Duration::from_secs(20)));
    let head =
        "GET /api/streams/events/tail?from=latest HTTP/1.1\r\nhost: localhost\r\naccept: application/x-ndjson\r\n\r\n";
    if stream.write_all(head.as_bytes()).is_err() {
        return seen;
    }
    for line in BufReader::new(stream).lines().map_while(Result::ok).filter(|line| line.starts_with('{')) {
        let Ok(event) = serde_json::from_str::<Value>(&line) else { continue };
        seen.insert(event["offset"].as_u64().expect("an offset"), event["value"].to_string());
    }
    seen
}

/// Appends, whatever it costs, until the connection breaks.
fn append(address: &str, round: usize, writer: usize, is_over: &AtomicBool) {
    let mut client = Client::new(address);
    for n in 0.. {
        let body = format!("{{\"round\":{round},\"writer\":{writer},\"n\":{n}}}");
        let answer = client.send("POST", "/api/streams/events?ack=memory", &[], Some(body.as_bytes()));
        if answer.is_err() || is_over.load(Ordering::Acquire) {
            return;
        }
    }
}

#[test]
fn no_offset_shows_two_things_however_often_the_program_is_killed() {
    let mut process = Process::start(STREAM);
    for round in 0..12 {
        let address = process.address().to_owned();
        let is_over = AtomicBool::new(false);
        let (tails, page) = std::thread::scope(|scope| {
            let tails: Vec<_> = (0..2).map(|_| scope.spawn(|| follow(&address))).collect();
            let is_over = &is_over;
            for writer in 0..3 {
                let address = &address;
                scope.spawn(move || append(address, round, writer, is_over));
            }
            std::thread::sleep(Duration::from_millis(40 + 35 * (round as u64 % 5)));
            // A table and a page, right before the end.
            let rows = process.sql("SELECT max(_offset) AS last, count(*) AS n FROM events");
            let next =
                serde_json::from_str::<Value>(&process.get("/api/streams/events")).expect("JSON")["next"].as_u64();
            process.kill();
            is_over.store(true, Ordering::Release);
            let tails: Vec<_> = tails.into_iter().map(|tail| tail.join().expect("a tail")).collect();
            (tails, (rows[0]["last"].as_u64(), next))
        });
        process.restart();
        let next = serde_json::from_str::<Value>(&process.get("/api/streams/events")).expect("JSON")["next"].as_u64();
        assert!(next > page.0 && next >= page.1, "{next:?} {page:?}");
        for seen in tails {
            let Some((first, _)) = seen.first_key_value() else { continue };
            let (last, _) = seen.last_key_value().expect("one");
            assert!(Some(*last) < next, "offset {last} was seen, and is given away again: {next:?}");
            let mut from = *first;
            while from <= *last {
                let page: Value =
                    serde_json::from_str(&process.get(&format!("/api/streams/events/events?from={from}&limit=10000")))
                        .expect("JSON");
                for event in page["events"].as_array().expect("events") {
                    let offset = event["offset"].as_u64().expect("an offset");
                    if let Some(value) = seen.get(&offset) {
                        assert_eq!(*value, event["value"].to_string(), "offset {offset}");
                    }
                }
                from = page["next"].as_u64().expect("an offset");
            }
        }
    }
}

#[test]
fn what_a_truncated_file_lost_is_told_and_what_comes_is_seen() {
    let mut doors = Doors::open(STREAM);
    for n in 0..10 {
        doors.post("/api/streams/events", &[], format!("{{\"n\":{n}}}"));
    }
    let body = r#"{"offset":8}"#;
    assert_eq!(doors.post("/api/streams/events/groups/g/commit", &[], body).status, 200);
    doors.process.kill();
    let path = doors.process.directory().join("salver-data/streams/events/00000000000000000000.log");
    let bytes = std::fs::read(&path).expect("the log");
    // Frames of one event each; zeros behind them.
    let frame = 56 + 2 + "{\"n\":0}".len();
    std::fs::write(&path, &bytes[..frame * 5]).expect("written");
    doors.process.restart();
    let address = doors.process.address().to_owned();
    let mut client = Client::new(&address);
    let answer = client.send("POST", "/api/streams/events", &[], Some(b"{\"n\":\"new\"}")).expect("an answer");
    // The group had read up to 8.
    assert_eq!(answer.json()["first_offset"], 8, "{}", answer.body);
    let page = client.send("GET", "/api/streams/events/groups/g/events", &[], None).expect("an answer").json();
    assert_eq!((&page["events"][0]["offset"], &page["events"][0]["value"]["n"]), (&8.into(), &"new".into()), "{page}");
    let lost = client.send("GET", "/api/streams/events/events?from=6", &[], None).expect("an answer");
    assert!(lost.status >= 500 && lost.body.contains("offset 8"), "{}", lost.body);
    let mut talk = doors.begin("GET /api/streams/events/tail?limit=1 HTTP/1.1\r\nlast-event-id: 5");
    talk.head();
    let text = talk.until("new");
    assert!(text.contains("event: missing\nid: 7\ndata: {\"from\":6,\"to\":7}\n\nid: 8\n"), "{text}");
    let rows = doors.process.sql("SELECT count(*) AS n, count(n) AS m FROM events");
    assert_eq!((&rows[0]["n"], &rows[0]["m"]), (&6.into(), &6.into()));
}

#[test]
fn a_stream_that_can_not_be_opened_says_why_and_opens_when_it_can() {
    let place = tempfile::tempdir().expect("a directory");
    let settings = format!("[[stream]]\nname = \"events\"\ndir = \"{}\"\n", place.path().join("log").display());
    let mut first = Process::start(&settings);
    assert_eq!(first.send("POST", "/api/streams/events", Some("{\"n\":1}")).status, 200);
    let broken = "[[stream]]\nname = \"broken\"\nschema = '{\"type\":7}'\n";
    let second = Process::started(&format!("{settings}{broken}"));
    for (method, target, body) in [
        ("POST", "/api/streams/events", Some("{}")),
        ("POST", "/v0/events?name=events", Some("{}")),
        ("GET", "/api/streams/events", None),
        ("GET", "/api/streams/events/tail", None),
        ("GET", "/api/streams/events/events", None),
        ("GET", "/api/streams/events/groups/g", None),
        ("GET", "/topics/events", None),
    ] {
        let answer = second.send(method, target, body);
        assert!(answer.status == 503 && answer.body.contains("in use by another process"), "{target}: {answer:?}");
    }
    let answer = second.send("POST", "/api/streams/broken", Some("{}"));
    assert!(answer.status == 503 && answer.body.contains("JSON Schema"), "{answer:?}");
    assert_eq!(second.send("POST", "/api/streams/nothing", Some("{}")).status, 404);
    let listed = second.send("GET", "/api/streams", None).json();
    assert!(listed["streams"][0]["unavailable"].is_string(), "{listed}");
    first.kill();
    let patience = Instant::now() + Duration::from_secs(30);
    while second.send("POST", "/api/streams/events", Some("{\"n\":2}")).status != 200 {
        assert!(Instant::now() < patience, "the second server does not take over");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(second.sql("SELECT n FROM events ORDER BY _offset").len(), 2);
}
