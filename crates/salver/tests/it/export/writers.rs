//! What an export reads stays the same, byte for byte, while eight writers change what is behind it. Tables of
//! databases have the same test beside their snapshots.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use salver_formats::Format;
use serde_json::{Value, json};

use super::rows::{file, lines};
use crate::it::server::Server;

const WRITERS: u64 = 8;
const COUNT: i64 = 5_000;

/// An export of `entry` and where its streams are.
fn open(server: &Server, entry: &str) -> Vec<String> {
    let answer = server.post_json("/api/export", &json!({ "entry": entry, "streams": 3 }).to_string());
    assert_eq!(answer.status, 201, "{}", answer.text());
    let export: Value = answer.json();
    let streams = export["streams"].as_array().expect("streams").iter();
    streams.map(|stream| stream["url"].as_str().expect("a place").to_owned()).collect()
}

/// The bytes of all streams: each in one body, then batch by batch.
fn read(server: &Server, urls: &[String]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for url in urls {
        let whole = server.get(&format!("{url}?offset=0"));
        assert_eq!(whole.status, 200, "{}", whole.text());
        bytes.extend(whole.body);
        let mut next = Some("0".to_owned());
        while let Some(offset) = next {
            let batch = server.get(&format!("{url}?offset={offset}&rows=700"));
            assert_eq!(batch.status, 200, "{}", batch.text());
            next = batch.header("salver-next").map(str::to_owned);
            bytes.extend(batch.body);
        }
    }
    bytes
}

/// Ends the writers, whatever becomes of the test.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Reads the export `urls` while eight writers `write`, each told its number and its turn, until `is_enough`.
fn unchanged(server: &Server, urls: &[String], write: impl Fn(u64, u64) + Sync, is_enough: impl Fn() -> bool) {
    let before = read(server, urls);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _over = Over(&is_over);
        for writer in 0..WRITERS {
            let (write, is_over) = (&write, &is_over);
            scope.spawn(move || {
                (0..).take_while(|_| !is_over.load(Ordering::Acquire)).for_each(|turn| write(writer, turn))
            });
        }
        server.until(|server| {
            assert!(read(server, urls) == before, "other bytes");
            is_enough()
        });
    });
    assert!(read(server, urls) == before, "other bytes when all was written");
}

#[test]
fn events_that_come_meanwhile() {
    // Files of the log fill up meanwhile, and get their Parquet.
    let toml = "[server]\ndata_dir = \"data\"\n[[stream]]\nname = \"events\"\nsegment_bytes = \"64KiB\"\n";
    let server = Server::with(toml, &[]);
    let send = |numbers: std::ops::Range<i64>| {
        let sent = server.post("/api/streams/events", &lines(numbers));
        assert_eq!(sent.status, 200, "{}", sent.text());
    };
    send(0..COUNT);
    let urls = open(&server, "events");
    let appends: [AtomicU64; WRITERS as usize] = Default::default();
    let write = |writer: u64, turn: u64| {
        let first = COUNT + (turn * WRITERS + writer) as i64 * 50;
        send(first..first + 50);
        appends[writer as usize].fetch_add(1, Ordering::Release);
    };
    unchanged(&server, &urls, write, || appends.iter().all(|count| count.load(Ordering::Acquire) >= 20));
    let appended: u64 = appends.iter().map(|count| count.load(Ordering::Acquire)).sum();
    let rows = (COUNT as u64 + appended * 50).to_string();
    assert_eq!(server.get("/api/export/events").header("salver-rows"), Some(rows.as_str()));
}

#[test]
fn files_that_are_replaced_and_loaded_again() {
    for memory in ["always", "never"] {
        let toml =
            format!("[[dataset]]\nname = \"a\"\nsource = \"a.parquet\"\nmemory = \"{memory}\"\nrefresh = \"1s\"\n");
        let server = Server::with(&toml, &[("a.parquet", &file(0..COUNT, Format::Parquet))]);
        let urls = open(&server, "a");
        // A file that is scanned where it lies is mostly another than the one that was loaded: new exports are refused.
        let version = || server.get("/ready").json()["entries"]["a"]["version"].clone();
        let (last, loads) = (std::cell::RefCell::new(version()), std::cell::Cell::new(0));
        let write = |writer: u64, turn: u64| {
            let new = server.file(&format!("new-{writer}"));
            let first = ((turn * WRITERS + writer) % 50) as i64;
            std::fs::write(&new, file(first..first + 1_000, Format::Parquet)).expect("a file");
            std::fs::rename(&new, server.file("a.parquet")).expect("a place");
        };
        unchanged(&server, &urls, write, || {
            let now = version();
            if last.replace(now.clone()) != now {
                loads.set(loads.get() + 1);
            }
            loads.get() >= 3
        });
    }
}
