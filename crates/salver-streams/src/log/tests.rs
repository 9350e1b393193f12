//! Tests of the log on real files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::frame::{Frame, FrameBuilder, SealedFrame};
use super::{Log, LogOptions};

mod basics;
mod damage;
mod faults;
mod following;
mod killed;
mod measure;
mod retention;

/// Injected failures, for one log.
#[derive(Debug, Default)]
pub(super) struct Faults {
    writes: AtomicU32,
    syncs: AtomicU32,
}

impl Faults {
    pub(super) fn write(&self) -> io::Result<()> {
        fail(&self.writes)
    }

    pub(super) fn fail_syncs(&self, count: u32) {
        self.syncs.store(count, Ordering::SeqCst);
    }

    pub(super) fn syncs_to_fail(&self) -> u32 {
        self.syncs.load(Ordering::SeqCst)
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        fail(&self.syncs)
    }
}

fn fail(count: &AtomicU32) -> io::Result<()> {
    let failed = count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
    if failed.is_ok() { Err(io::Error::other("the disk is ill")) } else { Ok(()) }
}

/// Returns a directory for a log.
struct Fixture {
    dir: TempDir,
    segment_bytes: u64,
}

impl Fixture {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap(), segment_bytes: 1 << 20 }
    }

    fn small() -> Self {
        Self { segment_bytes: 4_096, ..Self::new() }
    }

    fn options(&self) -> LogOptions {
        LogOptions {
            dir: self.dir.path().join("log"),
            segment_bytes: self.segment_bytes,
            retain: None,
            retain_bytes: None,
            refuse_bytes: None,
            has_listener: false,
        }
    }

    fn open(&self) -> Arc<Log> {
        Log::open(self.options()).unwrap()
    }

    fn path(&self) -> PathBuf {
        self.options().dir
    }

    /// Copies the log in the state in which a crash would leave it now.
    fn killed(&self) -> Self {
        let copy = Self { segment_bytes: self.segment_bytes, ..Self::new() };
        copy_dir(&self.path(), &copy.path());
        copy
    }

    fn files(&self, ending: &str) -> Vec<PathBuf> {
        files(&self.path(), ending)
    }
}

fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|own| own == ending)).collect();
    files.sort();
    files
}

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match fs::copy(entry.path(), to.join(entry.file_name())) {
            // Retired segments are deleted concurrently.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            copied => assert!(copied.is_ok(), "{copied:?}"),
        }
    }
}

/// Returns a frame of records `first`, `first + 1`, ... as text.
fn frame(first: u64, count: u64, time_ms: i64) -> SealedFrame {
    let mut builder = FrameBuilder::new(time_ms, 0);
    for n in first..first + count {
        builder.push_plain(value(n).as_bytes());
    }
    builder.seal()
}

fn value(n: u64) -> String {
    format!(r#"{{"n":"{n:08}","text":"some more text"}}"#)
}

/// Appends a record with its own offset as text, which must be the offset it gets.
fn put(log: &Log, count: u64) -> u64 {
    let next = log.ends().next;
    assert_eq!(log.append(frame(next, count, 1_000 + next as i64)).unwrap().first, next);
    next + count
}

async fn put_safely(log: &Log, count: u64) {
    let end = put(log, count);
    log.durable(end).await.unwrap();
}

/// Reads everything from `from` to the end, and checks that each record has its own offset.
fn check(log: &Log, from: u64) {
    let mut next = from;
    let mut last_id = 0;
    while next < log.ends().next {
        let frames = log.read(next, 1_000).unwrap();
        assert!(!frames.is_empty(), "nothing at {next}");
        next = check_frames(&frames, next, &mut last_id);
    }
    assert_eq!(next, log.ends().next);
}

fn check_frames(frames: &[Frame], from: u64, last_id: &mut u128) -> u64 {
    let mut next = from;
    for record in frames.iter().flat_map(Frame::records) {
        if record.offset < from {
            continue;
        }
        assert_eq!((record.offset, record.record.value), (next, value(next).as_bytes()));
        assert!(record.made_id > *last_id);
        *last_id = record.made_id;
        next += 1;
    }
    next
}

/// Waits for a condition, as long as a slow machine may need.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
