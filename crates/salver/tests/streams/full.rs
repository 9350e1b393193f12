//! A disk that is full while clients send events: what was acknowledged is there, what is not taken is said to be so,
//! and once there is room again everything goes on.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::client::Client;
use super::process::Process;

const WRITERS: usize = 4;
/// A file system of this size is mounted, and at first this much of it is not the log's.
const DISK_MIB: usize = 12;
const BALLAST_MIB: usize = 6;
/// How often a client is refused before it gives up.
const REFUSALS: usize = 20;

/// A small file system of its own, where that may be made.
struct Disk<'a>(&'a Path);

impl<'a> Disk<'a> {
    fn mount(at: &'a Path) -> Option<Self> {
        let size = format!("size={DISK_MIB}m");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).output();
        mount.is_ok_and(|output| output.status.success()).then_some(Self(at))
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).output();
    }
}

/// What the clients know.
#[derive(Default)]
struct Known {
    /// By writer, how many of its events were acknowledged, one after the other.
    acknowledged: [AtomicUsize; WRITERS],
    refused: AtomicUsize,
    has_room: AtomicBool,
}

/// An event of writer `writer`, of about a kilobyte.
fn event(writer: usize, n: usize) -> String {
    format!("{{\"key\":\"w{writer}\",\"n\":{n},\"text\":\"{}\"}}", "x".repeat(1_000))
}

/// Sends events one after the other, each again under its id until it is acknowledged: at first until the disk is full,
/// and then some more when there is room.
fn write(address: &str, writer: usize, known: &Known) {
    let mut client = Client::new(address);
    let (mut n, mut refused, mut more) = (0, 0, 0);
    let patience = Instant::now() + Duration::from_secs(120);
    while more < 200 {
        assert!(Instant::now() < patience, "writer {writer} stands at event {n}");
        let id = format!("w{writer}-{n}");
        let body = event(writer, n);
        let headers = [("salver-id", id.as_str())];
        let answer = client.send("POST", "/api/streams/events?ack=disk", &headers, Some(body.as_bytes()));
        let answer = answer.expect("an answer");
        let has_room = known.has_room.load(Ordering::SeqCst);
        if answer.status == 200 {
            n += 1;
            known.acknowledged[writer].store(n, Ordering::SeqCst);
            more += usize::from(has_room);
            continue;
        }
        assert_eq!(answer.status, 503, "{}", answer.body);
        assert!(answer.header("retry-after").is_some(), "{:?}", answer.headers);
        let said = answer.json();
        assert_eq!(said["error"], "stream_unavailable", "{said}");
        assert!(said["message"].as_str().is_some_and(|text| text.contains("the disk is full")), "{said}");
        assert!(said["hint"].as_str().is_some_and(|text| text.contains("free some space")), "{said}");
        refused += 1;
        if refused == REFUSALS {
            known.refused.fetch_add(1, Ordering::SeqCst);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Each acknowledged event is there once and in order, and nothing that was never sent.
fn check(process: &Process, known: &Known) {
    let rows = process.sql("SELECT key, n FROM events ORDER BY _offset");
    let mut next = [0; WRITERS];
    for row in &rows {
        let writer =
            row["key"].as_str().and_then(|key| key.strip_prefix('w')?.parse::<usize>().ok()).expect("a writer");
        assert_eq!(row["n"], next[writer], "{row}");
        next[writer] += 1;
    }
    for (writer, (found, acknowledged)) in next.into_iter().zip(&known.acknowledged).enumerate() {
        let acknowledged = acknowledged.load(Ordering::SeqCst);
        // One more may be taken than was answered.
        assert!((acknowledged..=acknowledged + 1).contains(&found), "w{writer}: {found} of {acknowledged}");
    }
    let offsets: BTreeSet<u64> = process
        .sql("SELECT _offset FROM events")
        .iter()
        .map(|row| row["_offset"].as_u64().expect("an offset"))
        .collect();
    assert_eq!(offsets.len(), rows.len());
}

#[test]
#[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
fn a_full_disk_refuses_and_loses_nothing() {
    let place = tempfile::tempdir().expect("a directory");
    let Some(disk) = Disk::mount(place.path()) else {
        eprintln!("a_full_disk_refuses_and_loses_nothing: nothing is tested, because a tmpfs can't be mounted here");
        return;
    };
    let ballast = place.path().join("ballast");
    std::fs::write(&ballast, vec![1; BALLAST_MIB << 20]).expect("a file");
    let mut process = Process::start(&format!(
        "[[stream]]\nname = \"events\"\nkey = \"$.key\"\nsegment_bytes = \"1MiB\"\ndir = \"{}\"\n",
        place.path().join("log").display()
    ));
    let (known, address) = (Known::default(), process.address().to_owned());
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (known, address) = (&known, &address);
            scope.spawn(move || write(address, writer, known));
        }
        let patience = Instant::now() + Duration::from_secs(120);
        while known.refused.load(Ordering::SeqCst) < WRITERS && Instant::now() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
        // Reading goes on meanwhile.
        check_count(&process, &known);
        std::fs::remove_file(&ballast).expect("removed");
        known.has_room.store(true, Ordering::SeqCst);
    });
    assert_eq!(known.refused.load(Ordering::SeqCst), WRITERS);
    check(&process, &known);
    process.restart();
    check(&process, &known);
    drop(process);
    drop(disk);
}

/// At least what was acknowledged is there, while the disk is full.
fn check_count(process: &Process, known: &Known) {
    let acknowledged: usize = known.acknowledged.iter().map(|count| count.load(Ordering::SeqCst)).sum();
    let found = process.sql("SELECT count(*) AS n FROM events")[0]["n"].as_u64().expect("a count");
    assert!(acknowledged > 1_000 && found >= acknowledged as u64, "{found} of {acknowledged}");
}
